//! Where the words point that the dynamic linker fills, and others change.

use std::fs;

use hiplazy_cli::names::Names;
use hiplazy_cli::process::memory::Memory;
use hiplazy_cli::process::{Capture, bindings};
use hiplazy_cli::report::Bound;

use crate::common::{hiplazy, shared};
use crate::running::{Waiting, binding, built, driver, json, library, rules};
use serde_json::Value;

const PROPERTIES: &str = "hipGetDevicePropertiesR0600";

/// Opens libraries, and changes the word that one of them has for a function.
const PATCH: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static void *opened(const char *path)
{
    void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!handle)
        fprintf(stderr, "%s\n", dlerror());
    return handle;
}

static uintptr_t *word(void *handle, const char *symbol)
{
    struct link_map *map = NULL;
    uintptr_t entry[DT_NUM] = {0};
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map))
        return NULL;
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag < DT_NUM)
            entry[d->d_tag] = d->d_un.d_ptr;
    const ElfW(Rela) *relocations = (const void *)entry[DT_JMPREL];
    const ElfW(Sym) *symbols = (const void *)entry[DT_SYMTAB];
    for (size_t i = 0; i < entry[DT_PLTRELSZ] / sizeof *relocations; i++) {
        const ElfW(Sym) *of = symbols + ELF64_R_SYM(relocations[i].r_info);
        if (!strcmp((const char *)entry[DT_STRTAB] + of->st_name, symbol))
            return (uintptr_t *)(map->l_addr + relocations[i].r_offset);
    }
    return NULL;
}

static void wait_for_line(void)
{
    puts("waiting");
    fflush(stdout);
    getchar();
}

/* CLIENT SYMBOL and "memory", "later" (the same after a line) or the path of a hook; or
 * CLIENT VARIABLE and "null", "nowhere" or "own". */
int main(int count, char **words)
{
    static const char *const values[] = {"null", "nowhere", "own"};
    if (count != 4)
        return 1;
    void *const to[] = {NULL, (void *)64, (void *)wait_for_line};
    void *client = opened(words[1]);
    if (!client)
        return 1;
    void **variable = dlsym(client, words[2]);
    int is_variable = 0;
    for (int i = 0; i < 3; i++) {
        if (!strcmp(words[3], values[i])) {
            is_variable = 1;
            if (!variable)
                return 1;
            *variable = to[i];
        }
    }
    if (!is_variable) {
        uintptr_t *patched = word(client, words[2]);
        if (!patched)
            return 1;
        int later = !strcmp(words[3], "later");
        if (later)
            wait_for_line();
        if (later || !strcmp(words[3], "memory")) {
            *patched = (uintptr_t)mmap(NULL, 4096, PROT_READ | PROT_EXEC,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        } else {
            void *hook = opened(words[3]);
            if (!hook)
                return 1;
            *patched = (uintptr_t)dlsym(hook, "hook");
            dlclose(hook);
        }
    }
    wait_for_line();
    return 0;
}
"#;

/// The process in which `client` was patched.
fn patched(test: &str, client: &str, symbol: &str, with: &str) -> Waiting {
    let folder = shared::scratch(test);
    let (source, program) = (folder.join("patch.c"), folder.join("patch"));
    fs::write(&source, PATCH).unwrap();
    shared::cc(&[source.to_str().unwrap()], &program, &["-ldl"]);
    let mut command = shared::clean(&program);
    command.env("LD_LIBRARY_PATH", &built().runtime);
    Waiting::start(command.args([client, symbol, with]))
}

fn client() -> String {
    built().folder.join("client.so").display().to_string()
}

/// What the report says against an object's reference.
fn wrong<'r>(report: &'r Value, name: &str) -> &'r Value {
    let mut bindings = report["bindings"].as_array().unwrap().iter();
    let found = bindings.find(|binding| binding["name"] == name);
    &found.unwrap()["wrong"]
}

#[test]
fn a_word_that_points_to_memory_of_no_library_is_bound_and_no_finding() {
    let waiting = patched("word_memory", &client(), PROPERTIES, "memory");
    let output = waiting.doctor(&["--json"]);
    let report = json(&output);
    let bound = binding(&report, "client.so", PROPERTIES);
    assert_eq!(bound, ("no-library".into(), "nobody".into()));
    assert_eq!(wrong(&report, PROPERTIES), &Value::Null);
    assert_eq!(rules(&report), [""; 0]);
    assert_eq!(output.status.code(), Some(0));
    let hazards = report["hazards"].to_string();
    assert!(hazards.contains("code of no library"), "{hazards}");
    let text = shared::text_of(&waiting.doctor(&["-vv"]));
    assert!(text.contains("bound to memory of no library"), "{text}");
}

/// A hook that is unloaded and did not put the old address back.
#[test]
fn a_word_that_points_to_what_was_unloaded_is_a_conflict() {
    let folder = shared::scratch("word_hook");
    let text = "int hook(void *properties, int device) { return properties ? device : 1; }\n";
    let hook = library(&folder, "hook.so", text, &[]);
    let waiting = patched(
        "word_unmapped",
        &client(),
        PROPERTIES,
        hook.to_str().unwrap(),
    );
    let output = waiting.doctor(&["--json"]);
    let report = json(&output);
    let bound = binding(&report, "client.so", PROPERTIES);
    assert_eq!(bound, ("unmapped".into(), "nobody".into()));
    assert_eq!(wrong(&report, PROPERTIES), "unmapped");
    assert_eq!(rules(&report), ["unmapped-provider"]);
    assert_eq!(output.status.code(), Some(2));
    let text = shared::text_of(&waiting.doctor(&[]));
    let line = "bound to memory that is no longer mapped, where a call ends the program";
    assert!(text.contains(line), "{text}");
}

/// The program may put anything into its own variable; that binds nothing.
#[test]
fn a_pointer_that_the_program_changed_is_no_binding() {
    let folder = shared::scratch("word_variable_client");
    let text =
        format!("int {PROPERTIES}(void *, int);\nint (*pointer)(void *, int) = {PROPERTIES};\n");
    let arguments = [
        format!("-L{}", built().runtime.display()),
        "-l:libamdhip64.so.7".to_string(),
    ];
    let pointing = library(&folder, "pointing.so", &text, &arguments);
    let pointing = pointing.to_str().unwrap();
    let before = Waiting::start(&mut driver(
        &built().runtime,
        &["open", "pointing", pointing, "now,local"],
    ));
    let bound = binding(&before.report(), "pointing.so", PROPERTIES);
    assert_eq!(bound, ("bound".into(), "libamdhip64.so.7".into()));
    for value in ["null", "nowhere", "own"] {
        let waiting = patched("word_variable", pointing, "pointer", value);
        let report = waiting.report();
        assert_eq!(report["bindings"], Value::Array(Vec::new()), "{value}");
        assert_eq!(rules(&report), [""; 0], "{value}");
    }
}

/// The list of what is mapped is read before the words.
#[test]
fn memory_that_comes_while_a_process_is_read_is_not_called_unmapped() {
    let mut waiting = patched("word_later", &client(), PROPERTIES, "later");
    let names = Names::default();
    let capture = Capture::take(waiting.pid()).unwrap();
    let world = capture.read(&names);
    waiting.go_on();
    waiting.wait_again();
    let links = bindings::read(&world, Memory::of(waiting.pid()), &names).unwrap();
    let mut of_client = links.iter().filter(|link| link.name == PROPERTIES);
    assert!(
        of_client.any(|link| link.state == Bound::NoLibrary),
        "{links:?}"
    );
}

/// All objects have one address of the function, in the program; what answers there is
/// what the program's own word says.
#[test]
fn the_plt_of_a_program_at_a_fixed_address_is_followed() {
    let folder = shared::scratch("word_plt");
    let linked = [
        format!("-L{}", built().runtime.display()),
        "-l:libamdhip64.so.7".to_string(),
        "-Wl,-z,lazy".to_string(),
        "-Wl,-rpath,$ORIGIN".to_string(),
    ];
    let text =
        format!("int {PROPERTIES}(void *, int);\nint (*pointer)(void *, int) = {PROPERTIES};\n");
    library(&folder, "libpointing.so", &text, &linked);
    let source = folder.join("fixed.c");
    let text = format!(
        "#include <stdio.h>\n\
         int {PROPERTIES}(void *, int);\n\
         extern int (*pointer)(void *, int);\n\
         int main(int count, char **words) {{\n\
         (void)words;\n\
         if (pointer != {PROPERTIES}) return 1;\n\
         static char properties[4096];\n\
         if (count > 1) {PROPERTIES}(properties, 0);\n\
         puts(\"waiting\"); fflush(stdout); getchar(); return 0; }}\n"
    );
    fs::write(&source, text).unwrap();
    let program = folder.join("fixed");
    let mut arguments = vec!["-no-pie".to_string(), "-fno-pic".to_string()];
    arguments.push(format!("-L{}", folder.display()));
    arguments.push("-l:libpointing.so".to_string());
    arguments.extend(linked);
    shared::cc(&[source.to_str().unwrap()], &program, &arguments);
    for (words, state) in [(&[][..], "lazy"), (&["call"], "bound")] {
        let mut command = shared::clean(&program);
        command.env("LD_LIBRARY_PATH", &built().runtime);
        let report = Waiting::start(command.args(words)).report();
        for object in ["fixed", "libpointing.so"] {
            let bound = binding(&report, object, PROPERTIES);
            assert_eq!(bound, (state.into(), "libamdhip64.so.7".into()), "{object}");
        }
        assert_eq!(rules(&report), [""; 0]);
    }
}

/// The definition answers, wherever the code is that its resolver chose.
#[test]
fn a_function_that_a_resolver_chose_is_of_who_defines_it() {
    let folder = shared::scratch("word_ifunc");
    library(&folder, "libcode.so", "int code(void) { return 1; }\n", &[]);
    let text = "#define _GNU_SOURCE\n\
                #include <sys/mman.h>\n\
                typedef int function(void);\n\
                int code(void);\n\
                static function *in_library(void) { return code; }\n\
                static function *in_memory(void) {\n\
                return (function *)mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }\n\
                int pick_library(void) __attribute__((ifunc(\"in_library\")));\n\
                int pick_memory(void) __attribute__((ifunc(\"in_memory\")));\n";
    let needs = |name: &str| {
        [
            format!("-L{}", folder.display()),
            format!("-l:{name}"),
            "-Wl,-rpath,$ORIGIN".to_string(),
        ]
    };
    library(&folder, "libpick.so", text, &needs("libcode.so"));
    let text = "int pick_library(void);\nint pick_memory(void);\n\
                int picking(void) { return pick_library() + pick_memory(); }\n";
    let client = library(&folder, "picking.so", text, &needs("libpick.so"));
    let words = ["open", "client", client.to_str().unwrap(), "now,local"];
    let waiting = Waiting::start(&mut driver(&folder, &words));
    let report = json(&waiting.doctor(&["--json", "--prefix", "pick_"]));
    for name in ["pick_library", "pick_memory"] {
        let bound = binding(&report, "picking.so", name);
        assert_eq!(bound, ("bound".into(), "libpick.so".into()), "{name}");
        assert_eq!(wrong(&report, name), &Value::Null);
    }
    assert!(!rules(&report).contains(&"wrong-provider".to_string()));
}

/// Only a strong reference ends the program.
#[test]
fn a_weak_reference_that_nobody_satisfies_is_no_finding() {
    let folder = shared::scratch("word_weak");
    let weak = "__attribute__((weak)) int hipMalloc(void **, unsigned long);\n\
                int weakly(void) { void *memory; return hipMalloc ? hipMalloc(&memory, 1) : 0; }\n";
    let strong = "int hipFree(void *);\nint strongly(void) { return hipFree(0); }\n";
    let both = format!("{weak}{strong}");
    for (name, text, expected) in [
        ("weak.so", weak, None),
        ("strong.so", strong, Some("hipFree")),
        ("both.so", &both, Some("hipFree")),
    ] {
        let library = library(&folder, name, text, &["-Wl,-z,lazy".to_string()]);
        let words = ["open", "client", library.to_str().unwrap(), "lazy,local"];
        let report = Waiting::start(&mut driver(&folder, &words)).report();
        let findings = report["findings"].as_array().unwrap();
        let unresolved: Vec<&str> = findings
            .iter()
            .filter(|finding| finding["rule"] == "unresolved")
            .map(|finding| finding["detail"].as_str().unwrap())
            .collect();
        assert_eq!(unresolved, Vec::from_iter(expected), "{name}");
        // Both are told of.
        let states = report["bindings"].as_array().unwrap().iter();
        assert!(
            states
                .map(|binding| &binding["state"])
                .all(|state| state == "unresolved"),
            "{name}"
        );
    }
}

/// The log of another machine: nothing of it is here, so nobody knows who should answer.
#[test]
fn a_binding_is_wrong_also_where_nobody_knows_who_should_answer() {
    let folder = shared::scratch("word_log");
    let log = folder.join("log");
    fs::write(
        &log,
        "7:\tbinding file /gone/_C.so [0] to /gone/libhip_stub.so [0]: normal symbol `hipMalloc' [hip_4.2]\n\
         7:\tbinding file /gone/_C.so [0] to /gone/libamdhip64.so.7 [0]: normal symbol `hipFree' [hip_4.2]\n",
    )
    .unwrap();
    let output = hiplazy()
        .args(["log", "--json"])
        .arg(&log)
        .output()
        .unwrap();
    let report = json(&output);
    let mut of_stub = report["bindings"].as_array().unwrap().iter();
    let of_stub = of_stub
        .find(|binding| binding["name"] == "hipMalloc")
        .unwrap();
    assert_eq!(of_stub["expected"], Value::Null);
    assert_eq!(wrong(&report, "hipMalloc"), "no-runtime");
    assert_eq!(wrong(&report, "hipFree"), &Value::Null);
    assert_eq!(rules(&report), ["wrong-provider"]);
    let text = shared::text_of(&hiplazy().arg("log").arg(&log).output().unwrap());
    let line = "hipMalloc@hip_4.2 bound to /gone/libhip_stub.so, which is no HIP runtime\n";
    assert!(text.contains(line), "{text}");
}
