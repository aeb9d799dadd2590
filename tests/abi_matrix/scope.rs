//! `HIPLAZY_SCOPE=global`: a preloaded library is in front of the runtime for translators and
//! stand-ins as well. `HIPLAZY_ABI=off`: neither of them is used.

use crate::cell::{Cell, Passed};
use crate::child::{in_front, make, make_below};
use crate::policy::{call, runtime};
use crate::substitutes;
use crate::tables::HEADERS;

type Headers = hiplazy_abi::Version;

/// Kind and device, as the library of `in_front.c` says for a device that no fake has.
#[test]
fn an_interposer_is_honoured_below_a_translator() {
    let library = in_front("ANSWERS");
    let runtime = runtime(7, 14);
    let asked = |headers| {
        let passed = vec![Passed::Room(64), Passed::Memory];
        call("hipPointerGetAttributes", headers, runtime, passed)
    };
    // hipMemoryTypeDevice is 1 for the headers of HIP 5 and 2 since.
    let cells = [asked(Headers::new(5, 7)), asked(Headers::new(7, 14))];
    let (answers, _) = make_below(Some(&library), runtime, "strict", &cells);
    for (answer, kind) in answers.iter().zip([1, 2]) {
        assert_eq!((answer.status, answer.calls), (0, 0), "{}", answer.error);
        let bytes = &answer.buffers[&0];
        assert_eq!(bytes[..8], [kind, 0, 0, 0, 77, 0, 0, 0]);
    }
    // Without it the runtime answers.
    let (answers, _) = make(runtime, "strict", &cells);
    for answer in &answers {
        assert_eq!((answer.status, answer.calls), (0, 1), "{}", answer.error);
        assert_ne!(answer.buffers[&0][4], 77);
    }
}

#[test]
fn an_interposer_is_honoured_below_a_stand_in() {
    let library = in_front("ANSWERS");
    let runtime = runtime(5, 7);
    let passed = vec![Passed::Room(1472), Passed::Value(0)];
    let mut cell = call("hipGetDevicePropertiesR0600", HEADERS[4], runtime, passed);
    cell.watched = "hipGetDeviceProperties".to_string();
    let cells = [cell];
    let (answers, _) = make_below(Some(&library), runtime, "strict", &cells);
    let [answer] = &answers[..] else { panic!() };
    assert_eq!((answer.status, answer.calls), (0, 0), "{}", answer.error);
    assert_eq!(&answer.buffers[&0][..11], b"interposed\0");
    // The rest is the translation of a struct that has nothing else.
    assert!(answer.buffers[&0][11..].iter().all(|byte| *byte == 0));
    let (answers, _) = make(runtime, "strict", &cells);
    assert_eq!((answers[0].status, answers[0].calls), (0, 1));
    assert_ne!(&answers[0].buffers[&0][..11], b"interposed\0");
}

#[test]
fn hiplazy_abi_off_means_no_stand_ins() {
    let runtime = runtime(5, 7);
    let cells: Vec<Cell> = HEADERS
        .iter()
        .flat_map(|headers| substitutes::cells_for(runtime, *headers))
        .filter(|cell| cell.watched != cell.function)
        .collect();
    let (answers, _) = make(runtime, "off", &cells);
    for (cell, answer) in cells.iter().zip(&answers) {
        let title = cell.title();
        assert_eq!((answer.status, answer.calls), (302, 0), "{title}");
        let begin = format!("{}: not in ", cell.function);
        assert!(
            answer.error.starts_with(&begin),
            "{title}: {}",
            answer.error
        );
        assert_eq!(cell.check_untouched(answer), Ok(()), "{title}");
    }
    assert!(cells.len() > 100, "{}", cells.len());
}
