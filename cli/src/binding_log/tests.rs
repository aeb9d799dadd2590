//! Logs in small.

use super::*;

fn read(text: &str) -> BindingLog {
    let mut log = BindingLog::default();
    log.read(&mut text.as_bytes(), &Names::default()).unwrap();
    log
}

/// Every kept binding as `from name@node to`.
fn bound(log: &BindingLog) -> Vec<String> {
    let file = |alike: &Alike, at: usize| alike.objects[at].0.clone();
    let text = |alike: &Alike, one: &Logged| {
        let to = one.to.map_or("nobody".into(), |to| file(alike, to));
        let node = one.node.as_deref().unwrap_or("?");
        format!("{} {}@{node} {to}", file(alike, one.from), one.name)
    };
    let all = log.alike();
    let of_one = |alike: &Alike| -> Vec<String> {
        let bindings = alike.bindings.iter();
        bindings.map(|one| text(alike, one)).collect()
    };
    all.iter().flat_map(of_one).collect()
}

#[test]
fn interleaved_processes_are_kept_apart_and_repeats_counted_once() {
    let text = "1:\tbinding file a [0] to b [0]: normal symbol `hipInit' [hip_4.2]\n\
                noise\n\
                2:\tbinding file a [0] to stub [0]: normal symbol `hipInit' [hip_4.2]\n\
                1:\tbinding file a [0] to b [0]: normal symbol `hipInit' [hip_4.2]\n\
                1:\tbinding file a [0] to libc.so.6 [0]: normal symbol `malloc'\n";
    let log = read(text);
    assert_eq!((log.lines, log.objects(), log.processes()), (4, 4, 2));
    let expected = ["a hipInit@hip_4.2 b", "a hipInit@hip_4.2 stub"];
    assert_eq!(bound(&log), expected, "libc does not matter");
}

#[test]
fn processes_with_the_same_bindings_are_put_together_whatever_their_order() {
    let init = "binding file a [0] to b [0]: normal symbol `hipInit' [hip_4.2]\n";
    let free = "binding file c [0] to b [0]: normal symbol `hipFree' [hip_4.2]\n";
    let of = |pid: u32, first: &str, second: &str| format!("{pid}:\t{first}{pid}:\t{second}");
    let text = of(7, init, free) + &of(3, free, init) + "5:\t" + init;
    let alike = read(&text).alike();
    let pids: Vec<&[u32]> = alike.iter().map(|alike| &alike.pids[..]).collect();
    assert_eq!(pids, [&[3, 7][..], &[5]]);
}

#[test]
fn pieces_are_put_together_wherever_they_are_cut() {
    let text = "        12:\tbinding file a [0] to b [0]: normal symbol `hipInit' [hip_4.2]\n\
                \u{20}       12:\tbinding file c [0] to d [0]: normal symbol `hipFree'\n";
    for at in 0..text.len() {
        let (mut log, mut lines) = (BindingLog::default(), Lines::default());
        let names = Names::default();
        for piece in [&text[..at], &text[at..]] {
            let piece = piece.as_bytes();
            log.feed(&mut lines, piece, &names).unwrap();
        }
        let expected = ["a hipInit@hip_4.2 b", "c hipFree@? d"];
        assert_eq!(bound(&log), expected, "cut at {at}");
    }
}

#[test]
fn a_last_line_without_end_counts_if_it_names_a_symbol() {
    let text = "1:\tbinding file a [0] to b [0]: normal symbol `hipInit' [hip_4.2]";
    assert_eq!(bound(&read(text)), ["a hipInit@hip_4.2 b"]);
    let cut = text.find(" [hip_").unwrap();
    assert_eq!(bound(&read(&text[..cut])), ["a hipInit@? b"]);
    assert_eq!(bound(&read(&text[..cut + 6])), ["a hipInit@? b"]);
    assert!(
        bound(&read(&text[..cut - 1])).is_empty(),
        "hipInit or hipInitNext"
    );
}

/// Two threads: the second writes between the two pieces of the first.
#[test]
fn statements_in_one_line_are_told_apart() {
    let text = "        12:\tbinding file a [0] to b [0]: normal symbol `hipInit'        12:\tbinding file c [0] to d [0]: normal symbol `hipFree' [hip_4.2]\n [hip_4.2]\n";
    let expected = ["a hipInit@? b", "c hipFree@hip_4.2 d"];
    assert_eq!(bound(&read(text)), expected);
    // What the program printed before, and a process that ended in the middle.
    let text = "Loading        12:\tbinding file a [0] to        13:\tbinding file c [0] to d [0]: normal symbol `hipFree'\n";
    assert_eq!(bound(&read(text)), ["c hipFree@? d"]);
    let text = "Loading        12:\tbinding file a [0] to b [0]: normal symbol `hipInit'\n";
    assert_eq!(bound(&read(text)), ["a hipInit@? b"]);
}

#[test]
fn a_line_that_is_too_long_is_left_out_as_a_whole() {
    let line = "1:\tbinding file a [0] to b [0]: normal symbol `hipInit'\n";
    let long = "x".repeat(LONGEST_LINE) + line;
    assert_eq!(read(&long).lines, 0);
    assert_eq!(read(&(long + line)).lines, 1);
}

const VDSO: &str = "1:\tbinding file linux-vdso.so.1 [0] to linux-vdso.so.1 [0]: normal symbol `__vdso_time' [LINUX_2.6]\n\
    1:\tbinding file linux-vdso.so.1 [0] to linux-vdso.so.1 [0]: normal symbol `__vdso_getcpu' [LINUX_2.6]\n";

fn load(name: &str) -> String {
    format!("1:\tbinding file {name} [0] to /libc.so.6 [0]: normal symbol `malloc'\n")
}

/// The objects of every moment.
fn moments(log: &BindingLog) -> Vec<String> {
    let all = log.alike();
    let names = |alike: &Alike| {
        let names = alike.objects.iter().map(|(path, _)| path.as_str());
        names
            .filter(|path| *path != "/libc.so.6")
            .collect::<Vec<_>>()
            .join(" ")
    };
    all.iter().map(names).collect()
}

#[test]
fn a_program_begins_with_the_names_of_the_vdso() {
    let start = "1:\tinitialize program: /p\n";
    let text = VDSO.repeat(5) + &load("/a") + start + &VDSO.repeat(5) + &load("/b") + start;
    let log = read(&text);
    assert_eq!(moments(&log), ["/a /p", "/b /p"]);
    assert_eq!(log.story().programs[&1], ["/p", "/p"]);
    assert!(log.story().unclear.is_empty() && log.story().not_started.is_empty());
    let log = read(&(text + VDSO));
    assert_eq!(log.story().not_started, BTreeSet::from([1]));
}

/// Before 2.31, the C library's constructor looked these names up.
#[test]
fn the_vdso_of_an_old_library_is_no_beginning() {
    let init = "1:\tcalling init: /lib/libc-2.28.so\n";
    let start = "1:\tinitialize program: /p\n";
    let one = load("/a") + init + &VDSO.repeat(2) + &load("/b") + start;
    let log = read(&one);
    assert_eq!(moments(&log), ["/a /lib/libc-2.28.so /b /p"]);
    assert!(log.story().middle.is_empty() && log.story().has_beginning);
    // Where the second one begins cannot be told.
    assert_eq!(
        read(&(one.clone() + &one)).story().unclear,
        BTreeSet::from([1])
    );
}

#[test]
fn a_library_that_is_opened_again_and_again_is_two_moments_at_most() {
    let fini = |name: &str| format!("1:\tcalling fini: {name} [0]\n");
    let init = |name: &str| format!("1:\tcalling init: {name}\n");
    let round = load("/a") + &init("/a") + &fini("/a") + &load("/b") + &init("/b") + &fini("/b");
    let log = read(&(VDSO.to_string() + "1:\tinitialize program: /p\n" + &round.repeat(50)));
    assert_eq!(moments(&log), ["/p /a", "/p /b"]);
    assert!(log.passed.len() <= 2, "{}", log.passed.len());
}

/// A daemon's parent has ended when it writes its first line.
#[test]
fn a_fork_of_a_parent_that_has_ended_is_known() {
    let of = |pid: u32, text: &str| text.replace("1:\t", &format!("{pid}:\t"));
    let program = VDSO.to_string() + "1:\tinitialize program: /p\n" + &load("/a");
    let text = program.clone() + "1:\tcalling fini:  [0]\n" + &of(2, &load("/b"));
    assert_eq!(read(&text).story().forks, BTreeMap::from([(2, 1)]));
    // One that runs is likelier.
    let other = of(3, &program.replace("/p", "/q"));
    let text = program + "1:\tcalling fini:  [0]\n" + &other + &of(2, &load("/b"));
    assert_eq!(read(&text).story().forks, BTreeMap::from([(2, 3)]));
}

#[test]
fn a_log_of_more_names_than_there_are_is_refused() {
    let mut log = BindingLog::default();
    log.strings.bytes = MOST_TEXT;
    let line = "1:\tbinding file a [0] to b [0]: normal symbol `hipInit'\n";
    let error = log
        .read(&mut line.as_bytes(), &Names::default())
        .unwrap_err();
    assert!(error.to_string().contains("--prefix"), "{error}");
}

/// `libhsa-runtime64` does.
#[test]
fn a_library_that_asks_the_vdso_is_no_beginning() {
    let one = VDSO.lines().next().unwrap().to_string() + "\n";
    let text = VDSO.to_string() + "1:\tinitialize program: /p\n" + &load("/a");
    let text = text + &one + &one + &load("/b");
    assert_eq!(moments(&read(&text)), ["/p /a /b"]);
}
