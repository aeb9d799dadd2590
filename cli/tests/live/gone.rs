//! Libraries whose files were deleted or replaced while a process has them mapped.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::shared;
use crate::running::{Waiting, binding, built, file, json, library, rules};
use serde_json::Value;

const PROPERTIES: &str = "hipGetDevicePropertiesR0600";

/// Nobody: not root, who may read mapped files that have no name any more.
const ORDINARY: u32 = 65534;

/// A folder that every user may look into, with the command, the driver and what it opens.
struct Place {
    folder: tempfile::TempDir,
    /// Where its libraries are compiled.
    scratch: PathBuf,
}

impl Place {
    fn new(test: &str) -> Place {
        let folder = tempfile::tempdir().unwrap();
        let scratch = shared::scratch(test);
        let place = Place { folder, scratch };
        fs::set_permissions(place.path(""), fs::Permissions::from_mode(0o755)).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_hiplazy"), place.path("hiplazy")).unwrap();
        for (from, name) in [
            (&built().runtime, "libamdhip64.so.7"),
            (&built().folder, "driver"),
            (&built().folder, "client.so"),
        ] {
            fs::copy(from.join(name), place.path(name)).unwrap();
        }
        let text = format!(
            "int {PROPERTIES}(void *properties, int device) {{ return properties ? device : 1; }}\n"
        );
        let stub = library(&place.scratch, "libhip_stub.so", &text, &[]);
        fs::copy(stub, place.path("libhip_stub.so")).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A program of the place, as an ordinary user whoever the test is.
    fn command(&self, name: &str) -> Command {
        let mut command = shared::clean(&self.path(name));
        command.current_dir("/");
        command.env("LD_LIBRARY_PATH", self.folder.path());
        // SAFETY: takes nothing and cannot fail.
        if unsafe { libc::getuid() } == 0 {
            command.uid(ORDINARY).gid(ORDINARY);
        }
        command
    }

    /// The stub globally, and then the client.
    fn start(&self) -> Waiting {
        self.start_with("now,local")
    }

    /// The same, with flags for the client.
    fn start_with(&self, flags: &str) -> Waiting {
        let mut driver = self.command("driver");
        for (name, flags) in [("libhip_stub.so", "now,global"), ("client.so", flags)] {
            driver.args(["open", name]).arg(self.path(name)).arg(flags);
        }
        Waiting::start(driver.arg("wait"))
    }

    fn doctor(&self, pid: u32) -> Output {
        let mut doctor = self.command("hiplazy");
        doctor.args(["doctor", "--json", "--pid", &pid.to_string()]);
        doctor.output().unwrap()
    }

    /// Puts another library there in the way of installers: the old file loses its name.
    fn replace(&self, name: &str, text: &str) {
        let new = library(&self.scratch, name, text, &[]);
        fs::remove_file(self.path(name)).unwrap();
        fs::copy(new, self.path(name)).unwrap();
    }
}

/// Why a file was not looked at.
fn why<'r>(report: &'r Value, name: &str) -> Option<&'r str> {
    let mut unreadable = report["unreadable"].as_array().unwrap().iter();
    let found = unreadable.find(|line| file(&line["path"]) == name)?;
    found["why"].as_str()
}

/// The names that bindings of an object have.
fn names<'r>(report: &'r Value, object: &str) -> Vec<&'r str> {
    let bindings = report["bindings"].as_array().unwrap().iter();
    bindings
        .filter(|binding| file(&binding["object"]) == object)
        .map(|binding| binding["name"].as_str().unwrap())
        .collect()
}

/// Whether a circumstance is told of a file.
fn told(report: &Value, what: &str, path: &Path) -> bool {
    let mut hazards = report["hazards"].as_array().unwrap().iter();
    hazards.any(|hazard| {
        let detail = hazard["detail"].as_str().unwrap();
        hazard["what"] == what && detail.starts_with(path.to_str().unwrap())
    })
}

/// The mapped one has no name any more, and the new one says nothing about it: what the
/// process has in memory does, also to who may not open files without a name.
#[test]
fn a_provider_whose_file_is_gone_is_still_named() {
    let place = Place::new("gone_provider");
    let waiting = place.start();
    let stub = place.path("libhip_stub.so");
    let before = json(&place.doctor(waiting.pid()));
    assert!(!told(&before, "unread library", &stub));
    place.replace("libhip_stub.so", "int other(void) { return 1; }\n");
    let output = place.doctor(waiting.pid());
    let report = json(&output);
    let bound = binding(&report, "client.so", PROPERTIES);
    assert_eq!(bound, ("bound".into(), "libhip_stub.so".into()));
    assert!(rules(&report).contains(&"wrong-provider".to_string()));
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(why(&report, "libhip_stub.so"), None);
    assert!(!told(&report, "unread library", &stub));
    assert!(
        told(&report, "replaced file", &stub),
        "{}",
        report["hazards"]
    );
    assert_eq!(report["exporters"], before["exporters"]);
    assert_eq!(report["forecast"], before["forecast"]);
}

#[test]
fn a_client_whose_file_was_replaced_is_not_read_from_the_new_one() {
    let place = Place::new("gone_client");
    for (flags, state) in [("now,local", "bound"), ("lazy,local", "lazy")] {
        let waiting = place.start_with(flags);
        place.replace(
            "client.so",
            "int hipFree(void *);\nint other(void) { return hipFree(0); }\n",
        );
        let report = json(&place.doctor(waiting.pid()));
        assert_eq!(why(&report, "client.so"), None);
        assert_eq!(names(&report, "client.so"), [PROPERTIES]);
        let bound = binding(&report, "client.so", PROPERTIES);
        assert_eq!(bound, (state.into(), "libhip_stub.so".into()));
        assert!(report["clients"].to_string().contains("client.so"));
        fs::copy(built().folder.join("client.so"), place.path("client.so")).unwrap();
    }
}

/// All of it: what calls, what answers, and what should.
#[test]
fn a_process_whose_libraries_are_all_gone_is_judged_as_before() {
    let place = Place::new("gone_all");
    let waiting = place.start();
    let before = json(&place.doctor(waiting.pid()));
    for name in ["client.so", "libhip_stub.so", "libamdhip64.so.7", "driver"] {
        fs::remove_file(place.path(name)).unwrap();
    }
    let report = json(&place.doctor(waiting.pid()));
    for section in [
        "runtimes",
        "exporters",
        "bindings",
        "forecast",
        "clients",
        "findings",
    ] {
        assert_eq!(report[section], before[section], "{section}");
    }
    assert_eq!(report["unreadable"], Value::Array(Vec::new()));
}

/// Root may read what is mapped although it has no name any more.
#[test]
fn root_reads_the_file_that_is_mapped_and_is_told_that_it_was_replaced() {
    // SAFETY: takes nothing and cannot fail.
    if unsafe { libc::getuid() } != 0 {
        shared::skip(
            "a replaced file that is read",
            "only root may follow map_files",
        );
        return;
    }
    let place = Place::new("gone_root");
    let waiting = place.start();
    let before = waiting.report();
    assert!(!told(&before, "replaced file", &place.path("client.so")));
    place.replace(
        "client.so",
        "int hipFree(void *);\nint other(void) { return hipFree(0); }\n",
    );
    let report = waiting.report();
    assert_eq!(why(&report, "client.so"), None);
    assert_eq!(names(&report, "client.so"), [PROPERTIES]);
    assert!(
        told(&report, "replaced file", &place.path("client.so")),
        "{}",
        report["hazards"]
    );
}

/// A library whose file is gone and whose headers are as well, as hostile ones have it.
const WITHOUT_HEADERS: &str = r#"
#include <string.h>
#include <sys/mman.h>
extern char __ehdr_start[] __attribute__((visibility("hidden")));
int hipInit(unsigned flags) { return (int)flags; }
__attribute__((constructor)) static void clear(void)
{
    if (!mprotect(__ehdr_start, 4096, PROT_READ | PROT_WRITE))
        memset(__ehdr_start, 0, 64);
}
"#;

/// Whoever may have the name and could not be read is not passed over.
#[test]
fn the_forecast_is_not_known_behind_a_library_that_could_not_be_read() {
    let place = Place::new("gone_forecast");
    let name = "libamdhip64.so.7";
    place.replace(name, WITHOUT_HEADERS);
    let mut driver = place.command("driver");
    for name in [name, "libhip_stub.so"] {
        driver
            .args(["open", name])
            .arg(place.path(name))
            .arg("now,global");
    }
    driver.args(["open", "client"]).arg(place.path("client.so"));
    let waiting = Waiting::start(driver.args(["lazy,local", "wait"]));
    let forecast = |report: &Value, name: &str| {
        let mut lines = report["forecast"].as_array().unwrap().iter();
        lines.find(|line| line["name"] == name).unwrap().clone()
    };
    let before = json(&place.doctor(waiting.pid()));
    assert_eq!(forecast(&before, PROPERTIES)["known"], true);
    assert_eq!(
        file(&forecast(&before, PROPERTIES)["provider"]),
        "libhip_stub.so"
    );
    let lazily = |provider: &str| ("lazy".to_string(), provider.to_string());
    assert_eq!(
        binding(&before, "client.so", PROPERTIES),
        lazily("libhip_stub.so")
    );
    place.replace(name, "int other(void) { return 1; }\n");
    let report = json(&place.doctor(waiting.pid()));
    assert_eq!(binding(&report, "client.so", PROPERTIES), lazily("nobody"));
    let path = place.path(name);
    assert!(
        told(&report, "unread library", &path),
        "{}",
        report["hazards"]
    );
    for (name, behind) in [("hipMalloc", ""), (PROPERTIES, "libhip_stub.so has it")] {
        let line = forecast(&report, name);
        assert_eq!(line["known"], false, "{line}");
        assert_eq!(line["provider"], Value::Null);
        let why = line["why"].as_str().unwrap();
        assert!(
            why.starts_with(&format!("not known: {}, number ", path.display())),
            "{why}"
        );
        assert!(why.ends_with(behind), "{why}");
    }
    let mut doctor = place.command("hiplazy");
    doctor.args(["doctor", "-vv", "--pid", &waiting.pid().to_string()]);
    let text = shared::text_of(&doctor.output().unwrap());
    assert!(
        text.contains("not bound yet, would get what could not be read"),
        "{text}"
    );
    assert!(
        text.contains("what hipMalloc@hip_4.2 gets is not known"),
        "{text}"
    );
}

/// The kernel writes the same behind the name of a file that is gone.
#[test]
fn a_file_may_be_called_deleted() {
    let place = Place::new("gone_called");
    let called = "client.so (deleted)";
    fs::copy(place.path("client.so"), place.path(called)).unwrap();
    let mut driver = place.command("driver");
    driver.args(["open", "client"]).arg(place.path(called));
    let waiting = Waiting::start(driver.args(["now,local", "wait"]));
    let report = json(&place.doctor(waiting.pid()));
    let bound = binding(&report, called, PROPERTIES);
    assert_eq!(bound, ("bound".into(), "libamdhip64.so.7".into()));
    assert_eq!(why(&report, called), None);
    assert!(!told(&report, "replaced file", &place.path("client.so")));
    // And then it is gone indeed.
    fs::remove_file(place.path(called)).unwrap();
    let report = json(&place.doctor(waiting.pid()));
    let gone = |what| told(&report, what, &place.path(called));
    assert!(
        gone("replaced file") || why(&report, called).is_some(),
        "{report:#}"
    );
}
