//! The C sources, carried inside the crate so that a built binary needs no checkout.

/// The controls' header, `fakehip.h`.
pub const HEADER: &str = include_str!("../include/fakehip.h");

/// Which libraries a source file is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Recording, controls, heap: in `libamdhip64` and `libhiprtc`.
    Core,
    /// HIP functions: in `libamdhip64`.
    Hip,
    /// HIP functions that know the layouts of their version, and so are compiled
    /// for each: in `libamdhip64`.
    Versioned,
    /// hiprtc functions: in `libhiprtc`, and in `libamdhip64` up to HIP 6.
    Rtc,
    /// The HSA functions: in `libhsa-runtime64`.
    Hsa,
}

pub(crate) struct Source {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
    /// `None` for headers.
    pub(crate) part: Option<Part>,
}

macro_rules! sources {
    ($($part:expr => $($name:literal),+;)+) => {
        &[$($(Source {
            name: $name,
            text: include_str!(concat!("../c/", $name)),
            part: $part,
        },)+)+]
    };
}

pub(crate) const SOURCES: &[Source] = sources![
    None => "abi.h", "attribute_fields.h", "call.h", "environment.h", "error_table.h", "forced.h",
        "given.h", "heap.h", "launch_record.h", "layouts.h", "log.h", "memory.h", "module.h", "properties.h",
        "properties_fields.h", "registered.h", "rtc_source.h", "state.h", "stream.h", "text.h";
    Some(Part::Core) => "call.c", "control.c", "environment.c", "errors.c", "forced.c", "given.c",
        "heap.c",
        "launch_record.c", "log.c", "state.c";
    Some(Part::Hip) => "by_value.c", "context.c", "copy.c", "device.c", "event.c", "last_error.c",
        "launch.c", "library.c", "memory.c", "memory_hint.c", "module.c", "module_api.c",
        "module_text.c", "pointer.c", "proc_address.c", "properties.c", "registered.c", "stream.c";
    Some(Part::Versioned) => "copy_struct.c", "external.c", "graph_node.c", "limit.c",
        "virtual_memory.c";
    Some(Part::Rtc) => "rtc.c", "rtc_source.c", "text.c";
    Some(Part::Hsa) => "hsa.c";
];

/// Files whose functions callers may measure.
pub(crate) const HOT: &[&str] = &[
    "device.c",
    "heap.c",
    "last_error.c",
    "launch.c",
    "memory.c",
    "pointer.c",
    "state.c",
];

/// The macros that define functions (see `call.h`), with the position of the
/// function's name among their arguments.
const DEFINITIONS: &[(&str, usize)] = &[
    ("HIP(", 0),
    ("HIP_HOT(", 0),
    ("HIP_QUICK(", 0),
    ("HIP_SPT(", 0),
    ("HIP_ALIAS(", 0),
    ("HIP_ALWAYS(", 0),
    ("HIP_NO_ARGS(", 0),
    ("HIP_LAST_ERROR(", 0),
    ("RTC(", 0),
    ("VALUE(", 1),
    ("VOID(", 0),
];

/// The functions that a part defines with real semantics.
pub(crate) fn modelled(part: Part) -> impl Iterator<Item = String> {
    SOURCES
        .iter()
        .filter(move |source| source.part == Some(part))
        .flat_map(|source| source.text.lines())
        .filter_map(|line| {
            let &(definition, position) = DEFINITIONS
                .iter()
                .find(|(definition, _)| line.starts_with(definition))?;
            let name = line[definition.len()..]
                .split([',', ')'])
                .nth(position)
                .unwrap_or_default()
                .trim()
                .to_owned();
            let spt = (definition == "HIP_SPT(").then(|| format!("{name}_spt"));
            Some(std::iter::once(name).chain(spt))
        })
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::fs;

    #[test]
    fn every_file_of_the_folder_is_carried() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/c");
        let present: HashSet<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".c") || name.ends_with(".h"))
            .collect();
        let carried: HashSet<String> = SOURCES.iter().map(|s| s.name.to_owned()).collect();
        assert_eq!(present, carried);
    }

    #[test]
    fn definitions_are_found_in_every_form() {
        let hip: Vec<String> = modelled(Part::Hip).collect();
        for name in [
            "hipMalloc",
            "hipMemcpy_spt",
            "hipGetDeviceProperties",
            "hipRuntimeGetVersion",
            "hipDeviceSynchronize",
            "hipGetLastError",
            "hipGetErrorName",
            "__hipRegisterFatBinary",
            "__hipRegisterVar",
        ] {
            assert!(hip.iter().any(|found| found == name), "{name}");
        }
        let unique: HashSet<&String> = hip.iter().collect();
        assert_eq!(unique.len(), hip.len());
    }
}
