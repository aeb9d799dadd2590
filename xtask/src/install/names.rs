//! What everything is called, with hiplazy's own prefix or a vendor's.

use std::error::Error;

use hiplazy_abi::{
    CONTROL_FUNCTIONS, FUNCTIONS_TXT, SLOTS_TXT, parse_functions, parse_slots, table_lengths,
};

/// The prefix that the crates are built with.
pub(super) const BUILT_PREFIX: &str = "hiplazy_";

/// The slot table, without its prefix and a length.
const SLOTS: &str = "slots";

/// The slot table in archives alone, likewise.
const STATIC_SLOTS: &str = "static_slots";

/// What a consumer's `header_version.c` defines, without its prefix.
pub(super) const RECORD: &str = "consumer_hip_version";

/// Triton, vLLM and FlashInfer choose libraries by these parts of file names.
const TAKEN: [&str; 3] = ["libamdhip64", "libhip_stub", "libcudart"];

/// The major version of the C interface.
const ABI: u32 = 1;

/// Names of files, targets and symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Names {
    prefix: String,
    name: String,
}

impl Default for Names {
    fn default() -> Self {
        Names {
            prefix: BUILT_PREFIX.to_string(),
            name: "hiplazy".to_string(),
        }
    }
}

impl Names {
    /// The names of a vendor's build: `tl_` makes `libtl_hip.so.1`.
    ///
    /// # Errors
    ///
    /// The prefix makes no C names, or makes names that belong to somebody.
    pub(crate) fn vendor(prefix: &str) -> Result<Names, String> {
        let mut letters = prefix.bytes();
        let identifier = letters
            .next()
            .is_some_and(|first| first.is_ascii_alphabetic())
            && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == b'_');
        if !identifier || !prefix.ends_with('_') || prefix.ends_with("__") {
            return Err(
                "letters, digits and _ are needed, a letter first and one _ last, such as tl_"
                    .to_string(),
            );
        }
        let lower = prefix.to_ascii_lowercase();
        if lower.starts_with("hip") || lower.starts_with("hsa") {
            return Err(
                "names that begin with hip or hsa are AMD's or hiplazy's; choose your own"
                    .to_string(),
            );
        }
        let names = Names {
            prefix: prefix.to_string(),
            name: format!("{}_hip", prefix.trim_end_matches('_')),
        };
        let file = names.soname().to_ascii_lowercase();
        if let Some(taken) = TAKEN.iter().find(|taken| file.contains(**taken)) {
            return Err(format!(
                "{file} would be taken for {taken} by programs that search by file name"
            ));
        }
        Ok(names)
    }

    /// Before each wrapper and control function: `hiplazy_`.
    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The package: its include folder, CMake package and pkg-config file.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The version node of the shared library's exports.
    pub(super) fn node(&self) -> String {
        format!("{}_{ABI}", self.upper())
    }

    /// The name in capitals, for include guards.
    pub(super) fn upper(&self) -> String {
        self.name.to_ascii_uppercase()
    }

    /// The shared library's SONAME, which is its file name too.
    pub(super) fn soname(&self) -> String {
        format!("lib{}.so.{ABI}", self.name)
    }

    /// The shared library, below the prefix.
    pub(super) fn shared_library(&self) -> String {
        format!("lib/{}", self.soname())
    }

    /// The link to it that linkers search.
    pub(super) fn shared_link(&self) -> String {
        format!("lib/lib{}.so", self.name)
    }

    /// The archive with prefixed names.
    pub(super) fn static_archive(&self) -> String {
        format!("lib/lib{}.a", self.name)
    }

    /// The archive with HIP's own names.
    pub(super) fn dropin_archive(&self) -> String {
        format!("lib/lib{}_dropin.a", self.name)
    }

    /// The wrappers as the crate with prefixed names defines them: one for each entry of
    /// the slot table.
    pub(super) fn wrappers(&self) -> Result<Vec<String>, Box<dyn Error>> {
        let entries = parse_slots(SLOTS_TXT)?;
        let names = entries.entries().iter();
        Ok(names.map(|name| format!("{BUILT_PREFIX}{name}")).collect())
    }

    /// The wrappers as the drop-in crate defines them.
    pub(super) fn both(&self) -> Result<Vec<String>, Box<dyn Error>> {
        let mut names = bare()?;
        names.extend(self.wrappers()?);
        Ok(names)
    }

    /// Control functions and the names of the slot table, as they are built.
    pub(super) fn control() -> Result<Vec<String>, Box<dyn Error>> {
        let functions = CONTROL_FUNCTIONS.iter().chain(&[SLOTS]);
        let mut names: Vec<String> = functions
            .map(|name| format!("{BUILT_PREFIX}{name}"))
            .collect();
        for length in table_lengths(parse_slots(SLOTS_TXT)?.entries().len()) {
            names.push(format!("{BUILT_PREFIX}{SLOTS}_{length}"));
            names.push(format!("{BUILT_PREFIX}{STATIC_SLOTS}_{length}"));
        }
        Ok(names)
    }

    /// Whether a symbol of this installation says that the slot table is in the same
    /// binary, which the shared library's is not.
    pub(super) fn is_for_archives(&self, installed: &str) -> bool {
        let rest = installed.strip_prefix(&self.prefix);
        rest.is_some_and(|rest| rest.starts_with(STATIC_SLOTS))
    }

    /// What a symbol of the built crates is called in this installation.
    pub(super) fn installed(&self, built: &str) -> String {
        match built.strip_prefix(BUILT_PREFIX) {
            Some(rest) => format!("{}{rest}", self.prefix),
            None => built.to_string(),
        }
    }
}

/// The link names of all functions.
fn bare() -> Result<Vec<String>, Box<dyn Error>> {
    let functions = parse_functions(FUNCTIONS_TXT)?;
    Ok(functions
        .into_iter()
        .map(|function| function.name)
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vendor_prefix_names_everything() {
        let names = Names::vendor("tl_").unwrap();
        assert_eq!(names.soname(), "libtl_hip.so.1");
        assert_eq!(names.node(), "TL_HIP_1");
        assert_eq!(names.installed("hiplazy_hipMalloc"), "tl_hipMalloc");
        assert_eq!(names.installed("hipMalloc"), "hipMalloc");
    }

    #[test]
    fn prefixes_that_would_meet_somebody_are_refused() {
        for prefix in [
            "", "tl", "_", "1_", "t-l_", "tl__", "hip_", "hiplazy_", "hsa_", "Hip_",
        ] {
            assert!(Names::vendor(prefix).is_err(), "{prefix:?}");
        }
        let error = Names::vendor("cudart_").unwrap_err();
        assert!(error.contains("libcudart"), "{error}");
    }
}
