//! Which names a report is about.

use std::collections::HashMap;
use std::sync::LazyLock;

use hiplazy_abi as abi;

/// The names of interest: HIP's, or those of `--prefix`.
#[derive(Debug, Clone, Default)]
pub struct Names {
    prefixes: Vec<String>,
}

/// Whose function a name of HIP's interface is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Api {
    /// `libamdhip64`.
    Hip,
    /// `libhiprtc`, up to HIP 6 also `libamdhip64`.
    Hiprtc,
    /// `libhsa-runtime64`.
    Hsa,
}

/// What real runtimes say about a name.
#[derive(Debug, Clone, Default)]
pub struct Listed {
    /// The node that real runtimes export the name on, `None` where they have none.
    pub node: Option<String>,
    /// The measured runtimes that export it.
    pub tables: Vec<&'static str>,
}

/// The exports of the measured runtimes, by link name.
static LISTED: LazyLock<HashMap<String, Listed>> = LazyLock::new(|| {
    let mut listed = HashMap::<String, Listed>::new();
    for table in abi::EXPORTS.iter().chain(abi::HSA_EXPORTS) {
        // The tables are part of this program and parsed by its tests.
        for export in abi::parse_exports(table.text).unwrap_or_default() {
            if export.is_function {
                let entry = listed.entry(export.name).or_default();
                entry.node = entry.node.take().or(export.node);
                entry.tables.push(table.name);
            }
        }
    }
    for function in abi::parse_functions(abi::FUNCTIONS_TXT).unwrap_or_default() {
        let entry = listed.entry(function.name).or_default();
        entry.node = entry.node.take().or(function.node);
    }
    listed
});

impl Names {
    /// HIP's names, or only those that begin with one of `prefixes` if there are any.
    pub fn new(prefixes: &[String]) -> Names {
        Names {
            prefixes: prefixes.to_vec(),
        }
    }

    /// Whether the report is about `name`.
    pub fn cover(&self, name: &str) -> bool {
        if self.prefixes.is_empty() {
            api_of(name).is_some()
        } else {
            self.prefixes
                .iter()
                .any(|prefix| name.starts_with(prefix.as_str()))
        }
    }

    /// What the names begin with; [`Names::cover`] decides. Mangled names of HIP's are not
    /// among them.
    pub fn beginnings(&self) -> Vec<&str> {
        if self.prefixes.is_empty() {
            return vec!["hip", "__hip", "hsa_"];
        }
        self.prefixes.iter().map(String::as_str).collect()
    }

    /// Whether these are HIP's names.
    pub fn are_hip(&self) -> bool {
        self.prefixes.is_empty()
    }

    /// For messages: `hip*, hiprtc*, hsa_*, __hip*`.
    pub fn pattern(&self) -> String {
        if self.prefixes.is_empty() {
            return "hip*, hiprtc*, hsa_*, __hip*".to_string();
        }
        let patterns: Vec<String> = self
            .prefixes
            .iter()
            .map(|prefix| format!("{prefix}*"))
            .collect();
        patterns.join(", ")
    }
}

/// Whose function a bare name is, by its shape: `hipMalloc`, `hiprtcCompileProgram`,
/// `hsa_init`, `__hipRegisterFatBinary`, and mangled names that real runtimes export.
///
/// `hipblasCreate` (the libraries of ROCm) and `__hip_fatbin` (data of every client) have
/// a small letter there, and `hiplazy_hipMalloc` has a prefix. `hsa_` is no namespace of
/// AMD's alone: only what a real `libhsa-runtime64` exports is its.
pub fn api_of(name: &str) -> Option<Api> {
    let capital = |rest: &str| rest.starts_with(|first: char| first.is_ascii_uppercase());
    if let Some(rest) = name.strip_prefix("hiprtc") {
        return capital(rest).then_some(Api::Hiprtc);
    }
    if name.starts_with("hsa_") {
        return listed(name).is_some().then_some(Api::Hsa);
    }
    let bare = name.strip_prefix("__").unwrap_or(name);
    if let Some(rest) = bare.strip_prefix("hip") {
        return capital(rest).then_some(Api::Hip);
    }
    (name.starts_with("_Z") && name.contains("hip") && listed(name).is_some()).then_some(Api::Hip)
}

/// Whether a C++ name is of HIP's headers or has HIP's types in it. Such names become
/// unique symbols where they are static variables of inline functions and templates.
pub fn is_hip_like(name: &str) -> bool {
    name.starts_with("_Z")
        && name.match_indices("hip").any(|(at, _)| {
            let after = name.as_bytes().get(at + 3);
            after.is_some_and(|byte| byte.is_ascii_uppercase() || *byte == b'_')
        })
}

/// What real runtimes say about a name; `None` for a name that none of them exports
/// and no header declares.
pub fn listed(name: &str) -> Option<&'static Listed> {
    LISTED.get(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_names_of_the_three_interfaces_are_of_interest_and_no_others() {
        let names = Names::new(&[]);
        for (name, api) in [
            ("hipMalloc", Api::Hip),
            ("__hipRegisterFatBinary", Api::Hip),
            ("hiprtcCompileProgram", Api::Hiprtc),
            ("hsa_init", Api::Hsa),
            (
                "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j",
                Api::Hip,
            ),
        ] {
            assert_eq!(api_of(name), Some(api), "{name}");
            assert!(names.cover(name));
        }
        for name in [
            "hiplazy_hipMalloc",
            "hiplazy_load",
            "hipblasCreate",
            "hipfftPlan1d",
            "hip",
            "hiprtc",
            "__hip_fatbin",
            "__hip_cuid_1234",
            "_ZN3foo9hipMallocEv",
            "hsa_ven_amd_aqlprofile_start",
            "hsa_chi_squared_test",
            "hsaKmtOpenKFD",
            "",
        ] {
            assert!(!names.cover(name), "{name}");
        }
    }

    #[test]
    fn static_variables_of_hip_headers_are_hip_like() {
        assert!(is_hip_like("_ZZN8hip_impl11program_stateEvE1s"));
        assert!(is_hip_like("_ZN3foo5cacheI12hipDeviceP_tE1sE"));
        assert!(!is_hip_like("_ZN4ship5cacheE"));
        assert!(!is_hip_like("hipMalloc"));
    }

    #[test]
    fn prefixes_replace_the_names_of_hip() {
        let names = Names::new(&["cuda".to_string(), "cu".to_string()]);
        assert!(names.cover("cudaMalloc") && names.cover("cuInit"));
        assert!(!names.cover("hipMalloc"));
        assert_eq!(names.pattern(), "cuda*, cu*");
    }

    #[test]
    fn nodes_are_those_of_real_runtimes() {
        let node = |name| listed(name).and_then(|listed| listed.node.clone());
        assert_eq!(node("hipInit").as_deref(), Some("hip_4.2"));
        assert_eq!(
            node("hipGetDevicePropertiesR0600").as_deref(),
            Some("hip_6.0")
        );
        assert_eq!(node("hsa_init").as_deref(), Some("ROCR_1"));
        assert!(listed("hipNoSuchThing").is_none());
    }
}
