//! What a consumer must have printed.

#![allow(unreachable_pub)]

use std::collections::BTreeMap;
use std::path::Path;

use crate::process::{Runtime, Said};

/// A built consumer.
pub struct Consumer<'a> {
    pub library: &'a Path,
    /// The object that its call of `hipMalloc` enters; `None` if it does not tell.
    pub enters: Option<&'a str>,
    /// Whether it says what hiplazy bound.
    pub tells_binding: bool,
    /// Whether it was compiled with HIP's headers, so that their version is known.
    pub has_headers: bool,
}

impl Consumer<'_> {
    pub fn file(&self) -> &str {
        self.library.file_name().unwrap().to_str().unwrap()
    }
}

type Part<'a> = BTreeMap<&'a str, Vec<&'a str>>;

#[track_caller]
fn is(part: &Part, name: &str, value: &str) {
    assert_eq!(
        part.get(name).map(Vec::as_slice),
        Some(&[value][..]),
        "{name} in {part:#?}"
    );
}

/// The `index`-th time that a consumer of `source/` or its like in Rust did its work.
#[track_caller]
pub fn worked(
    consumer: &Consumer,
    runtime: Runtime,
    library: Option<&Path>,
    said: &Said,
    index: usize,
) {
    let part = said.part(consumer.file(), index);
    if let Some(enters) = consumer.enters {
        is(&part, "hipMalloc enters", enters);
    }
    if consumer.tells_binding {
        bound(consumer, runtime, library, &part);
    }
    let (version, devices) = match runtime {
        Runtime::Headless => (
            "0 (303 hipErrorSharedObjectInitFailed)",
            "0 (100 hipErrorNoDevice)",
        ),
        Runtime::Real7 => ("71460850 (0 hipSuccess)", "0 (100 hipErrorNoDevice)"),
        Runtime::Fake6 => ("60443484 (0 hipSuccess)", "1 (0 hipSuccess)"),
        Runtime::Fake7 => ("71460850 (0 hipSuccess)", "1 (0 hipSuccess)"),
    };
    is(&part, "runtime", version);
    // A real runtime on a machine with a GPU counts what there is.
    if runtime != Runtime::Real7 || part["devices"][0].starts_with("0 ") {
        is(&part, "devices", devices);
    }
    if matches!(runtime, Runtime::Fake6 | Runtime::Fake7) {
        let properties = part["properties"][0];
        let right = "fakehip device 0, warp size 64, 304 compute units";
        assert!(properties.starts_with(right), "{properties}");
        assert!(
            !properties.contains("bytes") || properties.ends_with(" 0 bytes behind them touched"),
            "{properties}"
        );
        is(&part, "memory", "came back");
        assert!(
            consumer.enters.is_none() || part["launch"] == ["done"],
            "{part:#?}"
        );
    }
    // Some header sets do not have these.
    for (name, headless, fake) in [
        (
            "hiprtc",
            "11 HIPRTC_ERROR_INTERNAL_ERROR",
            "0 HIPRTC_SUCCESS, code",
        ),
        ("hsa", "0x1000", "0x0"),
    ] {
        if !part.contains_key(name) {
            continue;
        }
        match runtime {
            Runtime::Headless => is(&part, name, headless),
            Runtime::Fake6 | Runtime::Fake7 => is(&part, name, fake),
            // The real one's answer depends on the machine, and is not ours.
            Runtime::Real7 => assert_ne!(part[name], [headless]),
        }
    }
}

#[track_caller]
fn bound(consumer: &Consumer, runtime: Runtime, library: Option<&Path>, part: &Part) {
    let headers = match consumer.has_headers {
        true => part["compiled with"][0],
        false => "0",
    };
    let expected = match (runtime, library) {
        (Runtime::Headless, _) | (_, None) => {
            format!("303, version 0, headers {headers}, R0600 no, no runtime")
        }
        (_, Some(path)) => format!(
            "0, version {}, headers {headers}, R0600 yes, {}",
            runtime.version(),
            path.display()
        ),
    };
    is(part, "bound", &expected);
    assert_eq!(part.contains_key("because"), runtime == Runtime::Headless);
    if runtime == Runtime::Headless {
        let why = part["because"][0];
        assert!(why.contains("no HIP runtime (libamdhip64)"), "{why}");
    }
}

/// At the end: one runtime or none, and no name of HIP's in the global scope.
#[track_caller]
pub fn process_is_clean(library: Option<&Path>, said: &Said) {
    let part = said.part("process", 0);
    for name in ["hipMalloc", "hiprtcCompileProgram", "hsa_init"] {
        is(&part, &format!("global {name}"), "nobody");
    }
    let mapped = part.get("mapped").cloned().unwrap_or_default();
    let expected: Vec<&str> = library.iter().filter_map(|path| path.to_str()).collect();
    assert_eq!(mapped, expected);
}
