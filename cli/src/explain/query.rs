//! What people ask with: a name as it stands in a source, a log or a message, or the
//! whole message.

/// The names that a text may mean, the likeliest first. Which of them exist is not known
/// here.
pub(super) fn readings(text: &str) -> Vec<String> {
    let text = unquoted(text.trim());
    let mut found = Vec::new();
    let mut push = |name: &str| {
        if !name.is_empty() && !found.iter().any(|known| known == name) {
            found.push(name.to_string());
        }
    };
    // A number with its type: `hipError_t(9)`, `(hiprtcResult) 6`.
    for enumeration in ERROR_ENUMS {
        if let Some((_, rest)) = text.split_once(enumeration) {
            let number = rest.trim_start_matches([' ', '(', ')', '>', '=', ':', '{']);
            let end = number.find(|c: char| !c.is_ascii_alphanumeric());
            let number = &number[..end.unwrap_or(number.len())];
            if is_number(number) {
                push(number);
            }
        }
    }
    if !text.contains(char::is_whitespace) {
        push(called(text));
        // A library's own name may look as if there were others in it.
        if !text.contains('=') {
            return found;
        }
    }
    // A declaration or a call with arguments: `hipMalloc(&p, 16)`.
    if let Some((name, _)) = text.split_once('(')
        && !name.trim().contains(char::is_whitespace)
    {
        push(name.trim());
    }
    // ld.so: "undefined symbol: NAME, version NODE", "version `NODE' not found".
    for (before, after) in [
        ("undefined symbol: ", [',', ' ']),
        ("version `", ['\'', ' ']),
    ] {
        if let Some((_, rest)) = text.split_once(before) {
            push(rest.split(after).next().unwrap_or(rest).trim());
        }
    }
    let words = text.split(is_between).map(bare);
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    for word in words.iter().filter(|word| is_name(word)) {
        push(word);
    }
    // "HIP error 709", "error code: 9".
    for (index, word) in words.iter().enumerate() {
        let error = words[..index].iter().rev().take(2);
        if is_number(word)
            && error
                .into_iter()
                .any(|word| word.eq_ignore_ascii_case("error"))
        {
            push(word);
        }
    }
    for word in words.iter().filter(|word| word.contains(".so")) {
        push(word);
    }
    found
}

/// The enums of errors.
const ERROR_ENUMS: [&str; 2] = ["hipError_t", "hiprtcResult"];

/// The enum that a message about a number names, `HIPRTC error 6`.
pub(super) fn error_enum(text: &str) -> Option<&'static str> {
    let said = text.to_lowercase();
    let [hip, rtc] = ERROR_ENUMS;
    if said.contains("hiprtc") {
        Some(rtc)
    } else {
        said.contains("hip").then_some(hip)
    }
}

/// A text with one blank between its words.
pub(super) fn spaced(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

/// The node that a function is asked for with, in a name or in a message of ld.so.
pub(super) fn node(text: &str) -> Option<&str> {
    let end = |rest: &'static [char]| move |c: char| c.is_whitespace() || rest.contains(&c);
    if let Some((_, rest)) = text.split_once("undefined symbol: ")
        && let Some((_, rest)) = rest.split_once(", version ")
    {
        return rest.split(end(&['(', ',', ';'])).next().map(bare);
    }
    let (_, rest) = text.split_once('@')?;
    let rest = rest.trim_start_matches('@');
    let node = rest
        .split(end(&['"', '\'', '`', ')', ',', ';', '(']))
        .next()?;
    let node = bare(node);
    (!node.is_empty()).then_some(node)
}

/// The node that a message says is not found, or that is the whole text.
pub(super) fn missing_node(text: &str) -> Option<&str> {
    match text.split_once("version `") {
        Some((_, rest)) => rest.split('\'').next(),
        None => Some(unquoted(text.trim())),
    }
}

/// A name without what a source or a log writes around it.
fn called(text: &str) -> &str {
    let text = text.split('(').next().unwrap_or(text);
    bare(unquoted(text.trim_end_matches([';', ','])))
}

/// Without a folder in front of a file name.
fn bare(word: &str) -> &str {
    let word = word.trim_end_matches(['.', '!', '?']);
    match word.contains(".so") {
        true => word.rsplit('/').next().unwrap_or(word),
        false => word,
    }
}

fn unquoted(text: &str) -> &str {
    text.trim_matches(['"', '\'', '`'])
}

fn is_between(c: char) -> bool {
    !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '@' | '-' | '/' | '+'))
}

/// Whether a word of a message looks like a name of HIP's.
fn is_name(word: &str) -> bool {
    let bare = word.trim_start_matches('_');
    let begins = ["hip", "HIP", "hsa_", "Z"];
    begins.iter().any(|begin| bare.starts_with(begin))
        && word.len() > 3
        && (word.contains('_') || word.contains(char::is_uppercase))
        && !word.contains(".so")
}

fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix("0x").unwrap_or(word);
    !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        && digits.starts_with(|first: char| first.is_ascii_digit())
}

/// The functions that a name which hiplazy, or a vendor's copy of it, made stands for:
/// what follows the prefix, `hipMalloc` of `tl_hipMalloc` and of `hiplazy_hipMalloc`.
pub(super) fn without_prefix(name: &str) -> impl Iterator<Item = &str> {
    let ends = name.match_indices('_').map(|(at, _)| &name[at + 1..]);
    let hip = |rest: &&str| {
        ["hip", "hsa_", "__hip"]
            .iter()
            .any(|it| rest.starts_with(it))
    };
    // `tl___hipX` is `tl_` and `__hipX`.
    ends.filter(hip)
}

/// The identifiers in a mangled C++ name, outermost first.
pub(super) fn identifiers(mangled: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let Some(mut rest) = mangled.strip_prefix("_Z") else {
        return found;
    };
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        rest = &rest[at..];
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let length = rest[..digits].parse::<usize>().ok();
        rest = &rest[digits..];
        if let Some(identifier) = length.and_then(|length| rest.get(..length)) {
            found.push(identifier);
            rest = &rest[identifier.len()..];
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sources_and_logs_write_around_a_name_goes() {
        for text in [
            "hipMalloc",
            " hipMalloc() ",
            "hipMalloc(&p, 16);",
            "\"hipMalloc\"",
            "`hipMalloc'",
            "'hipMalloc()'",
        ] {
            assert_eq!(readings(text), ["hipMalloc"], "{text}");
        }
        assert_eq!(
            readings("/opt/rocm/lib/libamdhip64.so.6"),
            ["libamdhip64.so.6"]
        );
    }

    #[test]
    fn the_name_in_a_message_is_found() {
        for (message, meant) in [
            (
                "python3: symbol lookup error: /x/_C.so: undefined symbol: hipFree, version hip_4.2",
                vec!["hipFree", "hip_4.2"],
            ),
            ("/x/_C.so: undefined symbol: hipFree", vec!["hipFree"]),
            (
                "ImportError: /x/libamdhip64.so.7: version `hip_7.1' not found (required by /x/_C.so)",
                vec!["hip_7.1", "libamdhip64.so.7", "_C.so"],
            ),
            (
                "libamdhip64.so.6: cannot open shared object file: No such file or directory",
                vec!["libamdhip64.so.6"],
            ),
            ("RuntimeError: HIP error 709", vec!["709"]),
            ("HIP error code: 0x9!", vec!["0x9"]),
            (
                "error: hipErrorNoBinaryForGpu: no code object",
                vec!["hipErrorNoBinaryForGpu"],
            ),
        ] {
            let found = readings(message).join(" ");
            assert!(found.starts_with(&meant.join(" ")), "{message}: {found}");
        }
        assert!(readings("nothing of interest, 12 times").is_empty());
    }

    #[test]
    fn numbers_of_errors_are_found_beside_their_type() {
        for (text, first) in [
            ("hipError_t(9)", "9"),
            ("static_cast<hipError_t>(9)", "9"),
            ("returned (hiprtcResult) 6", "6"),
            ("hipError_t = 0x9,", "0x9"),
            ("hipError_t", "hipError_t"),
        ] {
            assert_eq!(readings(text)[0], first, "{text}");
        }
        let found = readings("code=98(hipErrorInvalidDeviceFunction)");
        assert!(found.contains(&"hipErrorInvalidDeviceFunction".to_string()));
        assert_eq!(error_enum("HIPRTC error 6"), Some("hiprtcResult"));
        assert_eq!(error_enum("HIP error 6"), Some("hipError_t"));
        assert_eq!(error_enum("6"), None);
    }

    #[test]
    fn nodes_are_found_in_names_and_messages() {
        assert_eq!(node("hipMalloc@@hip_4.2"), Some("hip_4.2"));
        assert_eq!(node("`hipMalloc@hip_4.2'"), Some("hip_4.2"));
        let message = "x.so: undefined symbol: hipFree, version hip_4.2 (required)";
        assert_eq!(node(message), Some("hip_4.2"));
        assert_eq!(node("hipMalloc"), None);
        let message = "x: version `hip_7.1' not found (required by y)";
        assert_eq!(missing_node(message), Some("hip_7.1"));
    }

    #[test]
    fn mangled_names_are_taken_apart() {
        let parts = |name| identifiers(name);
        assert_eq!(
            parts("_Z9hipMallocIfE10hipError_tPPT_m"),
            ["hipMalloc", "hipError_t"]
        );
        assert_eq!(parts("_ZN3foo9hipMallocEv"), ["foo", "hipMalloc"]);
        assert!(parts("hip9Malloc").is_empty() && parts("_Z99hip").is_empty());
    }

    #[test]
    fn prefixes_are_what_comes_before_hips_name() {
        let all = |name| without_prefix(name).collect::<Vec<_>>();
        assert_eq!(all("tl_hipMalloc"), ["hipMalloc"]);
        assert!(all("tl___hipPushCallConfiguration").contains(&"__hipPushCallConfiguration"));
        assert!(all("hipMemAdvise_v2").is_empty());
    }
}
