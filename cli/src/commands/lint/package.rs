//! Objects that are installed and loaded together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::place::Place;
use super::search::{Answer, Search};
use crate::classify::{self, Part, Role};
use crate::elf::Object;
use crate::names::Names;

/// An object and what it is.
pub(super) struct Member {
    pub(super) object: Object,
    pub(super) role: Role,
    pub(super) place: Place,
}

/// All objects, by what they belong to.
pub(super) struct Packages {
    members: Vec<Member>,
    /// What each member needs, in the order in which it says so.
    needs: Vec<Vec<(String, Answer)>>,
    /// Who needs each member directly.
    needed_by: Vec<Vec<usize>>,
    packages: BTreeMap<PathBuf, Package>,
}

/// The objects of a wheel, of a distribution or below a folder.
pub(super) struct Package {
    /// What reports call it.
    pub(super) name: String,
    /// By number, sorted by path.
    pub(super) members: Vec<usize>,
    /// Whether any of them has to do with the names of the report.
    concerned: bool,
}

impl Packages {
    pub(super) fn new(objects: Vec<(Object, Place)>, names: &Names) -> Packages {
        let members = objects.into_iter().map(|(object, place)| Member {
            role: classify::role(&object, names),
            object,
            place,
        });
        let mut members: Vec<Member> = members.collect();
        members.sort_by(|a, b| a.object.path.cmp(&b.object.path));
        let mut packages = BTreeMap::<PathBuf, Package>::new();
        for (number, member) in members.iter().enumerate() {
            let package = packages
                .entry(member.place.package.clone())
                .or_insert_with(|| Package {
                    name: member.place.package_name.clone(),
                    members: Vec::new(),
                    concerned: false,
                });
            package.members.push(number);
            let object = &member.object;
            package.concerned |= member.role != Role::Other
                || !object.literals.is_empty()
                || classify::hip_like_exports(object, names).next().is_some();
        }
        let search = Search::new(&members);
        let needs = members.iter().map(|member| {
            let object = &member.object;
            // What a filter passes on to is loaded with it.
            let all = object.needed.iter().chain(&object.filters);
            all.map(|needed| (needed.clone(), search.answer(member, needed)))
                .collect()
        });
        let needs: Vec<Vec<(String, Answer)>> = needs.collect();
        let mut needed_by = vec![Vec::new(); members.len()];
        for (number, needs) in needs.iter().enumerate() {
            for (_, answer) in needs {
                if let Answer::Member(needed) = answer
                    && needed_by[*needed].last() != Some(&number)
                {
                    needed_by[*needed].push(number);
                }
            }
        }
        Packages {
            members,
            needs,
            needed_by,
            packages,
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Package> {
        self.packages.values()
    }

    pub(super) fn member(&self, number: usize) -> &Member {
        &self.members[number]
    }

    /// All members, whatever they belong to.
    pub(super) fn members(&self) -> &[Member] {
        &self.members
    }

    /// What is reported on: all objects of a package that has to do with HIP, else only
    /// files that the user named.
    pub(super) fn looked_at(&self, package: &Package) -> impl Iterator<Item = usize> {
        let shown = |number: &usize| package.concerned || self.members[*number].place.named;
        package.members.iter().copied().filter(shown)
    }

    /// What a member needs, and which file that means.
    pub(super) fn needs(&self, number: usize) -> &[(String, Answer)] {
        &self.needs[number]
    }

    /// The members that a member needs directly.
    pub(super) fn needed(&self, number: usize) -> impl Iterator<Item = (&str, usize)> {
        self.needs[number]
            .iter()
            .filter_map(|(needed, answer)| match answer {
                Answer::Member(found) => Some((needed.as_str(), *found)),
                Answer::Outside(_) | Answer::Unknown => None,
            })
    }

    /// Which members need one directly, as chains of one.
    pub(super) fn needed_by(&self, number: usize) -> Vec<Vec<String>> {
        let all = self.needed_by[number].iter();
        all.map(|other| vec![self.members[*other].object.path.clone()])
            .collect()
    }

    /// The member and all that it needs as far as it is looked at, itself first.
    pub(super) fn closure(&self, number: usize) -> Vec<usize> {
        let mut found = vec![number];
        let mut seen = BTreeSet::from([number]);
        let mut next = 0;
        while let Some(number) = found.get(next).copied() {
            next += 1;
            let needed = self.needed(number).map(|(_, needed)| needed);
            found.extend(needed.filter(|needed| seen.insert(*needed)));
        }
        found
    }

    /// The runtime that a client gets as far as it is looked at: the one that it needs, or,
    /// if it needs none by name, the only one of its package.
    pub(super) fn runtime_for(&self, package: &Package, client: usize) -> Option<usize> {
        let member = &self.members[client];
        if matches!(member.role, Role::Runtime(_) | Role::Filter(_)) {
            return None;
        }
        let mut names = classify::runtime_needs(&member.object);
        if names.any(|(_, name)| name.part == Part::Hip) {
            let mut needed = self.needed(client).map(|(_, needed)| needed);
            return needed.find(|needed| is_hip(&self.members[*needed]));
        }
        let members = package.members.iter().copied();
        let mut runtimes = members.filter(|one| is_hip(&self.members[*one]));
        let only = runtimes.next()?;
        runtimes.next().is_none().then_some(only)
    }
}

fn is_hip(member: &Member) -> bool {
    matches!(&member.role, Role::Runtime(library) if library.part == Part::Hip)
}
