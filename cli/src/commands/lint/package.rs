//! Objects that are installed and loaded together.

use std::collections::BTreeSet;

use crate::classify::{self, Role};
use crate::elf::Object;
use crate::names::Names;

/// An object and what it is.
pub(super) struct Member {
    pub(super) object: Object,
    pub(super) role: Role,
    named: bool,
}

/// The objects of a wheel, of a distribution or below a folder.
#[derive(Default)]
pub(super) struct Package {
    members: Vec<Member>,
    /// Whether any of them has to do with the names of the report.
    concerned: bool,
}

impl Package {
    pub(super) fn add(&mut self, object: Object, named: bool, names: &Names) {
        let role = classify::role(&object, names);
        self.concerned |= role != Role::Other
            || !object.literals.is_empty()
            || classify::hip_like_exports(&object, names).next().is_some();
        self.members.push(Member {
            object,
            role,
            named,
        });
    }

    pub(super) fn sort(&mut self) {
        self.members
            .sort_by(|a, b| a.object.path.cmp(&b.object.path));
    }

    /// What is reported on: all objects of a package that has to do with HIP, else only
    /// files that the user named.
    pub(super) fn looked_at(&self) -> impl Iterator<Item = &Member> {
        self.members
            .iter()
            .filter(|member| self.concerned || member.named)
    }

    pub(super) fn members(&self) -> &[Member] {
        &self.members
    }

    /// The member that a `DT_NEEDED` entry means: by SONAME, else by file name.
    pub(super) fn provider(&self, needed: &str) -> Option<&Member> {
        self.members
            .iter()
            .find(|member| member.object.called() == needed)
            .or_else(|| {
                self.members
                    .iter()
                    .find(|member| member.object.file_name() == needed)
            })
    }

    /// Which members need `object` directly, as chains of one.
    pub(super) fn needed_by(&self, object: &Object) -> Vec<Vec<String>> {
        let called = [object.called(), object.file_name()];
        self.members
            .iter()
            .filter(|member| {
                let needed = &member.object.needed;
                needed
                    .iter()
                    .any(|needed| called.contains(&needed.as_str()))
            })
            .map(|member| vec![member.object.path.clone()])
            .collect()
    }

    /// The member and all that it needs within the package, itself first.
    pub(super) fn closure<'a>(&'a self, member: &'a Member) -> Vec<&'a Member> {
        let mut found = vec![member];
        let mut seen = BTreeSet::from([member.object.path.as_str()]);
        let mut next = 0;
        while let Some(member) = found.get(next) {
            next += 1;
            for needed in &member.object.needed {
                if let Some(provider) = self.provider(needed)
                    && seen.insert(provider.object.path.as_str())
                {
                    found.push(provider);
                }
            }
        }
        found
    }
}
