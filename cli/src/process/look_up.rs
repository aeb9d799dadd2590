//! What the dynamic linker of glibc would answer now: `do_lookup_x` and `check_match`
//! in its `elf/dl-lookup.c`.

use super::{Element, World};
use crate::elf::{Definition, Definitions};

/// A definition that satisfies a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// The object.
    pub place: usize,
    /// The address in the process.
    pub address: u64,
    /// Chosen by a resolver: the word that is bound holds another address.
    pub indirect: bool,
}

impl World<'_> {
    /// What a reference of the object `from` to `name@node` is bound to.
    pub fn look_up(&self, from: usize, name: &str, node: Option<&str>) -> Option<Answer> {
        let scope = &self.objects[from].scope;
        scope.iter().find_map(|element| match element {
            Element::Itself => self.in_list(&[from], name, node),
            Element::List(owner) => {
                let list = self.objects[*owner].list.as_deref()?;
                self.in_list(list, name, node)
            }
        })
    }

    /// The first of a list that satisfies a reference.
    pub fn in_list(&self, list: &[usize], name: &str, node: Option<&str>) -> Option<Answer> {
        list.iter().find_map(|place| {
            let live = &self.objects[*place];
            let found = matching(live.definitions.as_ref()?, name, node)?;
            Some(Answer {
                place: *place,
                address: live.bias.wrapping_add(found.address),
                indirect: found.indirect,
            })
        })
    }

    /// The same for what a reference of the object `from` is looked up in.
    pub fn unread_in_scope(&self, from: usize, answer: Option<Answer>) -> Option<usize> {
        if !self.has_unread {
            return None;
        }
        let lists = self.objects[from]
            .scope
            .iter()
            .filter_map(|element| match element {
                Element::Itself => Some(std::slice::from_ref(&from)),
                Element::List(owner) => self.objects[*owner].list.as_deref(),
            });
        // The answer may be in several lists, of which the first counts.
        let all: Vec<usize> = lists.flatten().copied().collect();
        self.unread_before(&all, answer)
    }

    /// The first of a list, before its answer, that could not be read: it may be the one
    /// that answers.
    pub fn unread_before(&self, list: &[usize], answer: Option<Answer>) -> Option<usize> {
        let before = list
            .iter()
            .copied()
            .take_while(|place| answer.is_none_or(|answer| answer.place != *place));
        before
            .into_iter()
            .find(|place| self.objects[*place].definitions.is_none())
    }
}

/// The definition of an object that satisfies a reference to `name@node`.
pub fn matching<'data>(
    definitions: &Definitions<'data>,
    name: &str,
    node: Option<&str>,
) -> Option<Definition<'data>> {
    let found = definitions.named(name.as_bytes());
    choose(&found, definitions.has_versions(), node).copied()
}

/// Versions count only where the object has any.
fn choose<'a, 'data>(
    found: &'a [Definition<'data>],
    has_versions: bool,
    node: Option<&str>,
) -> Option<&'a Definition<'data>> {
    if !has_versions {
        return found.first();
    }
    if let Some(node) = node {
        // A definition without a node satisfies every reference, unless it is hidden.
        return found.iter().find(|definition| match definition.node {
            Some(own) => own == node.as_bytes(),
            None => !definition.hidden,
        });
    }
    // Without a node: the base version or the first one, at once; else the default, if
    // there is one only.
    if let Some(base) = found.iter().find(|definition| definition.version < 3) {
        return Some(base);
    }
    let mut defaults = found.iter().filter(|definition| !definition.hidden);
    let first = defaults.next()?;
    defaults.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::Binding;

    fn on(node: Option<&'static str>, version: u16, hidden: bool) -> Definition<'static> {
        Definition {
            node: node.map(str::as_bytes),
            version,
            hidden,
            binding: Binding::Global,
            indirect: false,
            address: u64::from(version) + 0x1000,
        }
    }

    fn chosen(found: &[Definition<'static>], node: Option<&str>) -> Option<u16> {
        choose(found, true, node).map(|definition| definition.version)
    }

    #[test]
    fn a_reference_with_a_node_takes_that_node_or_a_definition_without_one() {
        let found = [on(Some("hip_4.2"), 3, false), on(Some("hip_6.0"), 4, true)];
        assert_eq!(chosen(&found, Some("hip_6.0")), Some(4), "hidden is no bar");
        assert_eq!(chosen(&found, Some("hip_7.0")), None);
        assert_eq!(chosen(&[on(None, 1, false)], Some("hip_6.0")), Some(1));
        assert_eq!(chosen(&[on(None, 1, true)], Some("hip_6.0")), None);
    }

    #[test]
    fn a_reference_without_a_node_takes_the_base_or_the_only_default() {
        let old = on(Some("A_2"), 3, true);
        let new = on(Some("A_3"), 4, false);
        assert_eq!(chosen(&[old, new], None), Some(4));
        assert_eq!(chosen(&[old], None), None, "a hidden one is not taken");
        assert_eq!(chosen(&[new, on(Some("A_4"), 5, false)], None), None);
        // The first node that a library defines counts like no node at all.
        assert_eq!(chosen(&[on(Some("A_1"), 2, true), new], None), Some(2));
    }

    #[test]
    fn an_object_without_versions_satisfies_everything() {
        let found = [on(None, 1, false)];
        assert!(choose(&found, false, Some("hip_6.0")).is_some());
        assert!(choose(&found, false, None).is_some());
        assert!(choose(&[], false, None).is_none());
    }
}
