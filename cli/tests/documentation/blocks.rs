//! The code blocks of a page, and how an output is held against one.

/// What a reader types, and what the page shows below it.
pub(crate) struct Command<'a> {
    pub(crate) text: &'a str,
    pub(crate) output: Option<&'a str>,
}

/// The code blocks of the page: language and text, in order.
pub(crate) fn blocks(page: &str) -> Vec<(&str, &str)> {
    let parts = page.split("\n```");
    // Every second part is inside of a block.
    let inside = parts.skip(1).step_by(2);
    inside.filter_map(|part| part.split_once('\n')).collect()
}

/// The commands of the page with their outputs; an output without a command is a fault
/// of the page.
#[track_caller]
pub(crate) fn commands(page: &str) -> Vec<Command<'_>> {
    let mut commands = Vec::<Command<'_>>::new();
    for (language, text) in blocks(page) {
        match language {
            "sh" => commands.push(Command { text, output: None }),
            "text" => {
                let command = commands.last_mut().filter(|it| it.output.is_none());
                let command = command.unwrap_or_else(|| panic!("of which command?\n{text}"));
                command.output = Some(text);
            }
            _ => {}
        }
    }
    commands
}

/// The words of a command line, up to a pipe.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for character in line.chars() {
        let word = words.last_mut().unwrap();
        match (quote, character) {
            (None, '|') => break,
            (None, ' ') if !word.is_empty() => words.push(String::new()),
            (None, ' ') => {}
            (None, '"' | '\'') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            _ => word.push(character),
        }
    }
    words.retain(|word| !word.is_empty());
    words
        .into_iter()
        .skip_while(|word| word.contains('='))
        .collect()
}

/// Where an output differs from what the page shows, if it does: a line `...` of the page
/// is any number of lines.
pub(crate) fn difference(shown: &str, printed: &str) -> Option<String> {
    let shown: Vec<String> = shown.lines().map(|line| plain(line.trim_end())).collect();
    let printed: Vec<String> = printed.lines().map(|line| plain(line.trim_end())).collect();
    let mut rest = printed.as_slice();
    let mut parts = shown.split(|line| line == "...").peekable();
    let mut is_first = true;
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        let places = rest.windows(part.len().max(1));
        let found = match (part.is_empty(), is_first, is_last) {
            (true, ..) => Some(0),
            (_, true, _) => rest.starts_with(part).then_some(0),
            (_, _, true) => rest.ends_with(part).then(|| rest.len() - part.len()),
            _ => places.into_iter().position(|window| window == part),
        };
        let Some(place) = found else {
            return Some(format!(
                "not there:\n{}\nin\n{}",
                part.join("\n"),
                rest.join("\n")
            ));
        };
        rest = &rest[place + part.len()..];
        let ends_in_gap = part.is_empty() && !is_first;
        if is_last && !rest.is_empty() && !ends_in_gap {
            return Some(format!("not shown:\n{}", rest.join("\n")));
        }
        is_first = false;
    }
    None
}

/// A line without the numbers that are of one machine's Python, or of one run.
fn plain(line: &str) -> String {
    let mut line = line.to_string();
    for before in ["Looked at ", "process ", "(number ", ": number "] {
        without_number_after(&mut line, before);
    }
    // "(1 process, 28367 bindings)": Python may be a script that starts it.
    if let Some(end) = line.find(" bindings)")
        && let Some(start) = line[..end].rfind(" (")
    {
        line.replace_range(start + 2..end, "N");
    }
    line
}

fn without_number_after(line: &mut String, before: &str) {
    if let Some(at) = line.find(before) {
        let start = at + before.len();
        let digits = line[start..].bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 {
            line.replace_range(start..start + digits, "N");
        }
    }
}

#[test]
fn outputs_are_compared_around_gaps() {
    for (shown, printed, same) in [
        ("a\nb", "a\nb\n", true),
        ("a\nb", "a\nb\nc", false),
        ("a", "b", false),
        ("a\n...", "a\nb\nc", true),
        ("...\nc", "a\nb\nc", true),
        ("...\nc", "a\nc\nb", false),
        ("a\n...\nc\n...", "a\nb\nc\nd", true),
        ("a\n...\nx\n...", "a\nb\nc\nd", false),
        ("a\n...\nb", "a\nb", true),
        ("a, ...", "a, b", false),
        ("Looked at 3 objects", "Looked at 27 objects", true),
        (
            "x (process 1) (2 processes, 30 bindings): y",
            "x (process 7) (1 process, 4 bindings): y",
            true,
        ),
        (
            "process 1 (a): 2 conflicts",
            "process 7 (a): 3 conflicts",
            false,
        ),
    ] {
        assert_eq!(
            difference(shown, printed).is_none(),
            same,
            "{shown:?} {printed:?}"
        );
    }
}

#[test]
fn quoted_words_are_one() {
    assert_eq!(
        words("A=b hiplazy explain \"a b\" 'c d' | jq -r x"),
        ["hiplazy", "explain", "a b", "c d"]
    );
}
