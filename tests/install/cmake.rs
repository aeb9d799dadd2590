//! The CMake package, from a moved tree.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::{self, run, scratch, text_of};
use crate::header_version::{hip_headers, two_majors};
use crate::installed::{hiplazy, vendor};
use crate::{fake_runtime, run_with, source};

/// Says so and gives true where there is no CMake.
fn without_cmake(test: &str) -> bool {
    let without = Command::new("cmake").arg("--version").output().is_err();
    if without {
        common::skip(test, "there is no cmake");
    }
    without
}

/// A copy of an installed tree that the original cannot stand in for.
fn moved(folder: &Path, tree: &Path) -> PathBuf {
    let moved = folder.join("moved tree");
    run(Command::new("cp").arg("-a").arg(tree).arg(&moved));
    moved
}

fn configure(folder: &Path, list: &str, arguments: &[String]) -> Output {
    let project = folder.join("project");
    fs::create_dir_all(&project).unwrap();
    fs::write(project.join("CMakeLists.txt"), list).unwrap();
    Command::new("cmake")
        .arg("-S")
        .arg(&project)
        .arg("-B")
        .arg(folder.join("build"))
        .args(["-G", "Unix Makefiles"])
        .args(arguments)
        .output()
        .unwrap()
}

/// Configures and builds, and gives the folder of what was built.
#[track_caller]
fn build(folder: &Path, list: &str, arguments: &[String]) -> PathBuf {
    let configured = configure(folder, list, arguments);
    assert!(configured.status.success(), "{}", text_of(&configured));
    let built = folder.join("build");
    run(Command::new("cmake")
        .arg("--build")
        .arg(&built)
        .arg("--verbose"));
    built
}

#[test]
fn every_target_of_a_moved_package_builds_and_binds() {
    if without_cmake("every_target_of_a_moved_package_builds_and_binds") {
        return;
    }
    for (package, tree) in [("hiplazy", hiplazy()), ("tl_hip", vendor())] {
        let folder = scratch(&format!("install-cmake-{package}"));
        let tree = moved(&folder, tree);
        let runtime = fake_runtime(&folder);
        let targets = [package, "static", "dropin"];
        let mut list = format!(
            "cmake_minimum_required(VERSION 3.15)\nproject(one LANGUAGES C)\n\
             find_package({package} 0.1 REQUIRED)\n"
        );
        for target in targets {
            list += &format!(
                "add_executable({target} \"{}\")\n\
                 target_link_libraries({target} PRIVATE {package}::{target})\n",
                source("unchanged.c")
            );
        }
        let prefix = format!("-DCMAKE_PREFIX_PATH={}", tree.display());
        let built = build(&folder, &list, &[prefix]);
        for target in targets {
            let program = built.join(target);
            let headless = run(&mut common::fenced(&program, &[]));
            assert_eq!(headless, "hipErrorNoDevice 0\n", "{package}::{target}");
            let bound = run_with(&program, &runtime);
            assert!(bound.starts_with("hipSuccess "), "{target}: {bound}");
        }
    }
}

/// A C++ project that looks for HIP unless a variable names it, has old policies, and has
/// never heard of hiplazy.
#[test]
fn a_library_variable_may_name_a_target() {
    if without_cmake("a_library_variable_may_name_a_target") {
        return;
    }
    let folder = scratch("install-cmake-variable");
    let tree = moved(&folder, hiplazy());
    let list = format!(
        "cmake_minimum_required(VERSION 3.2)\nproject(other LANGUAGES CXX)\n\
         find_library(ROCM_HIPHCC_LIBRARY amdhip64)\n\
         add_subdirectory(inner)\n\
         add_executable(other \"{}\")\n\
         target_link_libraries(other PRIVATE ${{ROCM_HIPHCC_LIBRARY}} inner)\n",
        source("versions.cpp")
    );
    // A project of its own, as vendored dependencies are, that links the same thing.
    let inner = folder.join("project/inner");
    fs::create_dir_all(&inner).unwrap();
    fs::write(
        inner.join("CMakeLists.txt"),
        "project(inner LANGUAGES CXX)\nadd_library(inner STATIC inner.cpp)\n\
         target_link_libraries(inner PUBLIC ${ROCM_HIPHCC_LIBRARY})\n",
    )
    .unwrap();
    fs::write(inner.join("inner.cpp"), "int inner() { return 0; }\n").unwrap();
    for target in ["dropin", "static", "hiplazy"] {
        let config = tree.join("lib/cmake/hiplazy/hiplazyConfig.cmake");
        let arguments = [
            format!("-DCMAKE_PROJECT_INCLUDE={}", config.display()),
            format!("-DROCM_HIPHCC_LIBRARY=hiplazy::{target}"),
        ];
        let built = build(&folder, &list, &arguments);
        let said = run(&mut common::fenced(&built.join("other"), &[]));
        // Compiled with hiplazy's own headers, since there are no others.
        assert_eq!(said, "71460850 71460850\n", "{target}");
    }
}

/// HIP's users are in a static library, as a project's core often is, and ask for hiplazy
/// PRIVATE: the linker takes the record out of that library all the same.
#[test]
fn the_recorded_major_of_a_private_static_library_is_preferred() {
    if without_cmake("the_recorded_major_of_a_private_static_library_is_preferred") {
        return;
    }
    let folder = scratch("install-cmake-private");
    let tree = moved(&folder, hiplazy());
    let (runtimes, expected) = two_majors(&folder);
    let headers = hip_headers(&folder, 60_443_484);
    let mut list = "cmake_minimum_required(VERSION 3.15)\nproject(one LANGUAGES C)\n\
                    find_package(hiplazy REQUIRED)\n"
        .to_string();
    for target in ["static", "dropin"] {
        list += &format!(
            "add_library({target}_core STATIC \"{}\")\n\
             target_include_directories({target}_core PRIVATE \"{}\")\n\
             target_link_libraries({target}_core PRIVATE hiplazy::{target})\n\
             add_executable({target} \"{}\")\n\
             target_link_libraries({target} PRIVATE {target}_core)\n",
            source("core.c"),
            headers.display(),
            source("core_main.c")
        );
    }
    let prefix = format!("-DCMAKE_PREFIX_PATH={}", tree.display());
    let built = build(&folder, &list, &[prefix]);
    for target in ["static", "dropin"] {
        let mut command = common::fenced(&built.join(target), &[&runtimes]);
        let said = run(command.env("LD_LIBRARY_PATH", &runtimes));
        assert_eq!(said, expected, "{target}");
    }
}

/// A project may find packages first and choose its languages later.
#[test]
fn a_language_may_be_enabled_after_the_package_was_found() {
    if without_cmake("a_language_may_be_enabled_after_the_package_was_found") {
        return;
    }
    let folder = scratch("install-cmake-late");
    let prefix = format!("-DCMAKE_PREFIX_PATH={}", hiplazy().display());
    for (name, first, later, ending) in [
        ("c", "NONE", "C", "c"),
        ("cxx", "NONE", "CXX", "cpp"),
        ("c-after-cxx", "CXX", "C", "c"),
        ("cxx-after-c", "C", "CXX", "c"),
        ("cxx-after-c-in-cxx", "C", "CXX", "cpp"),
    ] {
        let folder = folder.join(name);
        let file = folder.join(format!("project/asking.{ending}"));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let text = "#include <hiplazy/hiplazy.h>\n#include <stdio.h>\n\
                    int main(void) { printf(\"%d\\n\", hiplazy_header_version()); return 0; }\n";
        fs::write(&file, text).unwrap();
        let list = format!(
            "cmake_minimum_required(VERSION 3.15)\nproject(late LANGUAGES {first})\n\
             find_package(hiplazy REQUIRED)\nenable_language({later})\n\
             add_executable(late asking.{ending})\n\
             target_link_libraries(late PRIVATE hiplazy::static)\n"
        );
        let built = build(&folder, &list, std::slice::from_ref(&prefix));
        let said = run(&mut common::fenced(&built.join("late"), &[]));
        assert_eq!(said, "71460850\n", "{name}");
        // The record makes no C++ program of a C program.
        let linked = fs::read_to_string(built.join("CMakeFiles/late.dir/link.txt")).unwrap();
        let with_cxx = linked.split(' ').next().unwrap().ends_with("++");
        assert_eq!(with_cxx, ending == "cpp", "{linked}");
    }
}

#[test]
fn a_version_that_does_not_fit_is_not_found() {
    if without_cmake("a_version_that_does_not_fit_is_not_found") {
        return;
    }
    let folder = scratch("install-cmake-version");
    let prefix = format!("-DCMAKE_PREFIX_PATH={}", hiplazy().display());
    for (wanted, found) in [
        ("", true),
        ("0", true),
        ("0.1", true),
        ("0.1.0 EXACT", true),
        ("0.1.1", false),
        ("0.2", false),
        ("0.0.9", false),
        ("1.0", false),
    ] {
        let list = format!(
            "cmake_minimum_required(VERSION 3.15)\nproject(one LANGUAGES C)\n\
             find_package(hiplazy {wanted} REQUIRED)\n"
        );
        let _ = fs::remove_dir_all(folder.join("build"));
        let configured = configure(&folder, &list, std::slice::from_ref(&prefix));
        assert_eq!(
            configured.status.success(),
            found,
            "{wanted}: {}",
            text_of(&configured)
        );
    }
}

/// Half a tree says what is missing, rather than failing in the consumer's link.
#[test]
fn an_incomplete_tree_says_what_is_missing() {
    if without_cmake("an_incomplete_tree_says_what_is_missing") {
        return;
    }
    let folder = scratch("install-cmake-incomplete");
    let tree = moved(&folder, hiplazy());
    fs::remove_file(tree.join("lib/libhiplazy_dropin.a")).unwrap();
    let list = "cmake_minimum_required(VERSION 3.15)\nproject(one LANGUAGES C)\n\
                find_package(hiplazy REQUIRED)\n";
    let prefix = format!("-DCMAKE_PREFIX_PATH={}", tree.display());
    let configured = configure(&folder, list, &[prefix]);
    assert!(!configured.status.success());
    let text = text_of(&configured);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("libhiplazy_dropin.a is missing"), "{text}");
}
