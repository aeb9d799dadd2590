//! Reports as processes would give them, made up.

use hiplazy_cli::finding::Finding;
use hiplazy_cli::names::Names;
use hiplazy_cli::report::{
    Binding, Bound, Client, Exporter, Forecast, Hazard, Loaded, Report, Runtime, Scope, Wrong,
};
use hiplazy_cli::rules;

const SITE: &str = "/venv/lib/python3.12/site-packages";

pub(crate) fn runtime_path() -> String {
    format!("{SITE}/torch/lib/libamdhip64.so.7")
}

pub(crate) fn stub_path() -> String {
    format!("{SITE}/tilelang/lib/libhip_stub.so")
}

/// A process with a stub in its global scope and `clients` extensions, every 25th of
/// which was loaded after it; `others` objects have nothing to do with HIP.
pub(crate) fn process(clients: usize, others: usize) -> Report {
    let mut report = Report::new("doctor", "process 4711 (python3)", &Names::new(&[]));
    let load = |report: &mut Report, path: String, scope: Scope| {
        report.loaded.push(Loaded { path, scope });
    };
    load(
        &mut report,
        "/usr/bin/python3.12".into(),
        Scope::Global { position: 0 },
    );
    load(&mut report, stub_path(), Scope::Global { position: 2 });
    load(&mut report, runtime_path(), Scope::Local);
    for number in 0..others {
        let path = format!("/usr/lib/x86_64-linux-gnu/libother{number}.so.1");
        load(&mut report, path, Scope::Local);
    }
    report.runtimes.push(Runtime {
        path: runtime_path(),
        kind: "hip".into(),
        soname: Some("libamdhip64.so.7".into()),
        version: Some("7.14.60850".into()),
        at_least: None,
        major: Some(7),
        build_id: Some("5a3c0de5a3c0de".into()),
        inode: Some(12345),
        scope: Some(Scope::Local),
        needed_by: vec![vec!["_C.so".into(), "libtorch_hip.so".into()]],
    });
    report.exporters.push(Exporter {
        path: stub_path(),
        soname: Some("libhip_stub.so".into()),
        exported: (0..87)
            .map(|number| format!("hipFunction{number}"))
            .collect(),
        unversioned: 87,
        scope: Some(Scope::Global { position: 2 }),
        needed_by: vec![vec!["libtvm.so".into()]],
    });
    for number in 0..clients {
        let path = format!("{SITE}/package{number}/_C{number}.cpython-312-x86_64-linux-gnu.so");
        load(&mut report, path.clone(), Scope::Local);
        let is_captured = number % 25 == 7;
        let names = [
            "hipMalloc",
            "hipFree",
            "hipLaunchKernel",
            "hipGetDevicePropertiesR0600",
        ];
        for (place, name) in names.iter().take(2 + number % 3).enumerate() {
            report.bindings.push(Binding {
                object: path.clone(),
                name: name.to_string(),
                node: Some("hip_4.2".into()),
                state: if place == 1 {
                    Bound::Lazy
                } else {
                    Bound::Bound
                },
                provider: Some(if is_captured {
                    stub_path()
                } else {
                    runtime_path()
                }),
                expected: is_captured.then(runtime_path),
                wrong: is_captured.then_some(Wrong::NoRuntime),
            });
        }
        // A name that only one object refers to.
        report.bindings.push(Binding {
            object: path.clone(),
            name: format!("hipOnlyOf{number}x"),
            node: None,
            state: Bound::Bound,
            provider: Some(runtime_path()),
            expected: None,
            wrong: None,
        });
        report.clients.push(Client {
            path,
            references: 5,
            needs: vec!["libamdhip64.so.7".into()],
            majors: vec![7],
            structs: vec!["R0600".into()],
            ..Client::default()
        });
    }
    report.forecast.push(Forecast {
        name: "hipMalloc".into(),
        node: Some("hip_4.2".into()),
        provider: Some(stub_path()),
        known: true,
        why: "the first in the global scope that has the name".into(),
    });
    report.hazards.push(Hazard {
        what: "LD_PRELOAD".into(),
        detail: "libtcmalloc.so.4".into(),
    });
    report.findings.push(
        Finding::new(
            &rules::BARE_EXPORT,
            stub_path(),
            "87 names, in the global scope",
        )
        .with(["hipMalloc".to_string(), "hipFree".to_string()]),
    );
    report.objects = report.loaded.len();
    report.sort();
    report
}

/// What gives itself out for markup, a string's end, an element's end.
pub(crate) const HOSTILE: &str =
    "/tmp/</script><img src=x onerror=alert(1)>\"'`${x}{{data}}\u{2028}.so";

/// A report in which every text that comes from outside is hostile.
pub(crate) fn hostile() -> Report {
    let mut report = process(3, 0);
    report.subject = format!("process 1 ({HOSTILE})");
    report.runtimes[0].path = HOSTILE.into();
    report.runtimes[0].soname = Some(HOSTILE.into());
    report.exporters[0].exported = vec![HOSTILE.into()];
    for binding in &mut report.bindings {
        binding.name = HOSTILE.into();
        binding.provider = Some(HOSTILE.into());
    }
    report.preface.push(HOSTILE.into());
    report.findings =
        vec![Finding::new(&rules::BARE_EXPORT, HOSTILE, HOSTILE).with([HOSTILE.to_string()])];
    report
}

/// A report on files, which nobody has loaded.
pub(crate) fn files() -> Report {
    let mut report = Report::new("lint", "dist/package.whl", &Names::new(&[]));
    report.objects = 3;
    for (name, need, function) in [
        ("_C.so", "libamdhip64.so.7", "hipMallocAsync@hip_5.2"),
        ("_old.so", "libamdhip64.so.5", "hipMemcpyOld@hip_4.2"),
    ] {
        report.clients.push(Client {
            path: format!("dist/package.whl!package/{name}"),
            references: 12,
            names: vec!["hipFree@hip_4.2".into(), function.into()],
            needs: vec![need.into()],
            ..Client::default()
        });
    }
    report.runtimes.push(Runtime {
        path: "dist/package.whl!package.libs/libamdhip64.so.7".into(),
        kind: "hip".into(),
        soname: Some("libamdhip64.so.7".into()),
        major: Some(7),
        ..Runtime::default()
    });
    report.findings.push(Finding::new(
        &rules::BUNDLED_RUNTIME,
        "dist/package.whl!package.libs/libamdhip64.so.7",
        "a copy of its own",
    ));
    report
}
