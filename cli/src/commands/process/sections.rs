//! The sections of the report that state what is there.

use crate::classify::Role;
use crate::commands::lint::{client_of, exporter_of, runtime_of};
use crate::elf::Object;
use crate::names::Names;
use crate::process::World;
use crate::process::bindings::{Link, wrong};
use crate::report::{Binding, Loaded, Report, Runtime};

/// The version that the exports of a HIP runtime tell, where nothing else does. One of
/// another major than the runtime's own is not its version.
fn at_least(object: &Object, runtime: &Runtime) -> Option<String> {
    let told = runtime.version.as_ref();
    if told.is_some_and(|version| version.contains('.')) || runtime.kind != "hip" {
        return None;
    }
    let version = super::abi::by_exports(object)?;
    let fits = runtime.major.is_none_or(|major| major == version.major);
    fits.then(|| version.to_string())
}

pub(super) fn fill(report: &mut Report, world: &World<'_>, links: &[Link], names: &Names) {
    for (place, live) in world.objects.iter().enumerate() {
        report.loaded.push(Loaded {
            path: world.path(place).to_string(),
            scope: world.scope_of(place),
        });
        match &live.role {
            Role::Runtime(library) => {
                let mut runtime = runtime_of(&live.object, library);
                runtime.at_least = at_least(&live.object, &runtime);
                runtime.inode = Some(live.inode);
                runtime.scope = Some(world.scope_of(place));
                runtime.needed_by = world.needed_by(place);
                report.runtimes.push(runtime);
            }
            Role::Exporter | Role::Disguised(..) => {
                let mut exporter = exporter_of(&live.object, names);
                exporter.scope = Some(world.scope_of(place));
                exporter.needed_by = world.needed_by(place);
                report.exporters.push(exporter);
            }
            Role::Filter(_) | Role::Client | Role::Other => {}
        }
        if !matches!(live.role, Role::Runtime(_)) {
            report.clients.extend(client_of(&live.object, names));
        }
    }
    report.bindings.extend(links.iter().map(|link| {
        let wrong = wrong(world, link, names);
        Binding {
            object: world.path(link.from).to_string(),
            name: link.name.clone(),
            node: link.node.clone(),
            state: link.state,
            provider: link.provider.map(|place| world.path(place).to_string()),
            expected: link
                .meant
                .filter(|meant| wrong.is_some() && link.provider != Some(*meant))
                .map(|place| world.path(place).to_string()),
            wrong,
        }
    }));
}
