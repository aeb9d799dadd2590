//! The checker finds what it is for: headers that the manifest does not explain.

use std::fs;
use std::path::Path;

use hiplazy_abi::{Version, parse_functions, parse_history, parse_not_wrapped, parse_prototypes};
use xtask::abi::{
    Contents, Difference, HeaderSet, Manifest, compare, parse_bindings, provide_libclang,
};

const FUNCTIONS: &str = "\
hipFree | hip_4.2 | error | hipError_t | void *ptr | 5.0- | hip
hipMalloc | hip_4.2 | error | hipError_t | void **ptr, size_t size | 5.0- | hip
hipMallocArray | hip_4.2 | error | hipError_t | hipArray_t *array, size_t width | 5.0- | hip
hipMemcpy_spt | hip_5.2 | error | hipError_t | void *dst, const void *src, size_t size | 5.2- | hip
hipSetDevice | hip_4.2 | error | hipError_t | int deviceId | 5.0- | hip
";

const HISTORY: &str = "\
hipFree | hip_runtime_api.h | 5.0-7.14
hipMalloc | hip_runtime_api.h | 5.0-7.14
hipMallocArray | hip_runtime_api.h | 5.0-7.14
hipMemcpy_spt | hip_runtime_api.h | 5.2-7.14
hipSetDevice | hip_runtime_api.h | 5.0-7.14
hiprtcVersion | hiprtc.h | 5.0-7.14
";

const PROTOTYPES: &str = "\
hipMallocArray | 5.0-5.7 | hipError_t | hipArray **array, size_t width | the same type, spelled out
";

fn manifest() -> Manifest {
    Manifest {
        functions: parse_functions(FUNCTIONS).unwrap(),
        history: parse_history(HISTORY).unwrap(),
        prototypes: parse_prototypes(PROTOTYPES).unwrap(),
        not_wrapped: parse_not_wrapped("hipInternal | a reason").unwrap(),
    }
}

fn declared(functions: &[&str]) -> Contents {
    let functions: String = functions.iter().map(|f| format!("pub fn {f};\n")).collect();
    Contents {
        declarations: parse_bindings(&format!("unsafe extern \"C\" {{\n{functions}}}")).unwrap(),
        headers: vec!["hip_runtime_api.h"],
    }
}

const FREE: &str = "hipFree(ptr: *mut core::ffi::c_void) -> hipError_t";
const MALLOC: &str = "hipMalloc(ptr: *mut *mut core::ffi::c_void, size: usize) -> hipError_t";
const MALLOC_ARRAY: &str = "hipMallocArray(array: *mut hipArray_t, width: usize) -> hipError_t";
const MEMCPY_SPT: &str = "hipMemcpy_spt(dst: *mut core::ffi::c_void, \
                          src: *const core::ffi::c_void, size: usize) -> hipError_t";
const SET_DEVICE: &str = "hipSetDevice(deviceId: core::ffi::c_int) -> hipError_t";

const V7_1: Version = Version::new(7, 1);

#[test]
fn headers_that_the_manifest_explains_are_no_difference() {
    let contents = declared(&[FREE, MALLOC, MALLOC_ARRAY, MEMCPY_SPT, SET_DEVICE]);
    assert_eq!(compare(V7_1, &contents, &manifest()), []);
}

#[test]
fn a_function_that_the_manifest_lacks() {
    let new = "hipNew() -> hipError_t";
    let contents = declared(&[FREE, MALLOC, MALLOC_ARRAY, MEMCPY_SPT, SET_DEVICE, new]);
    let name = "hipNew".to_string();
    assert_eq!(
        compare(V7_1, &contents, &manifest()),
        [Difference::NotInManifest { name }]
    );
}

#[test]
fn a_function_that_is_excepted_by_name() {
    let internal = "hipInternal()";
    let contents = declared(&[FREE, MALLOC, MALLOC_ARRAY, MEMCPY_SPT, SET_DEVICE, internal]);
    assert_eq!(compare(V7_1, &contents, &manifest()), []);
}

#[test]
fn a_function_that_the_headers_lack() {
    let contents = declared(&[MALLOC, MALLOC_ARRAY, MEMCPY_SPT, SET_DEVICE]);
    assert_eq!(
        compare(V7_1, &contents, &manifest()),
        [Difference::NotDeclared {
            name: "hipFree".to_string(),
            header: "hip_runtime_api.h".to_string(),
            version: V7_1,
        }]
    );
}

#[test]
fn a_function_that_is_older_than_its_range() {
    let version = Version::new(5, 1);
    let contents = declared(&[FREE, MALLOC, MALLOC_ARRAY, MEMCPY_SPT, SET_DEVICE]);
    assert_eq!(
        compare(version, &contents, &manifest()),
        [Difference::NotInHistory {
            name: "hipMemcpy_spt".to_string(),
            version,
        }]
    );
}

#[test]
fn an_argument_or_a_result_of_another_type() {
    for (changed, prototype) in [
        (
            "hipSetDevice(deviceId: core::ffi::c_uint) -> hipError_t",
            "hipError_t (unsigned int)",
        ),
        ("hipSetDevice(deviceId: core::ffi::c_int)", "void (int)"),
        ("hipSetDevice() -> hipError_t", "hipError_t ()"),
    ] {
        let contents = declared(&[FREE, MALLOC, MALLOC_ARRAY, MEMCPY_SPT, changed]);
        assert_eq!(
            compare(V7_1, &contents, &manifest()),
            [Difference::Prototype {
                name: "hipSetDevice".to_string(),
                headers: prototype.to_string(),
                manifest: "hipError_t (int)".to_string(),
            }]
        );
    }
}

#[test]
fn an_older_prototype_is_known_for_its_versions_only() {
    let old = "hipMallocArray(array: *mut *mut hipArray, width: usize) -> hipError_t";
    let contents = declared(&[FREE, MALLOC, old, MEMCPY_SPT, SET_DEVICE]);
    assert_eq!(compare(Version::new(5, 7), &contents, &manifest()), []);
    assert_eq!(compare(V7_1, &contents, &manifest()).len(), 1);
}

/// A header in the manner of HIP's: a macro that renames a call, the per-thread
/// macros, an assembler label, a C++ overload, a static inline.
const HEADER: &str = "
#ifndef HIP_RUNTIME_API_H
#define HIP_RUNTIME_API_H
#include <stddef.h>
typedef unsigned int hipError_t;
typedef struct hipArray *hipArray_t;
typedef enum hipKind_e { hipKindHost = 3 } hipKind;
typedef struct hipPlace_st {
  hipKind kind;
  union { size_t value; struct { char bytes[2][3]; } packed; };
  unsigned flag : 1;
} hipPlace;
#define hipFlag 0x80000000
#ifdef __cplusplus
extern \"C\" {
#endif
hipError_t hipFree(void *ptr);
hipError_t hipMalloc(void **ptr, size_t size);
#define hipMallocArray hipMallocArrayR0700
hipError_t hipMallocArray(hipArray_t *array, size_t width);
hipError_t hipSpelledOtherwise(int deviceId) __asm__(\"hipSetDevice\");
hipError_t hipMemcpy_spt(void *dst, const void *src, size_t size);
#ifdef HIP_API_PER_THREAD_DEFAULT_STREAM
#define hipMemcpy hipMemcpy_spt
#endif
hipError_t hipMemcpy(void *dst, const void *src, size_t size);
static inline hipError_t hipInline(void *ptr) { return hipFree(ptr); }
#ifdef __cplusplus
}
static inline hipError_t hipMalloc(char **ptr, size_t size) { return hipMalloc((void **)ptr, size); }
#endif
#endif
";

fn write_headers(include: &Path, header: &str) {
    let hip = include.join("hip");
    fs::create_dir_all(&hip).unwrap();
    fs::write(hip.join("hip_runtime_api.h"), header).unwrap();
    let version = "#define HIP_VERSION_MAJOR 7\n#define HIP_VERSION_MINOR 1\n";
    fs::write(hip.join("hip_version.h"), version).unwrap();
}

/// One test, since libclang's path is a process-wide setting.
#[test]
fn real_headers_are_read_by_link_name() {
    if let Err(error) = provide_libclang() {
        assert!(std::env::var_os("CI").is_none(), "{error}");
        eprintln!("SKIPPED: {error}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    write_headers(folder.path(), HEADER);
    let set = HeaderSet::in_folder(folder.path()).unwrap();
    assert_eq!(set.version, V7_1);
    let contents = set.read().unwrap();
    let names: Vec<&str> = contents.declarations.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "hipFree",
            "hipMalloc",
            "hipMallocArrayR0700",
            "hipMemcpy",
            "hipMemcpy_spt",
            "hipSetDevice"
        ]
    );
    let interface = set.interface().unwrap();
    let records: Vec<&String> = interface.records.keys().collect();
    assert_eq!(records, ["hipPlace"]);
    let fields: Vec<String> = interface.records["hipPlace"]
        .fields
        .iter()
        .map(ToString::to_string)
        .collect();
    let expected = [
        "0:4:kind:hipKind",
        "8:8:value:size_t",
        "8:6:packed.bytes:char[2][3]",
        "16:1:bits1:bits",
    ];
    assert_eq!(fields, expected);
    let constants = [("hipKind", "hipKindHost", 3), ("macro", "hipFlag", 1 << 31)]
        .map(|(domain, name, value)| ((domain.to_string(), name.to_string()), value));
    assert_eq!(interface.constants, constants.into());

    let memcpy = &contents.declarations["hipMemcpy_spt"];
    let types: Vec<&str> = memcpy.args.iter().map(|arg| arg.ty.as_str()).collect();
    assert_eq!(types, ["void *", "const void *", "size_t"]);

    let missing = |contents: &Contents| -> Vec<String> {
        let differences = compare(V7_1, contents, &manifest());
        differences.iter().map(ToString::to_string).collect()
    };
    // The macro made another function of hipMallocArray, and hipMemcpy is new.
    let found = missing(&contents).join("\n");
    for part in [
        "hipMallocArrayR0700 is declared and has no line",
        "hipMemcpy is declared and has no line",
        "hipMallocArray is not declared",
    ] {
        assert!(found.contains(part), "{part} in:\n{found}");
    }

    write_headers(
        folder.path(),
        &HEADER.replace("int deviceId", "long deviceId"),
    );
    let found = missing(&set.read().unwrap()).join("\n");
    assert!(
        found.contains("hipSetDevice is declared as \"hipError_t (long)\""),
        "{found}"
    );

    write_headers(folder.path(), "int broken(");
    let error = set.read().map(drop).unwrap_err().to_string();
    assert!(
        error.contains(&folder.path().display().to_string()),
        "{error}"
    );
}
