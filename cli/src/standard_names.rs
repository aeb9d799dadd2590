//! Names that a process has once by design, or that programs replace on purpose: that
//! another library than the nearest answers them is no fault.

/// Inline functions and templates of the C++ library, of which a process has one each by
/// design, and the allocation functions, which programs may replace.
pub fn is_standard(whole: &str) -> bool {
    let mangled = whole.starts_with("_Z");
    let name = innermost(whole);
    const STEMS: [&str; 12] = [
        "NSt",
        "NKSt",
        "St",
        "TVSt",
        "TISt",
        "TSSt",
        "TVNSt",
        "TINSt",
        "TSNSt",
        "N9__gnu_cxx",
        "NK9__gnu_cxx",
        "TTNSt",
    ];
    mangled && STEMS.iter().any(|stem| name.starts_with(stem))
        || is_allocation(whole)
        || whole.starts_with("__cxa")
}

/// `malloc` with what belongs to it (the glibc manual, "Replacing malloc"), and C++'s
/// `new` and `delete`.
pub fn is_allocation(whole: &str) -> bool {
    const OPERATORS: [&str; 4] = ["nw", "na", "dl", "da"];
    const FUNCTIONS: [&str; 11] = [
        "malloc",
        "free",
        "calloc",
        "realloc",
        "aligned_alloc",
        "malloc_usable_size",
        "memalign",
        "posix_memalign",
        "pvalloc",
        "valloc",
        "cfree",
    ];
    let name = innermost(whole);
    whole.starts_with("_Z") && OPERATORS.iter().any(|stem| name.starts_with(stem))
        || FUNCTIONS.contains(&whole)
}

/// The guards and variables of inline functions have the function's name inside.
fn innermost(whole: &str) -> &str {
    let name = whole.strip_prefix("_ZGV").unwrap_or(whole);
    name.trim_start_matches("_Z").trim_start_matches('Z')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_has_once_by_design_does_not_count() {
        assert!(is_standard("_ZNSt6vectorIiSaIiEE9push_backERKi"));
        assert!(is_standard("_Znwm") && is_standard("free") && is_standard("_ZdlPvm"));
        assert!(is_standard("_ZGVZNKSt8__detail11_AnyMatcherIcEclEcE5__nul"));
        assert!(is_standard(
            "_ZZNKSt7__cxx1112regex_traitsIcE16lookup_classnameEvE12__classnames"
        ));
        assert!(!is_standard("_ZN6spdlog7details8registry8instanceEv"));
    }

    #[test]
    fn allocation_is_what_the_manuals_let_programs_replace() {
        assert!(is_allocation("malloc") && is_allocation("aligned_alloc"));
        assert!(is_allocation("_Znwm") && is_allocation("_ZdaPv"));
        assert!(!is_allocation("malloc_trim") && !is_allocation("mallopt"));
        assert!(!is_allocation("_ZNSt6vectorIiSaIiEE9push_backERKi"));
        assert!(!is_allocation("nwrite"));
    }
}
