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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::{Binding, Export, Kind};

    /// `hipInit` came with 5.0, `hipGetDevicePropertiesR0600` with 6.0.
    #[test]
    fn exports_tell_a_version_of_the_runtimes_own_major_only() {
        let told = |name: &str, major: u32, version: Option<&str>, kind: &str| {
            let export = Export {
                name: name.to_string(),
                node: None,
                default: true,
                binding: Binding::Global,
                kind: Kind::Function,
                protected: false,
                address: 1,
            };
            let object = Object {
                exports: vec![export],
                ..Object::default()
            };
            let runtime = Runtime {
                kind: kind.into(),
                major: Some(major),
                version: version.map(str::to_string),
                ..Runtime::default()
            };
            at_least(&object, &runtime)
        };
        let newer = "hipGetDevicePropertiesR0600";
        assert_eq!(told("hipInit", 5, None, "hip").as_deref(), Some("5.0"));
        assert_eq!(told(newer, 6, Some("6"), "hip").as_deref(), Some("6.0"));
        assert_eq!(told("hipInit", 7, Some("7"), "hip"), None);
        assert_eq!(told(newer, 6, Some("6.4.3"), "hip"), None);
        assert_eq!(told("hipInit", 5, None, "hsa"), None);
    }
}
