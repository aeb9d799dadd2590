//! The checker finds layouts and constants that the tables do not have so.

use hiplazy_abi::{Constant, Layout, Version, parse_constants, parse_layouts};
use xtask::abi::{InterfaceDifference, compare_interface, parse_interface};

const LAYOUTS: &str = "\
hipDeviceProp_tR0000 | 6.1- | 4 | 4 | 0:4:major:int
hipPair | 5.0-6.4 | 8 | 4 | 0:4:a:int, 4:4:b:int
hipPair | 7.0- | 16 | 8 | 0:4:a:int, 8:8:b:size_t";

const CONSTANTS: &str = "\
hipKind | hipKindHost | 0 | 5.0-5.7
hipKind | hipKindHost | 1 | 6.0-
hiprtcResult | HIPRTC_SUCCESS | 0 | 5.0-
macro | hipFlag | 8 | 5.0-";

const PAIR: &str = "#[repr(C)] pub struct hipPair { pub a: ::std::os::raw::c_int, pub b: usize }";
const KIND: &str = "pub const hipKind_hipKindHost: hipKind = 1; pub type hipKind = u32;";
const FLAG: &str = "pub const hipFlag: u32 = 8;";

const V7_1: Version = Version::new(7, 1);

fn tables() -> (Vec<Layout>, Vec<Constant>) {
    let layouts = parse_layouts(LAYOUTS).unwrap();
    (layouts, parse_constants(CONSTANTS).unwrap())
}

fn compared(version: Version, rust: &[&str], headers: &[&str]) -> Vec<InterfaceDifference> {
    let (layouts, constants) = tables();
    let interface = parse_interface(&rust.join("\n")).unwrap();
    compare_interface(version, &interface, headers, &layouts, &constants)
}

fn constant(name: &str, headers: Option<i64>, table: Option<i64>) -> InterfaceDifference {
    InterfaceDifference::Constant {
        domain: "hipKind".to_string(),
        name: name.to_string(),
        headers,
        table,
    }
}

#[test]
fn what_the_tables_say_is_no_difference() {
    let found = compared(V7_1, &[PAIR, KIND, FLAG], &["hip_runtime_api.h"]);
    assert_eq!(found, []);
}

#[test]
fn a_layout_of_another_version() {
    let found = compared(
        Version::new(6, 4),
        &[PAIR, KIND, FLAG],
        &["hip_runtime_api.h"],
    );
    let [difference] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(
        difference.to_string(),
        "hipPair is 16 | 8 | 0:4:a:int, 8:8:b:size_t where abi/layouts.txt has \
         8 | 4 | 0:4:a:int, 4:4:b:int"
    );
}

#[test]
fn a_field_of_another_type_at_the_same_place() {
    let other = PAIR.replace("usize", "u64");
    let found = compared(V7_1, &[&other, KIND, FLAG], &["hip_runtime_api.h"]);
    assert_eq!(found.len(), 1);
}

#[test]
fn a_record_on_one_side_only() {
    let new = "#[repr(C)] pub struct hipNew { pub a: u8 }";
    let found = compared(V7_1, &[new, KIND, FLAG], &["hip_runtime_api.h"]);
    let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "hipNew is 1 | 1 | 0:1:a:uint8_t where abi/layouts.txt has no line for this version",
            "hipPair is not declared where abi/layouts.txt has \
             16 | 8 | 0:4:a:int, 8:8:b:size_t"
        ]
    );
}

#[test]
fn a_constant_of_another_value_or_on_one_side_only() {
    let changed = KIND.replace("= 1", "= 2");
    let found = compared(V7_1, &[PAIR, &changed, FLAG], &["hip_runtime_api.h"]);
    assert_eq!(found, [constant("hipKindHost", Some(2), Some(1))]);

    let renamed = KIND.replace("hipKindHost", "hipKindGuest");
    let found = compared(V7_1, &[PAIR, &renamed, FLAG], &["hip_runtime_api.h"]);
    let both = [
        constant("hipKindGuest", Some(1), None),
        constant("hipKindHost", None, Some(1)),
    ];
    assert_eq!(found, both);
}

#[test]
fn what_a_header_declares_that_the_set_lacks_is_not_missed() {
    let all = ["hip_runtime_api.h", "hip_deprecated.h", "hiprtc.h"];
    let found = compared(V7_1, &[PAIR, KIND, FLAG], &all);
    assert_eq!(found.len(), 2, "{found:?}");
}
