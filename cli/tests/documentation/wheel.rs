//! What the README shows of a whole wheel.

use std::fs;

use xtask::fetch;

use crate::blocks::{blocks, difference};
use crate::common::hiplazy;
use crate::common::shared::{Fetched, root, there};

static WHEEL: Fetched = Fetched::new();

#[test]
fn the_readme_shows_what_lint_says_of_tilelang_s_wheel() {
    let wheel = "TileLang's wheel in the README";
    let Some(wheel) = there(wheel, &WHEEL, fetch::tilelang_0_1_10_wheel) else {
        return;
    };
    let page = fs::read_to_string(root().join("../README.md")).unwrap();
    let name = "tilelang-0.1.10.whl";
    let shown = blocks(&page)
        .into_iter()
        .find(|(language, text)| *language == "text" && text.starts_with(name));
    let (_, shown) = shown.unwrap();
    let mut lint = hiplazy();
    lint.current_dir(wheel.parent().unwrap())
        .args(["lint", name]);
    let output = lint.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        difference(shown, &String::from_utf8(output.stdout).unwrap()),
        None
    );
}
