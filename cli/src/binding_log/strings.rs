//! Texts by number.

use std::collections::HashMap;

/// Each string once.
#[derive(Debug, Clone, Default)]
pub(super) struct Strings {
    places: HashMap<Box<str>, u32>,
    pub(super) bytes: usize,
}

impl Strings {
    pub(super) fn place(&mut self, text: &str) -> u32 {
        if let Some(place) = self.places.get(text) {
            return *place;
        }
        let place = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
        self.bytes += text.len();
        self.places.insert(text.into(), place);
        place
    }

    pub(super) fn by_place(&self) -> Vec<&str> {
        let mut all = vec![""; self.places.len()];
        for (text, place) in &self.places {
            all[*place as usize] = text;
        }
        all
    }
}
