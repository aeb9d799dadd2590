//! The work of `source/consumer.c` and `source/bound.c`, in Rust.

use std::ffi::{CStr, c_char, c_int};
use std::ptr;

use hiplazy::sys::*;

/// HIP's text for an error code, or another string of its kind.
///
/// # Safety
///
/// `text` is a C string that stays.
unsafe fn text(text: *const c_char) -> &'static str {
    // SAFETY: as the caller promises.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("?")
}

fn name(code: hipError_t) -> &'static str {
    // SAFETY: HIP's names are never freed.
    unsafe { text(hipGetErrorName(code)) }
}

/// Whether a call succeeded; says so if it did not.
fn good(what: &str, code: hipError_t) -> bool {
    if code != hipSuccess {
        println!("{what}: {} {}", code.0, name(code));
    }
    code == hipSuccess
}

fn use_properties() -> bool {
    let mut properties = hipDeviceProp_tR0600::default();
    // SAFETY: the struct is a live variable.
    let code = unsafe { hipGetDevicePropertiesR0600(&mut properties, 0) };
    if good("hipGetDeviceProperties", code) {
        // SAFETY: the runtime ends the name with a NUL.
        let device = unsafe { CStr::from_ptr(properties.name.as_ptr()) };
        println!(
            "properties: {}, warp size {}, {} compute units",
            device.to_string_lossy(),
            properties.warpSize,
            properties.multiProcessorCount
        );
    }
    code == hipSuccess
}

fn use_memory() -> bool {
    let there: Vec<u8> = (0..=255).collect();
    let mut back = vec![0u8; there.len()];
    let mut device = ptr::null_mut();
    // SAFETY: every pointer is to a live variable of the size that is passed.
    unsafe {
        if !good("hipMalloc", hipMalloc(&mut device, there.len())) {
            return false;
        }
        let (to, from) = (there.as_ptr().cast(), back.as_mut_ptr().cast());
        let copied = good(
            "hipMemcpy",
            hipMemcpy(device, to, there.len(), hipMemcpyHostToDevice),
        ) && good(
            "hipMemcpy",
            hipMemcpy(from, device, back.len(), hipMemcpyDeviceToHost),
        );
        let how = if there == back {
            "came back"
        } else {
            "changed"
        };
        println!("memory: {how}");
        good("hipFree", hipFree(device)) && copied
    }
}

fn use_hiprtc() {
    let source = c"extern \"C\" __global__ void twice(int *value) { *value *= 2; }\n";
    let mut program = ptr::null_mut();
    let mut size = 0;
    // SAFETY: strings and variables outlive the calls; no headers are passed.
    unsafe {
        let mut result = hiprtcCreateProgram(
            &mut program,
            source.as_ptr(),
            c"twice.hip".as_ptr(),
            0,
            ptr::null_mut(),
            ptr::null_mut(),
        );
        if result == HIPRTC_SUCCESS {
            result = hiprtcCompileProgram(program, 0, ptr::null_mut());
        }
        if result == HIPRTC_SUCCESS {
            result = hiprtcGetCodeSize(program, &mut size);
        }
        let code = if size > 0 { ", code" } else { "" };
        println!(
            "hiprtc: {} {}{code}",
            result.0,
            text(hiprtcGetErrorString(result))
        );
        if !program.is_null() {
            hiprtcDestroyProgram(&mut program);
        }
    }
}

/// Asks HIP for everything that the C consumer asks it for.
#[unsafe(no_mangle)]
pub extern "C" fn consume() -> c_int {
    let (mut version, mut devices) = (0, -1);
    // SAFETY: the pointers are to live variables.
    let (version_code, code) = unsafe {
        (
            hipRuntimeGetVersion(&mut version),
            hipGetDeviceCount(&mut devices),
        )
    };
    println!(
        "runtime: {version} ({} {})",
        version_code.0,
        name(version_code)
    );
    println!("devices: {devices} ({} {})", code.0, name(code));
    let there = code == hipSuccess && devices > 0;
    let worked = !there || (use_properties() & use_memory());
    use_hiprtc();
    // SAFETY: no conditions; each successful start is ended.
    unsafe {
        let status = hsa_init();
        println!("hsa: 0x{:x}", status.0);
        if status == HSA_STATUS_SUCCESS {
            hsa_shut_down();
        }
    }
    c_int::from(!worked)
}

/// Says what hiplazy bound.
#[unsafe(no_mangle)]
pub extern "C" fn bound() -> c_int {
    let code = hiplazy::load().map_or_else(|error| error.code(), |()| 0);
    let path = hiplazy::runtime_path().map_or("no runtime".into(), CStr::to_string_lossy);
    let has = hiplazy::has(c"hipGetDevicePropertiesR0600");
    println!(
        "bound: {code}, version {}, headers {}, R0600 {}, {path}",
        hiplazy::runtime_version(),
        hiplazy::header_version(),
        if has { "yes" } else { "no" },
    );
    if code != 0 {
        hiplazy::last_error(|text| println!("because: {}", text.lines().next().unwrap_or("")));
    }
    0
}
