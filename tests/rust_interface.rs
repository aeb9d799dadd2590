//! The Rust side: `hiplazy::sys` and the control functions, in processes of their own
//! on fake runtimes and on none.

mod common;

use std::env;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::OnceLock;

use common::{fenced, run};
use hiplazy::sys::*;

/// Fake runtimes of all majors, in one folder.
fn fakes() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = common::scratch("rust-interface");
        fakehip::build_all(&folder).unwrap();
        folder
    })
}

/// Runs the test `name` of this program again as a child, in which [`is_child`].
fn child(name: &str, variables: &[(&str, &str)]) -> String {
    let mut command = fenced(&env::current_exe().unwrap(), &[fakes()]);
    command.args(["--exact", name, "--nocapture", "--test-threads=1"]);
    command
        .env("HIPLAZY_TEST_CHILD", "1")
        .envs(variables.iter().copied());
    run(&mut command)
}

fn is_child() -> bool {
    env::var_os("HIPLAZY_TEST_CHILD").is_some()
}

fn last_error() -> String {
    hiplazy::last_error(str::to_string)
}

#[test]
fn typed_calls_reach_the_runtime() {
    if !is_child() {
        let runtime = fakes().join("libamdhip64.so.7");
        let runtime = runtime.to_str().unwrap();
        child(
            "typed_calls_reach_the_runtime",
            &[("HIPLAZY_RUNTIME", runtime), ("FAKEHIP_DEVICES", "3")],
        );
        return;
    }
    assert_eq!(hiplazy::runtime_path(), None);
    assert_eq!(hiplazy::runtime_version(), 0);
    // SAFETY: every pointer is to a live variable, and device 2 exists.
    unsafe {
        let mut count = -1;
        assert_eq!(hipGetDeviceCount(&mut count), hipSuccess);
        assert_eq!(count, 3);

        let mut properties = hipDeviceProp_tR0600::default();
        assert_eq!(hipGetDevicePropertiesR0600(&mut properties, 2), hipSuccess);
        assert_eq!(properties.warpSize, 64);
        assert_eq!(properties.multiProcessorCount, 306);
        // The fake's rule: (device + 1) * 1000000 + offset of the field.
        assert_eq!(properties.memoryBusWidth, 3_000_612);
        let name = std::ffi::CStr::from_ptr(properties.name.as_ptr());
        assert_eq!(name, c"fakehip device 2");

        let text = [7u8; 100];
        let mut back = [0u8; 100];
        let mut memory = ptr::null_mut();
        assert_eq!(hipMalloc(&mut memory, text.len()), hipSuccess);
        let to = hipMemcpy(
            memory,
            text.as_ptr().cast(),
            text.len(),
            hipMemcpyHostToDevice,
        );
        assert_eq!(to, hipSuccess);
        let from = hipMemcpy(
            back.as_mut_ptr().cast(),
            memory,
            back.len(),
            hipMemcpyDeviceToHost,
        );
        assert_eq!(from, hipSuccess);
        assert_eq!(text, back);
        assert_eq!(hipFree(memory), hipSuccess);

        let invalid = hipGetDevicePropertiesR0600(&mut properties, 3);
        assert_eq!(invalid, hipErrorInvalidDevice);
        let mut major = 0;
        assert_eq!(
            hiprtcVersion(&mut major, ptr::null_mut()),
            HIPRTC_ERROR_INVALID_INPUT
        );
    }
    let path = hiplazy::runtime_path().unwrap().to_str().unwrap();
    assert!(path.ends_with("/libamdhip64.so.7"), "{path}");
    assert_eq!(hiplazy::runtime_version(), 71_460_850);
}

#[test]
fn control_functions_tell_of_the_runtime() {
    if !is_child() {
        let runtime = fakes().join("libamdhip64.so.5");
        let runtime = runtime.to_str().unwrap();
        child(
            "control_functions_tell_of_the_runtime",
            &[("HIPLAZY_RUNTIME", runtime)],
        );
        return;
    }
    assert_eq!(hiplazy::load(), Ok(()));
    assert!(hiplazy::has(c"hipMalloc"));
    assert!(!hiplazy::has(c"hipGetDevicePropertiesR0600"));
    assert!(!hiplazy::has(c"hipNoSuchFunction"));
    // A name that hiplazy does not know and the runtime has.
    assert!(hiplazy::symbol(c"fakehip_device_count").is_some());
    assert_eq!(last_error(), "");
    // SAFETY: no arguments.
    let status = unsafe { hipExtGetLastError() };
    assert_eq!(status, hipErrorSharedObjectSymbolNotFound);
    let text = last_error();
    for part in [
        "hipExtGetLastError",
        "libamdhip64.so.5",
        "HIP 5.7.31921",
        "hip_6.0",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!hiplazy::version().is_empty());
}

/// The types of `hiplazy::sys` are HIP 7's, and so are the numbers in them, also on a
/// runtime that has others and lacks the name. Nobody has said a header version.
#[test]
fn typed_calls_have_the_numbers_of_their_types_on_an_older_runtime() {
    if !is_child() {
        let runtime = fakes().join("libamdhip64.so.5");
        let runtime = runtime.to_str().unwrap();
        child(
            "typed_calls_have_the_numbers_of_their_types_on_an_older_runtime",
            &[("HIPLAZY_RUNTIME", runtime)],
        );
        return;
    }
    // SAFETY: every pointer is to a live variable, and there is a device.
    unsafe {
        let mut memory = ptr::null_mut();
        assert_eq!(hipMalloc(&mut memory, 64), hipSuccess);
        let mut attributes: hipPointerAttribute_t = std::mem::zeroed();
        let status = hipPointerGetAttributes(&mut attributes, memory);
        assert_eq!(status, hipSuccess, "{}", last_error());
        assert_eq!(attributes.type_, hipMemoryTypeDevice);
        assert_eq!(attributes.type_.0, 2);
        assert_eq!(attributes.devicePointer, memory);
        assert_eq!(hipFree(memory), hipSuccess);

        let mut properties = hipDeviceProp_tR0600 {
            memoryPoolsSupported: 12345,
            ..Default::default()
        };
        let status = hipGetDevicePropertiesR0600(&mut properties, 0);
        assert_eq!(status, hipSuccess, "{}", last_error());
        assert_eq!(properties.warpSize, 64);
        assert_eq!(properties.memoryPoolsSupported, 0);
    }
    assert_eq!(hiplazy::header_version(), 0);
    assert_eq!(hiplazy::runtime_version(), 50_731_921);
}

#[test]
fn without_a_runtime_loading_is_an_error_with_its_reasons() {
    if !is_child() {
        let name = "without_a_runtime_loading_is_an_error_with_its_reasons";
        let mut command = fenced(&env::current_exe().unwrap(), &[]);
        command
            .args(["--exact", name, "--nocapture"])
            .env("HIPLAZY_TEST_CHILD", "1");
        run(&mut command);
        return;
    }
    let error = hiplazy::load().unwrap_err();
    assert_eq!(error.code(), 303);
    assert_eq!(error.to_string(), "hipErrorSharedObjectInitFailed");
    assert!(
        last_error().contains("ld.so: libamdhip64.so.7:"),
        "{}",
        last_error()
    );
    assert!(!hiplazy::has(c"hipMalloc"));
    // SAFETY: a stream that nobody looks at; an error code.
    unsafe {
        assert_eq!(
            hipStreamSynchronize(ptr::null_mut()),
            hipErrorSharedObjectInitFailed
        );
        assert_eq!(hipGetLastError(), hipErrorSharedObjectInitFailed);
        assert_eq!(hipGetLastError(), hipSuccess);
        let text = std::ffi::CStr::from_ptr(hipGetErrorString(hipErrorOutOfMemory));
        assert_eq!(text, c"out of memory");
        let channel = hipCreateChannelDesc(8, 8, 8, 8, hipChannelFormatKindFloat);
        assert_eq!((channel.x, channel.f), (0, hipChannelFormatKind(0)));
    }
}

/// Contract: by ABI major, the header's own first.
#[test]
fn the_callers_header_major_is_preferred() {
    if !is_child() {
        for (header, bound) in [
            ("0", "7"),
            ("50300000", "5"),
            ("60443484", "6"),
            ("70100000", "7"),
            ("80000000", "7"),
        ] {
            let output = child(
                "the_callers_header_major_is_preferred",
                &[
                    ("LD_LIBRARY_PATH", fakes().to_str().unwrap()),
                    ("HEADER", header),
                ],
            );
            let line = format!("libamdhip64.so.{bound}\n");
            assert!(output.contains(&line), "headers of {header}: {output}");
        }
        return;
    }
    let version = env::var("HEADER").unwrap().parse().unwrap();
    hiplazy::set_header_version(version);
    assert_eq!(hiplazy::header_version(), version);
    hiplazy::load().unwrap();
    println!("{}", hiplazy::runtime_path().unwrap().to_str().unwrap());
}
