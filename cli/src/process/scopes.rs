//! Scopes as the dynamic linker keeps them.
//!
//! Which objects a reference is looked up in, and in which order, stands in the private
//! part of `link_map`, whose layout each glibc changes. It is found by what it says:
//! `l_searchlist` is an address and a count, and what lies at that address is a list of
//! link maps that begins with the object itself. `l_scope` leads to addresses of such
//! members.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use super::link_maps::{LinkMap, PRIVATE};
use super::memory::Memory;

/// One list that a scope looks through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// An object and what it needs: that of the program is the global scope.
    List(usize),
    /// The object itself (`-Bsymbolic`).
    Itself,
}

/// The scopes of all link maps, by their place.
#[derive(Debug, Clone, Default)]
pub struct Scopes {
    /// The object and what it needs, breadth first; of the program also what was opened
    /// with `RTLD_GLOBAL`. `None` for an object that nobody opened by itself.
    pub lists: Vec<Option<Vec<usize>>>,
    /// What references of the object are looked up in.
    pub scopes: Vec<Option<Vec<Element>>>,
}

/// Longer scopes do not exist: one element per `dlopen` that reached the object.
const LONGEST_SCOPE: usize = 4096;

/// The entries of all lists and scopes together: a thousand objects that each need a
/// thousand have a quarter of that.
const MOST_ENTRIES: usize = 4 << 20;

/// How many words of a scope are read at a time.
const PART: usize = 32;

/// The size of `r_scope_elem` in words.
const ELEMENT: usize = 2;

/// Finds the scopes, or says why that was not possible.
pub(super) fn read(memory: Memory, maps: &[LinkMap]) -> Result<Scopes, String> {
    let places: HashMap<u64, usize> = maps
        .iter()
        .enumerate()
        .map(|(place, map)| (map.address, place))
        .collect();
    let reader = Reader {
        memory,
        maps,
        places,
        left: Cell::new(MOST_ENTRIES),
    };
    let program = maps.first().ok_or("there is no link map")?;
    let lists_at = (PRIVATE..program.words.len() - 1)
        .find(|at| reader.list(0, *at).is_some())
        .ok_or("no member of the program's link map is a list of link maps")?;
    let lists: Vec<_> = (0..maps.len())
        .map(|place| reader.list(place, lists_at))
        .collect();
    reader.within_limits()?;
    let elements = reader.elements(lists_at);
    let scopes_at = (PRIVATE..program.words.len())
        .find(|at| reader.scope(0, *at, &elements).is_some())
        .ok_or("no member of the program's link map is a scope")?;
    let scopes = (0..maps.len())
        .map(|place| reader.scope(place, scopes_at, &elements))
        .collect();
    reader.within_limits()?;
    Ok(Scopes { lists, scopes })
}

struct Reader<'a> {
    memory: Memory,
    maps: &'a [LinkMap],
    places: HashMap<u64, usize>,
    /// How many more entries are read.
    left: Cell<usize>,
}

impl Reader<'_> {
    /// Counts entries that are about to be read; `None` if they are too many.
    fn count(&self, entries: usize) -> Option<()> {
        self.left.set(self.left.get().saturating_sub(entries));
        (self.left.get() > 0).then_some(())
    }

    /// Whether all that was asked for was read.
    fn within_limits(&self) -> Result<(), String> {
        match self.left.get() {
            0 => Err("its scopes are longer than any dynamic linker makes them".into()),
            _ => Ok(()),
        }
    }

    /// The list at a word of a link map, if that is one.
    fn list(&self, place: usize, at: usize) -> Option<Vec<usize>> {
        let words = &self.maps[place].words;
        let start = *words.get(at)?;
        // The count is an `unsigned int`.
        let count = *words.get(at + 1)? as u32 as usize;
        if start == 0 || count == 0 || count > self.maps.len() {
            return None;
        }
        self.count(count)?;
        let list = self.memory.array(start, count).ok()?;
        let list: Option<Vec<usize>> = list
            .iter()
            .map(|address| self.places.get(address).copied())
            .collect();
        list.filter(|list| list.len() == count && list[0] == place)
    }

    /// Where the lists of all objects lie, and what each is.
    fn elements(&self, lists_at: usize) -> HashMap<u64, (usize, bool)> {
        let at = |map: &LinkMap, word: usize| map.address.wrapping_add(word as u64 * 8);
        let each = self.maps.iter().enumerate().flat_map(|(place, map)| {
            [
                (at(map, lists_at), (place, false)),
                // l_symbolic_searchlist follows.
                (at(map, lists_at + ELEMENT), (place, true)),
            ]
        });
        each.collect()
    }

    /// The scope at a word of a link map, if that is one.
    fn scope(
        &self,
        place: usize,
        at: usize,
        elements: &HashMap<u64, (usize, bool)>,
    ) -> Option<Vec<Element>> {
        let start = *self.maps[place].words.get(at)?;
        if start == 0 {
            return None;
        }
        let mut scope = Vec::new();
        while scope.len() < LONGEST_SCOPE {
            let at = start.wrapping_add(scope.len() as u64 * 8);
            // Up to the end of a page: the next one may not be mapped.
            let part = ((4096 - at % 4096) / 8).clamp(1, PART as u64) as usize;
            self.count(part)?;
            let words = self.memory.array(at, part).ok()?;
            if words.is_empty() {
                return None;
            }
            for address in words {
                if address == 0 {
                    return (!scope.is_empty()).then_some(scope);
                }
                scope.push(match elements.get(&address)? {
                    (owner, false) => Element::List(*owner),
                    (owner, true) if *owner == place => Element::Itself,
                    (_, true) => return None,
                });
            }
        }
        None
    }
}

/// Scopes as they follow from `DT_NEEDED`, for a dynamic linker that keeps them in
/// another way: an estimate, which knows nothing of `RTLD_GLOBAL` and `RTLD_DEEPBIND`.
/// `needs` are the places that each object needs, `namespaces` those it is in.
pub(super) fn estimate(needs: &[Vec<usize>], namespaces: &[usize]) -> Scopes {
    let first = |namespace: usize| {
        let place = namespaces.iter().position(|other| *other == namespace);
        place.unwrap_or(0)
    };
    let lists = (0..needs.len())
        .map(|place| Some(breadth_first(place, needs)))
        .collect();
    let scopes = (0..needs.len())
        .map(|place| {
            let global = first(namespaces[place]);
            let mut scope = vec![Element::List(global)];
            if place != global {
                scope.push(Element::List(place));
            }
            Some(scope)
        })
        .collect();
    Scopes { lists, scopes }
}

/// An object and all that it needs, in the order in which names are looked up.
pub(super) fn breadth_first(place: usize, needs: &[Vec<usize>]) -> Vec<usize> {
    let mut list = vec![place];
    let mut seen = HashSet::from([place]);
    let mut at = 0;
    while let Some(place) = list.get(at) {
        for needed in &needs[*place] {
            if seen.insert(*needed) {
                list.push(*needed);
            }
        }
        at += 1;
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Link maps of which each has all as its list, in memory of this process.
    fn all_in_all(number: usize) -> Result<Scopes, String> {
        let addresses: Vec<u64> = (1..=number as u64).map(|map| map << 20).collect();
        // Each list begins with its own object: they are parts of one ring.
        let ring = [addresses.clone(), addresses.clone()].concat();
        let global = addresses[0] + PRIVATE as u64 * 8;
        let scope = [global, 0];
        let maps: Vec<LinkMap> = addresses
            .iter()
            .enumerate()
            .map(|(place, address)| {
                let mut words = vec![0; 20];
                words[PRIVATE] = &raw const ring[place] as u64;
                words[PRIVATE + 1] = number as u64;
                words[PRIVATE + 5] = scope.as_ptr() as u64;
                LinkMap {
                    address: *address,
                    bias: 0,
                    name: String::new(),
                    dynamic: 0,
                    namespace: 0,
                    words,
                }
            })
            .collect();
        read(Memory::of(std::process::id()), &maps)
    }

    #[test]
    fn scopes_of_all_objects_together_have_a_limit() {
        let scopes = all_in_all(3).unwrap();
        assert_eq!(scopes.lists[1], Some(vec![1, 2, 0]));
        assert_eq!(scopes.scopes[2], Some(vec![Element::List(0)]));
        assert!(all_in_all(1000).is_ok());
        let why = all_in_all(3000).unwrap_err();
        assert!(why.contains("longer than any dynamic linker"), "{why}");
    }

    #[test]
    fn an_estimated_scope_is_the_program_and_then_the_object() {
        let needs = [vec![1, 2], vec![3], vec![3], vec![], vec![3]];
        let scopes = estimate(&needs, &[0, 0, 0, 0, 0]);
        assert_eq!(scopes.lists[0], Some(vec![0, 1, 2, 3]));
        assert_eq!(scopes.lists[4], Some(vec![4, 3]));
        assert_eq!(
            scopes.scopes[4],
            Some(vec![Element::List(0), Element::List(4)])
        );
    }
}
