//! The tables of layouts and constants against what is known of HIP's history.

use hiplazy_abi::{
    CONSTANTS_TXT, Constant, HEADER_VERSIONS, LAYOUTS_TXT, Layout, Version, constant_of, layout_of,
    parse_constants, parse_layouts,
};

fn layouts() -> Vec<Layout> {
    parse_layouts(LAYOUTS_TXT).unwrap_or_else(|error| panic!("layouts.txt: {error}"))
}

fn constants() -> Vec<Constant> {
    parse_constants(CONSTANTS_TXT).unwrap_or_else(|error| panic!("constants.txt: {error}"))
}

fn data(text: &str) -> Vec<String> {
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_string)
        .collect()
}

#[test]
fn every_line_is_written_as_it_is_read() {
    let written: Vec<String> = layouts().iter().map(Layout::line).collect();
    assert_eq!(data(LAYOUTS_TXT), written);
    let written: Vec<String> = constants().iter().map(Constant::line).collect();
    assert_eq!(data(CONSTANTS_TXT), written);
}

#[test]
fn ranges_begin_and_end_at_versions_that_were_read() {
    let layouts = layouts();
    let constants = constants();
    let of_layouts = layouts.iter().map(|it| (&it.record, it.versions));
    let of_constants = constants.iter().map(|it| (&it.name, it.versions));
    for (name, versions) in of_layouts.chain(of_constants) {
        for end in [Some(versions.first), versions.last].into_iter().flatten() {
            assert!(HEADER_VERSIONS.contains(&end), "{name}: {versions}");
        }
    }
}

#[test]
fn the_known_breaks_of_layout_are_in_the_table() {
    let layouts = layouts();
    let size = |record: &str, (major, minor)| {
        layout_of(&layouts, record, Version::new(major, minor)).map(|layout| layout.size)
    };
    assert_eq!(size("hipDeviceProp_t", (5, 7)), Some(792));
    assert_eq!(size("hipDeviceProp_tR0600", (6, 0)), Some(1472));
    assert_eq!(size("hipDeviceProp_tR0000", (7, 14)), Some(792));
    assert_eq!(size("HIP_MEMCPY3D", (5, 7)), Some(128));
    assert_eq!(size("HIP_MEMCPY3D", (6, 0)), Some(184));
    assert_eq!(size("HIP_MEMSET_NODE_PARAMS", (6, 4)), Some(40));
    assert_eq!(size("HIP_MEMSET_NODE_PARAMS", (7, 1)), None);
    assert_eq!(size("hipLaunchAttributeValue", (6, 4)), Some(32));
    assert_eq!(size("hipLaunchAttributeValue", (7, 0)), Some(64));

    let offset = |record: &str, field: &str, (major, minor)| {
        layout_of(&layouts, record, Version::new(major, minor))
            .and_then(|layout| layout.field(field))
            .map(|field| field.offset)
    };
    let signal = "hipExternalSemaphoreSignalParams";
    assert_eq!(offset(signal, "flags", (5, 7)), Some(64));
    assert_eq!(offset(signal, "flags", (6, 0)), Some(72));
    assert_eq!(offset(signal, "params.fence.value", (7, 14)), Some(0));
    let pool = "hipMemPoolProps";
    assert_eq!(offset(pool, "maxSize", (6, 1)), None);
    assert_eq!(offset(pool, "maxSize", (6, 2)), Some(24));
    // An unnamed union: 7.0 added the second name of the member.
    let memory = "hipMemAllocationProp";
    assert_eq!(offset(memory, "requestedHandleTypes", (6, 4)), None);
    assert_eq!(offset(memory, "requestedHandleTypes", (7, 0)), Some(4));
}

#[test]
fn the_known_breaks_of_value_are_in_the_table() {
    let constants = constants();
    let value = |name: &str, (major, minor)| {
        constant_of(&constants, name, Version::new(major, minor)).map(|constant| constant.value)
    };
    assert_eq!(value("hipMemoryTypeHost", (5, 7)), Some(0));
    assert_eq!(value("hipMemoryTypeHost", (6, 0)), Some(1));
    assert_eq!(value("hipGraphNodeTypeKernel", (5, 2)), Some(1));
    assert_eq!(value("hipGraphNodeTypeKernel", (5, 3)), Some(0));
    assert_eq!(value("hipGraphNodeTypeMemcpyToSymbol", (5, 4)), Some(11));
    assert_eq!(value("hipGraphNodeTypeMemcpyToSymbol", (5, 5)), Some(13));
    assert_eq!(value("hipLimitRange", (6, 4)), Some(3));
    assert_eq!(value("hipLimitRange", (7, 0)), Some(4099));
    assert_eq!(value("hipDeviceAttributePciChipId", (6, 4)), None);
    assert_eq!(value("hipDeviceAttributePciChipId", (7, 0)), Some(10019));
    assert_eq!(value("hipDeviceAttributePciChipId", (7, 1)), Some(10020));
    assert_eq!(value("hipIpcMemLazyEnablePeerAccess", (5, 7)), Some(0));
    assert_eq!(value("hipIpcMemLazyEnablePeerAccess", (6, 1)), Some(1));
    assert_eq!(value("hipDeviceLmemResizeToMax", (5, 2)), Some(0x16));
    assert_eq!(value("hipDeviceLmemResizeToMax", (5, 5)), Some(0x10));
    assert_eq!(
        value("hipHostMallocNonCoherent", (7, 14)),
        Some(0x8000_0000)
    );
}
