//! A page in headless Chromium.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::shared;
use xtask::fetch;

/// The browser, or a visible skip.
pub(crate) fn chromium() -> Option<PathBuf> {
    let found = fetch::tool("chromium");
    found
        .map_err(|missing| shared::skip("the page in a browser", &missing.to_string()))
        .ok()
}

/// What the browser made of a page.
pub(crate) struct Opened {
    /// The document as it is after its scripts.
    pub(crate) dom: String,
    /// What the page wrote to the console: errors, and what the policy refused.
    pub(crate) console: Vec<String>,
}

fn start(chromium: &Path, folder: &Path) -> Command {
    let mut command = Command::new(chromium);
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--hide-scrollbars",
        "--enable-logging=stderr",
        "--virtual-time-budget=4000",
    ]);
    command.arg(format!(
        "--user-data-dir={}",
        folder.join("profile").display()
    ));
    command.env("HOME", folder);
    command
}

/// Opens a page; `search` is what the address says after `#q=`.
pub(crate) fn open(chromium: &Path, folder: &Path, page: &str, search: &str) -> Opened {
    open_with(&[], chromium, folder, page, search)
}

/// The same with options of the browser.
pub(crate) fn open_with(
    options: &[&str],
    chromium: &Path,
    folder: &Path,
    page: &str,
    search: &str,
) -> Opened {
    let file = folder.join("page.html");
    fs::write(&file, page).unwrap();
    let mut address = format!("file://{}", file.display());
    if !search.is_empty() {
        address.push_str("#q=");
        address.push_str(search);
    }
    let output = start(chromium, folder)
        .args(options)
        .args(["--window-size=1400,1000", "--dump-dom"])
        .arg(address)
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(dom.contains("</html>"), "no document:\n{log}");
    Opened {
        dom,
        console: log
            .lines()
            .filter(|line| line.contains("CONSOLE"))
            .map(str::to_string)
            .collect(),
    }
}

impl Opened {
    /// How many objects have a mark of their own in the picture.
    pub(crate) fn nodes(&self) -> usize {
        self.dom.matches(" data-node=\"").count()
    }

    /// How many objects are drawn as one with others.
    pub(crate) fn collapsed(&self) -> usize {
        let more = self.dom.split(" data-more=\"").skip(1);
        more.map(|rest| rest.split('"').next().unwrap().parse::<usize>().unwrap())
            .sum()
    }

    /// How many lines of the picture have a class.
    pub(crate) fn edges(&self, class: &str) -> usize {
        let paths = self.dom.split("<path class=\"edge").skip(1);
        paths
            .filter(|rest| rest.split('"').next().unwrap().contains(class))
            .count()
    }

    /// The text of the element with this id.
    pub(crate) fn text(&self, id: &str) -> &str {
        let (_, rest) = self.dom.split_once(&format!("id=\"{id}\"")).unwrap();
        let (_, rest) = rest.split_once('>').unwrap();
        rest.split('<').next().unwrap()
    }
}
