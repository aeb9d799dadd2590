//! `abi/slots.txt`: what the manifest adds is appended, everything else is refused.

use std::fs;
use std::path::Path;

use hiplazy_abi::{BREAKS_TXT, Function, entries, parse_breaks, parse_slots};

use crate::abi::Error;

/// The file with all entries of the functions, and what is wrong with it that appending does not
/// mend.
pub(crate) struct Updated {
    /// The file's text, with lines appended for what had no place.
    pub(crate) text: String,
    /// What had none.
    pub(crate) appended: Vec<String>,
    /// Places that must not be as they are, one line each.
    pub(crate) wrong: Vec<String>,
}

/// Updates the order of the workspace at `root`, read from the checkout.
pub(crate) fn update(root: &Path, functions: &[Function]) -> Result<Updated, Error> {
    let path = root.join("abi/slots.txt");
    let committed = fs::read_to_string(&path)
        .map_err(|error| Error::new(format!("{}: {error}", path.display())))?;
    let breaks =
        parse_breaks(BREAKS_TXT).map_err(|error| Error::new(format!("abi/breaks.txt: {error}")))?;
    let entries = entries(functions, &breaks);
    let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    updated(&committed, &names)
}

fn updated(committed: &str, names: &[&str]) -> Result<Updated, Error> {
    let order =
        parse_slots(committed).map_err(|error| Error::new(format!("abi/slots.txt: {error}")))?;
    let mut wrong: Vec<String> = order.released_difference().into_iter().collect();
    wrong.extend(order.unknown(names.iter().copied()).into_iter().map(|entry| {
        format!(
            "abi/slots.txt has a place for {entry}, which abi/functions.txt and abi/breaks.txt do \
             not make: a released entry keeps its lines there, in headers or not"
        )
    }));
    let mut text = committed.to_string();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let appended = order.missing(names.iter().copied());
    for name in &appended {
        text += name;
        text.push('\n');
    }
    Ok(Updated {
        text,
        appended: appended.into_iter().map(str::to_string).collect(),
        wrong,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hiplazy_abi::{FUNCTIONS_TXT, SLOTS_TXT, parse_functions};

    fn update(committed: &str, change: impl Fn(&mut Vec<&str>)) -> Updated {
        let functions = parse_functions(FUNCTIONS_TXT).unwrap();
        let entries = entries(&functions, &parse_breaks(BREAKS_TXT).unwrap());
        let mut names = entries.iter().map(|entry| entry.name.as_str()).collect();
        change(&mut names);
        updated(committed, &names).unwrap()
    }

    #[test]
    fn a_new_function_is_appended_wherever_it_is_in_the_manifest() {
        let same = update(SLOTS_TXT, |_| ());
        assert_eq!((same.text.as_str(), same.appended.len()), (SLOTS_TXT, 0));
        assert!(same.wrong.is_empty(), "{:?}", same.wrong);
        let more = update(SLOTS_TXT, |names| names.insert(0, "hipAardvark"));
        assert_eq!(more.appended, ["hipAardvark"]);
        assert_eq!(more.text, format!("{SLOTS_TXT}hipAardvark\n"));
        assert!(more.wrong.is_empty(), "{:?}", more.wrong);
    }

    #[test]
    fn a_place_that_moved_or_has_no_function_is_wrong() {
        let moved = SLOTS_TXT.replace("\nhipFree\nhipFreeArray\n", "\nhipFreeArray\nhipFree\n");
        let moved = update(&moved, |_| ());
        assert!(
            moved.wrong[0].contains("only appended"),
            "{:?}",
            moved.wrong
        );
        assert!(moved.appended.is_empty());
        let gone = update(SLOTS_TXT, |names| names.retain(|name| *name != "hipFree"));
        assert_eq!(gone.wrong.len(), 1, "{:?}", gone.wrong);
        assert!(gone.wrong[0].contains("hipFree,"), "{:?}", gone.wrong);
        assert_eq!(gone.text, SLOTS_TXT);
        let twice = format!("{SLOTS_TXT}hipFree\n");
        let error = updated(&twice, &[]).map(drop).unwrap_err().to_string();
        assert!(error.contains("hipFree has a place already"), "{error}");
    }
}
