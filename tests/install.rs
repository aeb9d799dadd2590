//! What `cargo xtask install` writes.

mod common;

#[path = "install/artefact.rs"]
mod artefact;
#[path = "install/badly_linked.rs"]
mod badly_linked;
#[path = "install/build_paths.rs"]
mod build_paths;
#[path = "install/cmake.rs"]
mod cmake;
#[path = "install/copies.rs"]
mod copies;
#[path = "install/header_version.rs"]
mod header_version;
#[path = "install/installed.rs"]
mod installed;
#[path = "install/licences.rs"]
mod licences;
#[path = "install/linkers.rs"]
mod linkers;
#[path = "install/table.rs"]
mod table;
#[path = "install/translation.rs"]
mod translation;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use artefact::{
    archive_is_closed, expected, expected_hidden, exports_on_node, exports_only, linked_well,
};
use common::{cc, root, run, scratch, text_of};
use fakehip::{Library, Version};
use installed::{Entry, entries, hiplazy, vendor};

fn args<const N: usize>(arguments: [&dyn AsRef<std::ffi::OsStr>; N]) -> Vec<OsString> {
    arguments
        .iter()
        .map(|argument| argument.as_ref().to_os_string())
        .collect()
}

fn source(name: &str) -> String {
    root()
        .join("tests/install")
        .join(name)
        .to_str()
        .unwrap()
        .to_string()
}

/// A folder with the fake HIP 7 runtime.
fn fake_runtime(folder: &Path) -> PathBuf {
    let built = fakehip::build(&folder.join("runtime"), &[Library::hip(Version::V7_14)]);
    built.unwrap().remove(0)
}

/// Runs `program` with a runtime of its own and no other.
fn run_with(program: &Path, runtime: &Path) -> String {
    run(common::fenced(program, &[runtime.parent().unwrap()]).env("HIPLAZY_RUNTIME", runtime))
}

#[test]
fn the_shared_library_exports_its_names_on_its_node_and_nothing_else() {
    let own = hiplazy().join("lib/libhiplazy.so.1");
    exports_on_node(&own, &expected("hiplazy_"), "HIPLAZY_1").unwrap();
    let vendor = vendor().join("lib/libtl_hip.so.1");
    exports_on_node(&vendor, &expected("tl_"), "TL_HIP_1").unwrap();
}

#[test]
fn the_shared_library_is_linked_for_good_and_needs_only_libc() {
    linked_well(&hiplazy().join("lib/libhiplazy.so.1"), "libhiplazy.so.1").unwrap();
    linked_well(&vendor().join("lib/libtl_hip.so.1"), "libtl_hip.so.1").unwrap();
    for (tree, link, target) in [
        (hiplazy(), "libhiplazy.so", "libhiplazy.so.1"),
        (vendor(), "libtl_hip.so", "libtl_hip.so.1"),
    ] {
        let found = fs::read_link(tree.join("lib").join(link)).unwrap();
        assert_eq!(found, Path::new(target));
    }
}

#[test]
fn the_archives_have_hidden_names_and_nothing_else() {
    for (archive, prefix, is_dropin) in [
        (hiplazy().join("lib/libhiplazy.a"), "hiplazy_", false),
        (hiplazy().join("lib/libhiplazy_dropin.a"), "hiplazy_", true),
        (vendor().join("lib/libtl_hip.a"), "tl_", false),
        (vendor().join("lib/libtl_hip_dropin.a"), "tl_", true),
    ] {
        // The drop-in archives have the prefixed names as well.
        let mut names = expected_hidden(prefix);
        if is_dropin {
            names.extend(artefact::functions());
        }
        let checked = archive_is_closed(&archive, &names);
        assert_eq!(checked, Ok(()), "{}", archive.display());
    }
}

/// An extension that uses the functions `names` of an archive, and what else `more` says.
fn extension(folder: &Path, names: &BTreeSet<String>, archive: &Path, more: &str) -> PathBuf {
    let mut text = String::from("typedef void (*function)(void);\n");
    for name in names {
        text += &format!("void {name}(void);\n");
    }
    text += "function const extension_table[] = {\n";
    for name in names {
        text += &format!("  {name},\n");
    }
    text += &format!("}};\n{more}");
    let file = folder.join("extension.c");
    fs::write(&file, text).unwrap();
    let library = folder.join("extension.so");
    // With every warning of the linker an error: two of the same name, an executable
    // stack, a text relocation.
    let arguments = args([
        &"-shared",
        &"-fPIC",
        &"-Wl,-z,defs,--fatal-warnings",
        &file,
        &archive,
    ]);
    cc(&[], &library, &arguments);
    library
}

#[test]
fn an_extension_exports_nothing_of_the_archive_it_links() {
    let prefixed = |prefix: &str| {
        let names = artefact::entries().into_iter();
        names.map(|name| format!("{prefix}{name}")).collect()
    };
    let mut dropin: BTreeSet<String> = prefixed("hiplazy_");
    dropin.extend(artefact::functions());
    for (name, names, archive) in [
        (
            "static",
            prefixed("hiplazy_"),
            hiplazy().join("lib/libhiplazy.a"),
        ),
        ("dropin", dropin, hiplazy().join("lib/libhiplazy_dropin.a")),
        ("vendor", prefixed("tl_"), vendor().join("lib/libtl_hip.a")),
    ] {
        let folder = scratch(&format!("install-extension-{name}"));
        let library = extension(&folder, &names, &archive, "");
        assert_eq!(
            exports_only(&library, &["extension_table"]),
            Ok(()),
            "{name}"
        );
    }
}

#[test]
fn a_leaked_hip_init_fails_the_checks() {
    let folder = scratch("install-leak");
    let leak = "int hipInit(unsigned flags);\nint hipInit(unsigned flags) { return (int)flags; }\n";
    let archive = hiplazy().join("lib/libhiplazy.a");
    let one = BTreeSet::from(["hiplazy_hipMalloc".to_string()]);
    let library = extension(&folder, &one, &archive, leak);
    let complaint = exports_only(&library, &["extension_table"]).unwrap_err();
    assert!(
        complaint.contains("not wanted: [\"hipInit\"]"),
        "{complaint}"
    );
    // The same in a library that passes for the installed one.
    let names = expected("hiplazy_");
    let complaint = exports_on_node(&library, &names, "HIPLAZY_1").unwrap_err();
    assert!(complaint.contains("hipInit"), "{complaint}");
    // And in an archive.
    let object = folder.join("leak.o");
    cc(&[], &object, &args([&"-c", &folder.join("extension.c")]));
    let leaking = folder.join("libleaking.a");
    run(Command::new("ar").arg("rcs").arg(&leaking).arg(&object));
    let complaint = archive_is_closed(&leaking, &names).unwrap_err();
    assert!(complaint.contains("hipInit is not hidden"), "{complaint}");
}

/// The command and what it writes about itself.
const COMMAND: [&str; 5] = [
    "bin/hiplazy",
    "share/bash-completion/completions/hiplazy",
    "share/fish/vendor_completions.d/hiplazy.fish",
    "share/man/man1/hiplazy.1",
    "share/zsh/site-functions/_hiplazy",
];

/// Every file of a tree, and no other.
#[test]
fn the_tree_is_complete() {
    for (tree, name) in [(hiplazy(), "hiplazy"), (vendor(), "tl_hip")] {
        let mut wanted = BTreeSet::from([
            format!("include/{name}/dispatch.h"),
            format!("include/{name}/hiplazy.h"),
            format!("include/{name}/redirect.h"),
            format!("include/{name}/rocm/hip/hip_common.h"),
            format!("include/{name}/rocm/hip/hip_runtime.h"),
            format!("include/{name}/rocm/hip/hip_runtime_api.h"),
            format!("include/{name}/rocm/hip/hip_version.h"),
            format!("include/{name}/rocm/hip/hiprtc.h"),
            format!("include/{name}/rocm/hsa/hsa.h"),
            format!("lib/cmake/{name}/{name}Config.cmake"),
            format!("lib/cmake/{name}/{name}ConfigVersion.cmake"),
            format!("lib/cmake/{name}/{name}Targets.cmake"),
            format!("lib/lib{name}.a"),
            format!("lib/lib{name}.so"),
            format!("lib/lib{name}.so.1"),
            format!("lib/lib{name}_dropin.a"),
            format!("lib/pkgconfig/{name}-dropin.pc"),
            format!("lib/pkgconfig/{name}-static.pc"),
            format!("lib/pkgconfig/{name}.pc"),
            format!("share/licenses/{name}/LICENSE"),
            format!("share/{name}/header_version.c"),
            format!("share/{name}/header_version.cpp"),
        ]);
        // The command is in one tree of a prefix only.
        if name == "hiplazy" {
            wanted.extend(COMMAND.map(str::to_string));
        }
        // Below it are other people's notices, which have a test of their own.
        let licences = format!("share/licenses/{name}/");
        let is_notice = |file: &String| {
            let below = file.strip_prefix(&licences);
            below.is_some_and(|file| file.contains('/'))
        };
        let mut found: BTreeSet<String> = entries(tree).into_keys().collect();
        found.retain(|file| !is_notice(file));
        let missing: Vec<_> = wanted.difference(&found).collect();
        let unlisted: Vec<_> = found.difference(&wanted).collect();
        assert!(
            missing.is_empty() && unlisted.is_empty(),
            "missing: {missing:?}, not listed here: {unlisted:?}"
        );
        for (file, entry) in entries(tree) {
            // Triton, vLLM and FlashInfer choose libraries by a part of their name.
            for part in ["libamdhip64", "libhip_stub", "libcudart"] {
                assert!(!file.contains(part), "{file}");
            }
            if let Entry::File { bytes, mode } = entry {
                assert!(!bytes.is_empty(), "{file}");
                let runs = file.contains(".so") || file.starts_with("bin/");
                let expected = if runs { 0o755 } else { 0o644 };
                assert_eq!(mode, expected, "{file}");
            }
        }
    }
}

#[test]
fn two_runs_write_the_same_bytes_and_no_path_of_the_build() {
    let again = scratch("install-again").join("elsewhere");
    run(&mut installed::task(&again));
    let (first, second) = (entries(hiplazy()), entries(&again));
    assert_eq!(
        first.keys().collect::<Vec<_>>(),
        second.keys().collect::<Vec<_>>()
    );
    let target = installed::target_folder();
    let scratch = env::temp_dir().join("hiplazy-install-");
    for (name, entry) in &first {
        // Not by assert_eq: a difference is a whole library.
        assert!(second[name] == *entry, "{name} differs");
        let Entry::File { bytes, .. } = entry else {
            continue;
        };
        // Of cargo's home and of Rust's own, whatever their folders are.
        let sources = [Path::new("/registry/src/"), Path::new("/rustlib/")];
        for path in [root(), hiplazy(), &target, &scratch]
            .into_iter()
            .chain(sources)
        {
            let path = path.to_str().unwrap().as_bytes();
            let found = bytes.windows(path.len()).any(|part| part == path);
            assert!(!found, "{name} contains {}", String::from_utf8_lossy(path));
        }
    }
}

/// A vendor's tree has no name of hiplazy's own, so that both can be in one process and
/// in one prefix.
#[test]
fn two_prefixes_share_no_file() {
    let own: BTreeSet<String> = entries(hiplazy()).into_keys().collect();
    let vendor: BTreeSet<String> = entries(vendor()).into_keys().collect();
    assert_eq!(
        own.intersection(&vendor).collect::<Vec<_>>(),
        Vec::<&String>::new()
    );
}

/// Copied to another place, everything still finds everything.
#[test]
fn a_moved_tree_works() {
    let folder = scratch("install-moved");
    let moved = folder.join("moved tree");
    run(Command::new("cp").arg("-a").arg(hiplazy()).arg(&moved));
    let lib = moved.join("lib");
    let runtime = fake_runtime(&folder);
    let unchanged = source("unchanged.c");
    let dropin = folder.join("dropin");
    cc(
        &[&unchanged],
        &dropin,
        &args([&lib.join("libhiplazy_dropin.a")]),
    );
    let redirect = moved.join("include/hiplazy/redirect.h");
    let archive = folder.join("static");
    let arguments = args([&"-include", &redirect, &lib.join("libhiplazy.a")]);
    cc(&[&unchanged], &archive, &arguments);
    let shared = folder.join("shared");
    let rpath = format!("-Wl,-rpath,{}", lib.display());
    let arguments = args([&"-include", &redirect, &"-L", &lib, &"-lhiplazy", &rpath]);
    cc(&[&unchanged], &shared, &arguments);
    for program in [dropin, archive, shared] {
        let headless = run(&mut common::fenced(&program, &[]));
        assert_eq!(headless, "hipErrorNoDevice 0\n", "{}", program.display());
        let bound = run_with(&program, &runtime);
        assert!(
            bound.starts_with("hipSuccess "),
            "{}: {bound}",
            program.display()
        );
        assert_ne!(bound, "hipSuccess 0\n");
    }
}

#[test]
fn pkg_config_finds_a_moved_tree() {
    if Command::new("pkg-config")
        .arg("--version")
        .output()
        .is_err()
    {
        common::skip("pkg_config_finds_a_moved_tree", "there is no pkg-config");
        return;
    }
    let folder = scratch("install-pkg-config");
    let moved = folder.join("moved tree");
    run(Command::new("cp").arg("-a").arg(hiplazy()).arg(&moved));
    let ask = |arguments: &[&str]| {
        // pkg-config quotes for a shell.
        let script = "eval \"set -- $(pkg-config \"$@\")\"; printf '%s\\n' \"$@\"";
        let answer = run(Command::new("sh")
            .args(["-c", script, "sh"])
            .args(arguments)
            .env("PKG_CONFIG_PATH", moved.join("lib/pkgconfig")));
        answer.lines().map(OsString::from).collect::<Vec<_>>()
    };
    for (package, static_too) in [
        ("hiplazy", false),
        ("hiplazy", true),
        ("hiplazy-static", false),
        ("hiplazy-dropin", false),
    ] {
        let mut question = vec!["--cflags", "--libs", package];
        if static_too {
            question.insert(0, "--static");
        }
        let mut arguments = ask(&question);
        if static_too {
            for private in ["-ldl", "-lpthread"] {
                assert!(
                    arguments.iter().any(|argument| argument == private),
                    "{arguments:?}"
                );
            }
            arguments.insert(0, "-Wl,-Bstatic".into());
            arguments.push("-Wl,-Bdynamic".into());
        }
        let mut rpath = OsString::from("-Wl,-rpath,");
        rpath.push(moved.join("lib"));
        arguments.push(rpath);
        let program = folder.join(format!("{package}-{static_too}"));
        cc(&[&source("unchanged.c")], &program, &arguments);
        let said = run(&mut common::fenced(&program, &[]));
        assert_eq!(said, "hipErrorNoDevice 0\n", "{question:?}");
        let record = ask(&["--variable=header_version_source", package]);
        assert!(Path::new(&record[0]).is_file(), "{record:?}");
    }
}

#[test]
fn destdir_comes_before_the_prefix() {
    let folder = scratch("install-destdir");
    run(installed::task(Path::new("/opt/some where")).env("DESTDIR", &folder));
    let staged = entries(&folder.join("opt/some where"));
    assert!(
        staged == entries(hiplazy()),
        "a staged tree is the same tree"
    );
    let refused = installed::task(Path::new("relative"))
        .env("DESTDIR", &folder)
        .output()
        .unwrap();
    assert!(!refused.status.success());
    assert!(
        text_of(&refused).contains("is relative, and DESTDIR is set"),
        "{}",
        text_of(&refused)
    );
}

#[test]
fn a_missing_tool_is_named_with_what_would_help() {
    // The task itself is built with the tools that there are.
    hiplazy();
    for (variable, purpose) in [
        ("CC", "links"),
        ("OBJCOPY", "symbols local"),
        ("AR", "archives"),
    ] {
        let folder = scratch("install-missing-tool");
        let output = installed::task(&folder.join("prefix"))
            .env(variable, "/nowhere/tool")
            .output()
            .unwrap();
        let text = text_of(&output);
        assert!(!output.status.success(), "{text}");
        let helpful = [
            "/nowhere/tool",
            purpose,
            &format!("name it with {variable}"),
        ];
        assert!(helpful.iter().all(|part| text.contains(part)), "{text}");
        assert!(!folder.join("prefix").exists(), "nothing is half installed");
    }
}

#[test]
fn a_vendor_prefix_that_is_somebody_elses_is_refused() {
    let folder = scratch("install-refused");
    for (prefix, why) in [
        ("hip_", "AMD's"),
        ("cudart_", "libcudart"),
        ("t-l_", "letters"),
    ] {
        let output = installed::task(&folder.join("prefix"))
            .args(["--vendor-prefix", prefix])
            .output()
            .unwrap();
        assert!(!output.status.success(), "{prefix}");
        assert!(text_of(&output).contains(why), "{}", text_of(&output));
    }
}
