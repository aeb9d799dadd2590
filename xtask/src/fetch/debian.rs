//! Debian packages: installed ones in place, others unpacked into the cache.
//!
//! Packages of another suite are downloaded with an apt configuration of their
//! own: the machine's package lists and installed packages are left alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::fetch::command::run;
use crate::fetch::{Missing, library_in, store};

/// A HIP version that a Debian suite has.
pub(crate) struct Release {
    suite: &'static str,
    /// Another suite that the first one's packages may need packages of.
    base: Option<&'static str>,
    headers: &'static str,
    header_package: &'static str,
    runtime: &'static str,
    runtime_package: &'static str,
}

const V5_2: Release = Release {
    suite: "bookworm",
    base: None,
    headers: "headers-5.2",
    header_package: "libamdhip64-dev",
    runtime: "runtime-5.2",
    runtime_package: "libamdhip64-5",
};

/// HIP 5.7.1.
pub(crate) const V5_7: Release = Release {
    suite: "trixie",
    base: None,
    headers: "headers-5.7",
    header_package: "libamdhip64-dev",
    runtime: "runtime-5.7",
    runtime_package: "libamdhip64-5",
};

/// HIP 6.4.3.
pub(crate) const V6_4: Release = Release {
    suite: "sid",
    base: None,
    headers: "headers-6.4",
    header_package: "libamdhip64-dev",
    runtime: "runtime-6.4",
    runtime_package: "libamdhip64-6",
};

/// HIP 7.2.4.
pub(crate) const V7_2: Release = Release {
    suite: "experimental",
    base: Some("sid"),
    headers: "headers-7.2",
    header_package: "libamdhip64-dev",
    runtime: "runtime-7.2",
    runtime_package: "libamdhip64-7",
};

/// Where Debian's libraries lie below a root folder.
const LIBRARIES: &str = "usr/lib/x86_64-linux-gnu";

/// The include folder of a release's headers, in the cache.
pub(crate) fn headers(release: &Release) -> Result<PathBuf, Missing> {
    let folder = store::folder(release.headers, |content| {
        let missing = |why: String| Missing::new(release.headers, why);
        let apt = Apt::of(release, content).map_err(missing)?;
        let package = release.header_package;
        apt.download(package)
            .and_then(|files| unpack(&files, content))
            .map_err(|why| missing(format!("Debian {} {package}: {why}", release.suite)))?;
        expect(content, "usr/include/hip/hip_runtime_api.h").map_err(missing)
    })?;
    Ok(folder.join("usr/include"))
}

/// The runtime of a release with everything it needs, C library and dynamic
/// linker included: Debian's newer suites want a newer glibc than the machine's.
/// Run a client with the folder's own `ld-linux-x86-64.so.2 --library-path`.
pub(crate) fn runtime(release: &Release) -> Result<PathBuf, Missing> {
    let folder = store::folder(release.runtime, |content| {
        unpack_runtime(release, content, Installed::Nothing)
    })?;
    library_in(&folder.join(LIBRARIES), "libamdhip64.so.")
}

/// The 5.2.3 headers, installed or in the cache.
pub(crate) fn headers_5_2() -> Result<PathBuf, Missing> {
    let include = Path::new("/usr/include");
    let version = fs::read_to_string(include.join("hip/hip_version.h")).unwrap_or_default();
    let has = |line: &str| version.lines().any(|text| text.trim() == line);
    if has("#define HIP_VERSION_MAJOR 5") && has("#define HIP_VERSION_MINOR 2") {
        return Ok(include.to_path_buf());
    }
    headers(&V5_2)
}

/// The 5.2.3 runtime: installed, else in the cache, else installed now if this
/// process may, else unpacked into the cache.
pub(crate) fn runtime_5_2() -> Result<PathBuf, Missing> {
    if let Some(library) = installed_runtime_5_2() {
        return Ok(library);
    }
    let cached = store::cache()?.join(V5_2.runtime).join(LIBRARIES);
    if let Ok(library) = library_in(&cached, "libamdhip64.so.5") {
        return Ok(library);
    }
    // dpkg has a lock of its own and fails when it is taken.
    let lock = store::lock("install-runtime-5.2")?;
    if let Some(library) = installed_runtime_5_2() {
        return Ok(library);
    }
    let install = install_runtime_5_2();
    if install.is_ok()
        && let Some(library) = installed_runtime_5_2()
    {
        return Ok(library);
    }
    drop(lock);
    let earlier = Missing::new(
        V5_2.runtime,
        install
            .err()
            .unwrap_or_else(|| "installed, and not found".to_string()),
    );
    let unpacked = store::folder(V5_2.runtime, |content| {
        unpack_runtime(&V5_2, content, Installed::OfThisMachine)
    });
    let folder = unpacked.map_err(|missing| missing.after(&earlier))?;
    library_in(&folder.join(LIBRARIES), "libamdhip64.so.5")
}

fn installed_runtime_5_2() -> Option<PathBuf> {
    let library = Path::new("/").join(LIBRARIES).join("libamdhip64.so.5");
    // The SONAME is that of every 5.x; the file behind it names the release.
    let file = fs::canonicalize(&library).ok()?;
    let name = file.file_name()?.to_str()?.to_string();
    name.starts_with("libamdhip64.so.5.2.").then_some(library)
}

fn install_runtime_5_2() -> Result<(), String> {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    if !release
        .lines()
        .any(|line| line == "VERSION_CODENAME=bookworm")
    {
        return Err("not installed: this is not Debian bookworm".to_string());
    }
    install(&[V5_2.runtime_package])
}

/// Installs packages of this machine's own distribution, if this process may.
pub(crate) fn install(packages: &[&str]) -> Result<(), String> {
    let list = packages.join(" ");
    let user = run(Command::new("id").arg("-u"))?;
    if user.trim() != "0" {
        return Err(format!(
            "not installed, and only root can (apt-get install {list})"
        ));
    }
    eprintln!("fetch: apt-get install {list} ...");
    let install = || {
        run(Command::new("apt-get")
            // Somebody else may be installing just now.
            .args(["-o", "DPkg::Lock::Timeout=300"])
            .args(["install", "-qq", "-y", "--no-install-recommends"])
            .args(packages)
            .env("DEBIAN_FRONTEND", "noninteractive"))
    };
    // A container image often comes without package lists.
    install()
        .or_else(|_| run(Command::new("apt-get").args(["update", "-qq"])).and_then(|_| install()))
        .map(drop)
}

/// Which packages a download may leave out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Installed {
    /// None: the result has to run with its own C library.
    Nothing,
    /// Those of this machine: the result runs with its C library.
    OfThisMachine,
}

fn unpack_runtime(release: &Release, content: &Path, installed: Installed) -> Result<(), Missing> {
    let missing = |why: String| {
        Missing::new(
            release.runtime,
            format!(
                "Debian {} {}: {why}",
                release.suite, release.runtime_package
            ),
        )
    };
    let apt = Apt::of(release, content).map_err(missing)?;
    let files = apt
        .download_with_dependencies(release.runtime_package, installed)
        .map_err(missing)?;
    unpack(&files, content).map_err(missing)?;
    let folder = content.join(LIBRARIES);
    library_in(&folder, "libamdhip64.so.")
        .map(drop)
        .map_err(|_| missing(format!("no libamdhip64.so.* in {LIBRARIES}")))
}

/// apt with package lists of one suite in a temporary folder.
struct Apt {
    folder: tempfile::TempDir,
    suite: &'static str,
}

impl Apt {
    fn of(release: &Release, content: &Path) -> Result<Apt, String> {
        let folder = tempfile::tempdir_in(content.parent().unwrap_or(content))
            .map_err(|error| format!("no folder for apt: {error}"))?;
        for path in ["lists/partial", "cache/archives/partial", "none"] {
            fs::create_dir_all(folder.path().join(path)).map_err(|error| error.to_string())?;
        }
        let mirror = mirror()?;
        let sources: String = std::iter::once(release.suite)
            .chain(release.base)
            .map(|suite| format!("deb {mirror} {suite} main\n"))
            .collect();
        fs::write(folder.path().join("sources.list"), sources)
            .and_then(|()| fs::write(folder.path().join("status"), ""))
            .map_err(|error| error.to_string())?;
        let apt = Apt {
            folder,
            suite: release.suite,
        };
        run(apt.get().args(["update", "-qq"]))?;
        Ok(apt)
    }

    /// `apt-get` with this configuration and nothing of the machine's.
    fn get(&self) -> Command {
        let root = self.folder.path();
        let mut command = Command::new("apt-get");
        let options = [
            format!(
                "Dir::Etc::sourcelist={}",
                root.join("sources.list").display()
            ),
            format!("Dir::Etc::sourceparts={}", root.join("none").display()),
            format!("Dir::Etc::preferencesparts={}", root.join("none").display()),
            format!("Dir::State::lists={}", root.join("lists").display()),
            format!("Dir::Cache={}", root.join("cache").display()),
            format!("APT::Default-Release={}", self.suite),
            // The folders belong to whoever runs this, not to apt's own user.
            "APT::Sandbox::User=root".to_string(),
            "Debug::NoLocking=1".to_string(),
        ];
        for option in options {
            command.args(["-o", &option]);
        }
        command
    }

    fn download(&self, package: &str) -> Result<Vec<PathBuf>, String> {
        let folder = self.folder.path().join("download");
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        run(self
            .get()
            .args(["download", "-qq", package])
            .current_dir(&folder))?;
        packages_in(&folder)
    }

    fn download_with_dependencies(
        &self,
        package: &str,
        installed: Installed,
    ) -> Result<Vec<PathBuf>, String> {
        let mut command = self.get();
        if installed == Installed::Nothing {
            let status = self.folder.path().join("status");
            command.args(["-o", &format!("Dir::State::status={}", status.display())]);
        }
        run(command.args([
            "install",
            "-qq",
            "-y",
            "--download-only",
            "--no-install-recommends",
            package,
        ]))?;
        packages_in(&self.folder.path().join("cache/archives"))
    }
}

/// The mirror that this machine uses for Debian's main archive.
fn mirror() -> Result<String, String> {
    let targets = run(Command::new("apt-get").args([
        "indextargets",
        "--format",
        "$(ORIGIN) $(LABEL) $(REPO_URI)",
    ]))
    .map_err(|why| format!("{why}; this needs Debian's apt"))?;
    targets
        .lines()
        .find_map(|line| line.strip_prefix("Debian Debian "))
        .map(str::to_string)
        .ok_or_else(|| {
            "apt has no package lists of Debian's main archive; run apt-get update".to_string()
        })
}

fn packages_in(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .map_err(|error| format!("{}: {error}", folder.display()))?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "deb"))
        .collect();
    files.sort();
    if files.is_empty() {
        return Err("apt downloaded nothing".to_string());
    }
    Ok(files)
}

fn unpack(packages: &[PathBuf], folder: &Path) -> Result<(), String> {
    for package in packages {
        run(Command::new("dpkg-deb").arg("-x").arg(package).arg(folder))?;
    }
    Ok(())
}

fn expect(folder: &Path, file: &str) -> Result<(), String> {
    if folder.join(file).is_file() {
        return Ok(());
    }
    Err(format!("the packages have no {file}"))
}
