//! The same source gives the same machine code with AMD's headers and with ours.

use std::fs;
use std::path::Path;

use hiplazy_abi::{DEFAULTS_TXT, parse_defaults};

use crate::common::{run, scratch};
use crate::setup::{Compiler, Headers, command, compilers, declared_in, ours, real, source};

/// The same source gives the same code with AMD's 7.1 headers and with ours: default
/// arguments, overloads, names, struct layouts.
#[test]
fn callers_compile_to_the_same_code_as_with_the_real_headers() {
    let Some(real) = real()
        .into_iter()
        .find(|headers| headers.name == "headers-7.1")
    else {
        return;
    };
    // The wheel with the 7.1 headers has no hiprtc.h.
    let flags = ["-D__has_include(x)=0"];
    for compiler in compilers() {
        for per_thread in [&[][..], &["-DHIP_API_PER_THREAD_DEFAULT_STREAM"][..]] {
            let flags = [&flags[..], per_thread].concat();
            for name in ["calls.c", "calls.cpp"] {
                let code = |headers: &Headers| assembly(compiler, headers, &source(name), &flags);
                assert!(code(&ours()).contains("hipModuleLaunchKernel"));
                same(&code(&real), &code(&ours()), name);
            }
        }
    }
}

#[track_caller]
fn same(real: &str, ours: &str, what: &str) {
    let lines = real.lines().zip(ours.lines());
    if let Some((real, ours)) = lines.into_iter().find(|(real, ours)| real != ours) {
        panic!("{what}: with AMD's headers \"{real}\", with ours \"{ours}\"");
    }
    assert_eq!(real.lines().count(), ours.lines().count(), "{what}");
}

/// The same for every function that AMD's 7.1 header declares, called from C with every
/// argument and from C++ with every number of arguments that its defaults allow.
#[test]
fn every_function_is_called_the_same_way_as_with_the_real_headers() {
    let Some(real) = real()
        .into_iter()
        .find(|headers| headers.name == "headers-7.1")
    else {
        return;
    };
    let defaults = parse_defaults(DEFAULTS_TXT).unwrap();
    let mut functions = declared_in(real.version);
    // The wheel's snapshot of 7.1 has one indirection more than the release.
    functions.retain(|function| !function.name.starts_with("hipLibraryLoad"));
    let mut c = String::from("#include <hip/hip_runtime_api.h>\n");
    let mut cxx = format!("{c}extern \"C\" {{\n");
    // AMD's C has these by their tags alone.
    for ty in [
        "enum hipLimit_t",
        "enum hipTextureAddressMode",
        "enum hipTextureFilterMode",
        "struct hipResourceViewDesc",
    ] {
        c += &format!(
            "typedef {ty} {};\n",
            ty.split(' ').nth(1).unwrap_or_default()
        );
    }
    let mut shorter = 0;
    for function in &functions {
        let entry = defaults.iter().find(|entry| entry.name == function.name);
        let optional = entry.map_or(0, |entry| entry.args.len());
        for left_out in 0..=optional {
            let args = &function.args[..function.args.len() - left_out];
            let parameters: Vec<String> = args.iter().map(ToString::to_string).collect();
            let names: Vec<&str> = args.iter().map(|arg| arg.name.as_str()).collect();
            let call = format!(
                "{} use{left_out}_{}({}) {{ return {}({}); }}\n",
                function.ret,
                function.name,
                parameters.join(", "),
                function.name,
                names.join(", "),
            );
            cxx += &call;
            shorter += usize::from(left_out > 0);
            // AMD's C declares functions without arguments without a prototype.
            if left_out == 0 && !args.is_empty() {
                c += &call;
            }
        }
    }
    // C++ aligns vectors otherwise than C.
    cxx += "extern const unsigned long vectors[] = {\n";
    for ty in ["char", "short", "int", "long", "longlong"] {
        for components in 1..=4 {
            for name in [format!("{ty}{components}"), format!("u{ty}{components}")] {
                cxx += &format!("  sizeof({name}), alignof({name}),\n");
            }
        }
    }
    cxx += "  alignof(float2), alignof(float3), alignof(float4), alignof(double4)};\n}\n";
    assert!(functions.len() > 490, "{} functions", functions.len());
    assert!(shorter > 60, "{shorter} calls with defaults");
    let folder = scratch("c-headers-every-function");
    for (name, text) in [("every.c", c), ("every.cpp", cxx)] {
        let file = folder.join(name);
        fs::write(&file, text).unwrap();
        for compiler in compilers() {
            let code = |headers: &Headers| assembly(compiler, headers, &file, &[]);
            same(&code(&real), &code(&ours()), name);
        }
    }
}

/// Compiles to assembly without the lines that name files or number functions (headers
/// have other ones before), so that two can be compared.
fn assembly(compiler: &Compiler, headers: &Headers, source: &Path, flags: &[&str]) -> String {
    let mut command = command(compiler, headers, source);
    command
        .args(flags)
        .args(["-w", "-fno-asynchronous-unwind-tables", "-fno-exceptions"]);
    let text = run(command.args(["-S", "-o", "-"]));
    let varies = |line: &str| {
        [".file", ".LF", ".Lfunc"]
            .iter()
            .any(|start| line.trim_start().starts_with(start))
    };
    let lines = text.lines().filter(|line| !varies(line));
    lines.collect::<Vec<_>>().join(
        "
",
    )
}
