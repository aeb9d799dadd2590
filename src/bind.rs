//! Binding: from a function's number to the address that its slot shall hold.
//!
//! There is no lock. Every state here is published by compare-and-swap, first one
//! wins, and every thread can go on alone whatever the others are doing: a
//! constructor that runs inside another thread's `dlopen` may call a wrapper, and
//! would otherwise wait for a lock whose owner waits for the dynamic linker.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64, Ordering};

use once_cell::race::OnceRef;

use crate::breaks::{Decision, Policy};
use crate::buffer::Buffer;
use crate::dl::{self, Mapped, Object};
use crate::failure::{Cause, Failure};
use crate::functions::{self, COUNT};
use crate::loaded::{LIBRARY_COUNT, Library, Loaded};
use crate::log::{Level, log};
use crate::report::{REPORT_SIZE, Report};
use crate::search::Search;
use crate::text::Text;
use crate::{absent, breaks, env, errno, open, shortage, slots, thread, translate};

/// What is known of one library.
struct State {
    /// The library, once it is found. Its constructors have run by then.
    loaded: OnceRef<'static, Loaded>,
    /// [`UNBOUND`], [`BINDING`] or [`BOUND`].
    table: AtomicU8,
    /// One more than [`dl::objects_added`] at the end of the last failed search; 0
    /// before any. Stored after `report` with Release, so that who sees it sees a
    /// report.
    absent_since: AtomicU64,
    /// The report of that search, an interned string.
    report: AtomicPtr<c_char>,
}

const UNBOUND: u8 = 0;
/// Some thread is filling the slots. Others resolve just what they need.
const BINDING: u8 = 1;
/// Every slot whose function exists is filled.
const BOUND: u8 = 2;

static STATES: [State; LIBRARY_COUNT] = [const {
    State {
        loaded: OnceRef::new(),
        table: AtomicU8::new(UNBOUND),
        absent_since: AtomicU64::new(0),
        report: AtomicPtr::new(ptr::null_mut()),
    }
}; LIBRARY_COUNT];

/// One bit for each function that its bound library lacks.
static MISSING: [AtomicU64; COUNT.div_ceil(64)] = [const { AtomicU64::new(0) }; COUNT.div_ceil(64)];

fn state(library: Library) -> &'static State {
    let [first, ..] = &STATES;
    STATES.get(library as usize).unwrap_or(first)
}

/// Where a call of function `index` shall go now: into its library, or to the
/// answer for a machine that does not have it. Records the failure in that case.
pub(crate) fn target(index: usize) -> *const c_void {
    let errno = errno::get();
    let target = match address(index) {
        Ok(address) => address.cast_const(),
        Err(cause) => absent::answer(index, cause),
    };
    errno::set(errno);
    target
}

fn address(index: usize) -> Result<*mut c_void, Cause> {
    let library = functions::library(index);
    let state = state(library);
    if state.loaded.get().is_none() && thread::opening() {
        return address_while_opening(index, library);
    }
    let loaded = find(library)?;
    if is_missing(index) {
        return Err(Cause::Missing(loaded));
    }
    let asked = Asked::now();
    let found = resolve(index, loaded, asked.scope);
    let destination = destination(index, found, loaded, asked, true)?;
    // SAFETY: the library is published, so its constructors have run, and it is
    // never closed; the address is of this link name, or a translator for it.
    unsafe { slots::store(index, destination.address()) };
    Ok(destination.address())
}

/// What the environment asks of the binding.
#[derive(Clone, Copy)]
struct Asked {
    scope: Scope,
    policy: Policy,
}

impl Asked {
    fn now() -> Asked {
        Asked {
            scope: Scope::asked_for(),
            policy: Policy::asked_for(),
        }
    }
}

/// What a slot holds when it is bound.
#[derive(Clone, Copy)]
enum Destination {
    /// The library's function, or a translator before it.
    Function(*mut c_void),
    /// What stands in for a function that the library lacks.
    Substitute(*mut c_void),
}

impl Destination {
    fn address(self) -> *mut c_void {
        match self {
            Destination::Function(address) | Destination::Substitute(address) => address,
        }
    }
}

/// What the slot of entry `index` is to hold, whose name was found at `found`: the
/// library's function, or the translator that callers with other headers need before it.
/// `ask` allows asking the runtime for its version, which may start it; without that some
/// are not decided yet.
fn destination(
    index: usize,
    found: Option<*mut c_void>,
    loaded: &'static Loaded,
    asked: Asked,
    ask: bool,
) -> Result<Destination, Cause> {
    let translator = |number| translator(number, loaded, asked.scope);
    let Some(address) = found else {
        let substitute = breaks::substitute(index, asked.policy);
        let substitute = substitute.ok_or(Cause::Missing(loaded))?;
        return Ok(Destination::Substitute(translator(substitute)));
    };
    match breaks::decide(index, loaded, asked.policy, ask) {
        Decision::Direct => Ok(Destination::Function(address)),
        Decision::Translate(number) => Ok(Destination::Function(translator(number))),
        Decision::Refuse(why) => Err(Cause::Incompatible(loaded, why)),
        Decision::AskVersion => Err(Cause::Undecided),
    }
}

/// Whether the functions that translators call have been looked for.
static KEPT: AtomicBool = AtomicBool::new(false);

/// A translator, whose own functions are found first.
fn translator(number: u8, loaded: &'static Loaded, scope: Scope) -> *mut c_void {
    if !KEPT.load(Ordering::Acquire) {
        // Another thread fills the table and has not come so far.
        for real in translate::numbers() {
            if let Some(node) = functions::changed_entry(real) {
                keep(real, node, loaded, scope);
            }
        }
        keep_others(loaded, scope);
    }
    translate::address(number).cast_mut()
}

/// Looks for what translators call and nobody else: substitutes do, where one is needed.
fn keep_others(loaded: &'static Loaded, scope: Scope) {
    let is_needed = |real| functions::has_substitute(real) && translate::kept(real).is_none();
    if translate::numbers().any(is_needed) {
        for real in translate::numbers() {
            if functions::changed_entry(real).is_none() {
                keep(real, None, loaded, scope);
            }
        }
    }
    KEPT.store(true, Ordering::Release);
}

fn keep(real: u8, node: Option<&CStr>, loaded: &'static Loaded, scope: Scope) {
    let name = functions::changed_name(real);
    translate::keep(
        real,
        name.and_then(|name| symbol(name, node, loaded, scope)),
    );
}

/// Whose function callers of an entry are to be given.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    Runtimes,
    /// Ours: it needs a translator, is refused, or has something stand in for it.
    Ours,
    Nobodys,
}

/// Whose function callers of entry `index` are to be given by the bound HIP runtime.
pub(crate) fn whose(index: usize) -> Whose {
    let Some(runtime) = state(Library::Hip).loaded.get() else {
        return Whose::Nobodys;
    };
    let asked = Asked::now();
    let is_ours = match resolve(index, runtime, asked.scope) {
        Some(_) => breaks::decide(index, runtime, asked.policy, true) != Decision::Direct,
        None if breaks::substitute(index, asked.policy).is_some() => true,
        None => return Whose::Nobodys,
    };
    if is_ours {
        Whose::Ours
    } else {
        Whose::Runtimes
    }
}

/// The bound library, found and bound if that has not happened yet.
pub(crate) fn find(library: Library) -> Result<&'static Loaded, Cause> {
    let state = state(library);
    if let Some(loaded) = state.loaded.get() {
        bind_table(library, loaded);
        return Ok(loaded);
    }
    let added = dl::objects_added();
    if state.absent_since.load(Ordering::Acquire) == added + 1 {
        return Err(Cause::Absent(library, state.report()));
    }
    search(library, added)
}

/// Looks for `library`. A fruitless search is remembered until something is added
/// to the process's link map, and its report kept.
///
/// Not inlined, so that no other call needs the stack for this.
#[cold]
#[inline(never)]
fn search(library: Library, added: u64) -> Result<&'static Loaded, Cause> {
    let shortages = shortage::so_far();
    let state = state(library);
    let mut buffer = Buffer::new(REPORT_SIZE).ok_or(Cause::OutOfMemory)?;
    let mut report = Report::new(&mut buffer);
    let mut search = Search::new(library, &mut report);
    let disabled = env::is_on(env::DISABLE);
    let mut found = if disabled {
        search.note("HIPLAZY_DISABLE is set, so no runtime is looked for. Unset it to use one.");
        None
    } else {
        match library {
            Library::Hip => search.hip(crate::header_version::major()),
            Library::Hiprtc => search.hiprtc(find(Library::Hip)?),
            Library::Hsa => hsa(&mut search)?,
        }
    };
    // What was mapped before this moment is looked at below, what is mapped after
    // it moves the number.
    let now = dl::objects_added();
    if found.is_none() && now != added && !disabled && search.may_go_on() {
        found = search.mapped_meanwhile(bound());
    }
    if found.is_none() && !disabled {
        search.advise();
    }
    if let Some(loaded) = found {
        let loaded = state.publish(loaded)?;
        bind_table(library, loaded);
        return Ok(loaded);
    }
    // Another thread may have succeeded where this one did not.
    if let Some(loaded) = state.loaded.get() {
        return Ok(loaded);
    }
    let text = report.finish();
    let missed = shortage::so_far();
    if missed.of_memory != shortages.of_memory {
        return Err(Cause::OutOfMemory);
    }
    log(Level::Info, |line| {
        line.str("no ").str(library.title()).str("\n").c_str(text);
    });
    // Without a descriptor to look with, nothing was found out for later calls.
    if missed == shortages {
        state
            .report
            .store(text.as_ptr().cast_mut(), Ordering::Release);
        state.absent_since.store(now + 1, Ordering::Release);
    }
    Err(Cause::Absent(library, text))
}

/// The HSA runtime: a mapped one, else the HIP runtime's own, else an installed one.
/// `hsa_init` is meant to work without HIP, so that HIP's absence is no failure here.
fn hsa(search: &mut Search) -> Result<Option<Loaded>, Cause> {
    let hip = state(Library::Hip).loaded.get();
    if hip.is_none()
        && let Some(found) = search.mapped()
    {
        return Ok(Some(found));
    }
    match find(Library::Hip) {
        Ok(hip) => Ok(search.hsa(Some(hip))),
        Err(Cause::Absent(..)) if env::own(env::RUNTIME).is_none() => Ok(search.hsa(None)),
        Err(cause) => Err(cause),
    }
}

impl State {
    fn report(&self) -> &'static CStr {
        let report = self.report.load(Ordering::Acquire);
        if report.is_null() {
            return c"";
        }
        // SAFETY: only interned strings are stored.
        unsafe { CStr::from_ptr(report) }
    }

    /// Makes `loaded` the library for every thread, unless another was first.
    fn publish(&self, loaded: Loaded) -> Result<&'static Loaded, Cause> {
        // SAFETY: plain allocation.
        let place = unsafe { libc::malloc(size_of::<Loaded>()) }.cast::<Loaded>();
        if place.is_null() {
            return Err(Cause::OutOfMemory);
        }
        // SAFETY: fresh memory of that size, which malloc aligned for pointers; it
        // is freed below only if nobody else has seen it.
        let loaded = unsafe {
            place.write(loaded);
            &*place
        };
        if self.loaded.set(loaded).is_err()
            && let Some(first) = self.loaded.get()
        {
            // SAFETY: made above; the reference `loaded` is not used any more.
            unsafe { libc::free(place.cast()) };
            return Ok(first);
        }
        Ok(loaded)
    }
}

/// Fills the slots of all functions of `library`, so that no later call of any
/// thread enters the dynamic linker.
fn bind_table(library: Library, loaded: &'static Loaded) {
    let table = &state(library).table;
    let begin = table.compare_exchange(UNBOUND, BINDING, Ordering::AcqRel, Ordering::Acquire);
    if begin.is_err() {
        return;
    }
    let asked = Asked::now();
    let (mut bound, mut all) = (0u64, 0u64);
    let mut fill = |index, destination| match destination {
        Ok(Destination::Function(address)) => {
            // SAFETY: as in `address`.
            unsafe { slots::store(index, address) };
            bound += u64::from(functions::since(index) == 0);
        }
        // SAFETY: as in `address`.
        Ok(Destination::Substitute(address)) => unsafe { slots::store(index, address) },
        Err(Cause::Missing(_)) => set_missing(index),
        // Answered, or decided, by its first call.
        Err(_) => {}
    };
    // What may need a translator waits for all that translators call. Its name is looked
    // up once for all its entries.
    for index in entries_of(library) {
        if functions::since(index) != 0 {
            continue;
        }
        all += 1;
        let found = resolve(index, loaded, asked.scope);
        match functions::changed(index) {
            Some(real) => translate::keep(real, found),
            None => {
                let destination = found.map(Destination::Function);
                fill(index, destination.ok_or(Cause::Missing(loaded)));
            }
        }
    }
    if library == Library::Hip {
        keep_others(loaded, asked.scope);
    }
    for index in entries_of(library) {
        if let Some(real) = functions::changed(index) {
            let found = translate::kept(real);
            fill(index, destination(index, found, loaded, asked, false));
        }
    }
    table.store(BOUND, Ordering::Release);
    log(Level::Info, |text| {
        text.str("bound ").number(bound).str(" of ").number(all);
        text.str(" functions of ").c_str(loaded.path);
    });
}

fn entries_of(library: Library) -> impl Iterator<Item = usize> {
    (0..COUNT).filter(move |index| functions::library(*index) == library)
}

/// Where names are looked up: `HIPLAZY_SCOPE`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// In the bound library alone.
    Runtime,
    /// In the global scope first, so that `LD_PRELOAD` interposers are honoured.
    Global,
}

impl Scope {
    fn asked_for() -> Scope {
        match env::own(env::SCOPE) {
            Some(value) if value == c"global" => Scope::Global,
            Some(value) if value != c"runtime" => {
                static SAID: AtomicBool = AtomicBool::new(false);
                if !SAID.swap(true, Ordering::Relaxed) {
                    log(Level::Error, |text| {
                        text.str("HIPLAZY_SCOPE=").c_str(value);
                        text.str(" is not runtime or global; runtime is used");
                    });
                }
                Scope::Runtime
            }
            _ => Scope::Runtime,
        }
    }
}

/// The address of function `index`, by its link name.
fn resolve(index: usize, loaded: &Loaded, scope: Scope) -> Option<*mut c_void> {
    symbol(
        functions::name(index)?,
        functions::node(index),
        loaded,
        scope,
    )
}

/// The address of `name`, never a definition in the object that holds this code.
fn symbol(name: &CStr, node: Option<&CStr>, loaded: &Loaded, scope: Scope) -> Option<*mut c_void> {
    if scope == Scope::Global
        && let Some(address) = dl::global_symbol(name, node)
        && Object::containing(address) != Object::containing((&raw const STATES).cast())
    {
        return Some(address);
    }
    loaded.handle.symbol(name, node)
}

fn missing_bit(index: usize) -> Option<(&'static AtomicU64, u64)> {
    Some((MISSING.get(index / 64)?, 1 << (index % 64)))
}

fn set_missing(index: usize) {
    if let Some((word, bit)) = missing_bit(index) {
        word.fetch_or(bit, Ordering::Relaxed);
    }
}

fn is_missing(index: usize) -> bool {
    missing_bit(index).is_some_and(|(word, bit)| word.load(Ordering::Relaxed) & bit != 0)
}

/// For a constructor that runs inside this thread's own `dlopen` of a runtime and
/// calls a wrapper: the function of the runtime that is just being mapped.
///
/// Nothing is published and no slot is filled, so that no other thread enters a
/// library whose constructors have not finished; and nothing further is opened.
#[cold]
#[inline(never)]
fn address_while_opening(index: usize, library: Library) -> Result<*mut c_void, Cause> {
    let name = functions::name(index).ok_or(Cause::Opening(library))?;
    let mapped = Mapped::list(library.filter()).ok_or(Cause::OutOfMemory)?;
    let mut buffer = [0; 256];
    for file in mapped.names() {
        let opened = open::open(library, file, true, false, &mut Text::new(&mut buffer));
        if let Ok(loaded) = opened
            && let Some(address) = loaded.handle.symbol(name, functions::node(index))
        {
            let decision = breaks::decide(index, &loaded, Policy::asked_for(), false);
            if decision == Decision::Direct {
                return Ok(address);
            }
            // A translator needs functions that are found with the whole table.
            return Err(Cause::Untranslatable {
                code: absent::INIT_FAILED,
                why: c"called by a constructor while the runtime is being opened, with headers that need a translation for it; that is bound when the runtime is",
            });
        }
    }
    Err(Cause::Opening(library))
}

/// Finds and binds the HIP runtime now. Returns a `hipError_t`.
pub(crate) fn load() -> c_int {
    if thread::opening() && state(Library::Hip).loaded.get().is_none() {
        return fail(Cause::Opening(Library::Hip));
    }
    match find(Library::Hip) {
        Ok(_) => 0,
        Err(cause) => fail(cause),
    }
}

fn fail(cause: Cause) -> c_int {
    let code = absent::code(cause);
    thread::record(
        Failure {
            function: None,
            cause,
        },
        Some(code),
    );
    code
}

/// The address of `name` in the library it belongs to, which is loaded for that.
pub(crate) fn symbol_by_name(name: &CStr) -> Option<*mut c_void> {
    let index = functions::find(name);
    let library = match index {
        Some(index) => functions::library(index),
        None if name.to_bytes().starts_with(b"hiprtc") => Library::Hiprtc,
        None if name.to_bytes().starts_with(b"hsa_") => Library::Hsa,
        None => Library::Hip,
    };
    if thread::opening() && state(library).loaded.get().is_none() {
        return None;
    }
    match find(library) {
        Ok(loaded) => {
            let node = index.and_then(functions::node);
            let scope = Scope::asked_for();
            symbol(name, node, loaded, scope).filter(|address| {
                // A look-up by handle goes on into dependencies, which may have any
                // name; those of the manifest are nobody else's.
                let own = || Object::containing(*address) == loaded.handle.object();
                index.is_some() || scope == Scope::Global || own()
            })
        }
        Err(cause) => {
            thread::record(
                Failure {
                    function: index,
                    cause,
                },
                None,
            );
            None
        }
    }
}

/// The HIP runtime if it is bound; nothing is loaded for this.
pub(crate) fn bound() -> Option<&'static Loaded> {
    state(Library::Hip).loaded.get()
}
