//! A running process, read from outside: not stopped, not traced.
//!
//! [`Capture::take`] reads what changes: maps, link maps, scopes. [`Capture::read`] reads
//! the files behind them. The words that references are bound to are read last
//! ([`bindings`]), and [`Capture::changes`] says whether the process loaded or unloaded
//! something meanwhile.

pub mod bindings;
mod error;
mod files;
mod image;
pub mod instead;
mod link_maps;
pub(crate) mod logged;
pub mod look_up;
pub mod memory;
pub mod proc_folder;
mod running;
mod scopes;
mod spans;
mod world;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::path::PathBuf;

use rayon::prelude::*;

pub use error::Error;
pub use link_maps::{LinkMap, LinkMaps};
use memory::Memory;
use proc_folder::{Auxiliary, Mapping, ProcFolder, Status};
pub use running::Running;
pub use scopes::{Element, Scopes};
pub use world::{Live, World};

use crate::classify::LibraryName;
use crate::report::Unreadable;
use files::Opened;

/// A process at one moment.
pub struct Capture {
    /// Its number.
    pub pid: u32,
    /// Its program.
    pub program: PathBuf,
    /// The name that `ps` shows.
    pub name: String,
    /// State and start.
    pub status: Status,
    /// The environment it was started with.
    pub environment: BTreeMap<String, String>,
    /// What the kernel told it.
    pub auxiliary: Auxiliary,
    /// What is mapped.
    pub mappings: Vec<Mapping>,
    /// What the dynamic linker has loaded.
    pub link_maps: LinkMaps,
    /// The scopes, or why they could not be found.
    pub scopes: Result<Scopes, String>,
    /// What could not be read.
    pub unreadable: Vec<Unreadable>,
    /// Why there is nothing but a list of mapped files.
    pub closed: Option<Error>,
    /// The thread by which it is read: the first one may have ended before the others.
    reader: u32,
    /// The program that was read.
    running: Running,
    debug: u64,
    objects: Vec<Found>,
    /// The object of each link map.
    object_of: Vec<Option<usize>>,
}

/// An object that is mapped, or was.
struct Found {
    path: PathBuf,
    bias: u64,
    namespace: usize,
    inode: u64,
    /// The addresses it takes; empty if that is not known.
    span: Range<u64>,
    /// Its file was deleted or replaced since it was mapped.
    replaced: bool,
    file: Option<Opened>,
}

impl Capture {
    /// Reads a process, once: whether it changed meanwhile, [`Capture::changes`] says.
    ///
    /// # Errors
    ///
    /// Why nothing can be said about it.
    pub fn take(pid: u32) -> Result<Capture, Error> {
        let folder = ProcFolder::of(pid);
        let status = folder.status().map_err(|_| Error::NoSuchProcess(pid))?;
        let (reader, folder, status) = match status.has_ended() {
            false => (pid, folder, status),
            true => live_thread(&folder).ok_or(Error::Zombie(pid))?,
        };
        let running = Running::of(reader);
        let failed = |reading| move |error: std::io::Error| Error::of(pid, reading, &error);
        let program = match folder.program() {
            Ok(program) => program,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                // Gone meanwhile, or without a program from the beginning.
                return Err(match folder.status() {
                    Ok(status) if !status.has_ended() => Error::KernelThread(pid),
                    _ => Error::Exited(pid),
                });
            }
            Err(error) => return Err(Error::of(pid, "/proc/PID/exe", &error)),
        };
        let shown = program.display().to_string();
        let mappings = folder.mappings().map_err(failed("/proc/PID/maps"))?;
        if mappings.is_empty() {
            return Err(Error::Exited(pid));
        }
        if is_thirty_two_bit(&folder) {
            return Err(Error::ThirtyTwoBit(shown));
        }
        let auxiliary = folder.auxiliary().map_err(failed("/proc/PID/auxv"))?;
        let mut capture = Capture {
            pid,
            name: folder.name(),
            environment: folder.environment(),
            program,
            status,
            auxiliary,
            mappings,
            link_maps: LinkMaps::default(),
            scopes: Ok(Scopes::default()),
            unreadable: Vec::new(),
            closed: None,
            reader,
            running,
            debug: 0,
            objects: Vec::new(),
            object_of: Vec::new(),
        };
        let found = link_maps::find_debug(
            reader,
            &folder,
            &capture.auxiliary,
            &capture.mappings,
            &shown,
        );
        match found {
            Ok(debug) => {
                capture.debug = debug;
                let most = capture.mappings.len();
                capture.link_maps = link_maps::read(reader, debug, &shown, most)?;
                capture.scopes = scopes::read(capture.memory(), &capture.link_maps.maps);
                capture.find_objects();
                capture.find_hidden();
            }
            // The list of mapped files needs less than the memory itself.
            Err(error @ Error::NotPermitted { .. }) => {
                capture.closed = Some(error);
                capture.guess_objects();
            }
            Err(error) => return Err(error),
        }
        capture.open_files(&folder);
        Ok(capture)
    }

    /// What has changed since: `None` if nothing.
    ///
    /// # Errors
    ///
    /// If the process has exited, or runs another program, or another has its number.
    pub fn changes(&self) -> Result<Option<String>, Error> {
        let folder = self.folder();
        match folder.status() {
            Ok(now) if now.started == self.status.started && !now.has_ended() => {}
            _ => return Err(Error::Exited(self.pid)),
        }
        if Running::of(self.reader) != self.running {
            return Err(Error::OtherProgram(self.pid));
        }
        if self.closed.is_some() {
            return Ok(None);
        }
        let shown = self.program.display().to_string();
        let mappings = folder.mappings();
        let most = mappings.map_err(|error| Error::of(self.pid, "/proc/PID/maps", &error))?;
        let now = link_maps::read(self.reader, self.debug, &shown, most.len())?;
        let (before, after) = (self.link_maps.fingerprint(), now.fingerprint());
        Ok(if now.changing || self.link_maps.changing {
            Some("the dynamic linker was loading or unloading objects meanwhile".to_string())
        } else if before != after {
            Some(match (before.len(), after.len()) {
                (before, after) if before == after => {
                    format!("it has {after} objects loaded as before, and some are others")
                }
                (before, after) => format!("it had {before} objects loaded, and now has {after}"),
            })
        } else {
            None
        })
    }

    /// Its memory.
    pub fn memory(&self) -> Memory {
        Memory::of(self.reader)
    }

    /// Its folder in `/proc`.
    pub fn folder(&self) -> ProcFolder {
        ProcFolder::of(self.reader)
    }

    /// How the process is named in reports.
    pub fn subject(&self) -> String {
        let stopped = match self.status.state {
            'T' | 't' => ", stopped",
            _ => "",
        };
        format!("process {} ({}{stopped})", self.pid, self.name)
    }

    /// The object of each link map: by the mapping that its dynamic segment lies in.
    fn find_objects(&mut self) {
        let vdso = self.auxiliary.get(libc::AT_SYSINFO_EHDR);
        let mut by_dynamic = HashMap::new();
        for map in &self.link_maps.maps {
            if Some(map.bias) == vdso {
                self.object_of.push(None);
                continue;
            }
            // A namespace of dlmopen lists the dynamic linker itself again.
            if let Some(known) = by_dynamic.get(&map.dynamic) {
                self.object_of.push(Some(*known));
                continue;
            }
            let Some(at) = mapping_at(&self.mappings, map.dynamic) else {
                self.object_of.push(None);
                if !map.name.is_empty() {
                    self.unreadable.push(Unreadable {
                        path: map.name.clone(),
                        why: "is loaded, but was not mapped any more when it was read".into(),
                    });
                }
                continue;
            };
            let mapping = &self.mappings[at];
            if mapping.inode == 0 {
                // The vdso of a kernel that does not say where it is.
                self.object_of.push(None);
                continue;
            }
            by_dynamic.insert(map.dynamic, self.objects.len());
            self.object_of.push(Some(self.objects.len()));
            self.objects.push(Found {
                path: mapping.path.clone(),
                bias: map.bias,
                namespace: map.namespace,
                inode: mapping.inode,
                span: spans::of(self.memory(), &self.mappings, at, map.bias),
                replaced: mapping.deleted,
                file: None,
            });
        }
    }

    /// Runtimes that are mapped, and that the dynamic linker does not tell of.
    fn find_hidden(&mut self) {
        let mut seen: HashSet<u64> = self.objects.iter().map(|object| object.inode).collect();
        for mapping in &self.mappings {
            let name = mapping.path.file_name().and_then(|name| name.to_str());
            let is_runtime = name.is_some_and(|name| LibraryName::parse(name).is_some());
            if mapping.executable && is_runtime && seen.insert(mapping.inode) {
                self.unreadable.push(Unreadable {
                    path: mapping.path.display().to_string(),
                    why: "is mapped, but in no list of the dynamic linker: opened with dlmopen under a glibc before 2.35, or by something else; who is bound to it is not known".into(),
                });
            }
        }
    }

    /// Every file that code is mapped from, where the link map may not be read.
    fn guess_objects(&mut self) {
        let mut seen = HashSet::new();
        for mapping in &self.mappings {
            if mapping.inode != 0 && mapping.executable && seen.insert(mapping.inode) {
                self.objects.push(Found {
                    path: mapping.path.clone(),
                    bias: 0,
                    namespace: 0,
                    inode: mapping.inode,
                    span: 0..0,
                    replaced: mapping.deleted,
                    file: None,
                });
            }
        }
    }

    fn open_files(&mut self, folder: &ProcFolder) {
        let memory = self.memory();
        let mut firsts = HashMap::new();
        for mapping in &self.mappings {
            let file = (mapping.inode, mapping.path.as_path());
            firsts.entry(file).or_insert(mapping);
        }
        let opened: Vec<Result<Opened, String>> = self
            .objects
            .par_iter()
            .map(
                |object| match firsts.get(&(object.inode, object.path.as_path())) {
                    Some(first) => files::open(folder, memory, first, first),
                    None => Err("is not mapped".into()),
                },
            )
            .collect();
        let mut left = image::MOST;
        for (object, opened) in self.objects.iter_mut().zip(opened) {
            // One after the other: what is left for the next does not depend on luck.
            let opened = opened.or_else(|why| {
                // Where not even that can be read, the file is what helps.
                let (span, bias) = (&object.span, object.bias);
                files::from_memory(memory, span, bias, &mut left).map_err(|_| why)
            });
            match opened {
                Ok(file) => object.file = Some(file),
                Err(why) => self.unreadable.push(Unreadable {
                    path: object.path.display().to_string(),
                    why,
                }),
            }
        }
    }
}

/// A thread that has not ended, by which a process whose first thread has can be read.
fn live_thread(folder: &ProcFolder) -> Option<(u32, ProcFolder, Status)> {
    folder.threads().into_iter().find_map(|thread| {
        let folder = ProcFolder::of(thread);
        let status = folder.status().ok()?;
        (!status.has_ended()).then_some((thread, folder, status))
    })
}

/// The place of the mapping that holds an address; they are in order.
fn mapping_at(mappings: &[Mapping], address: u64) -> Option<usize> {
    let after = mappings.partition_point(|mapping| mapping.range.start <= address);
    let at = after.checked_sub(1)?;
    mappings.get(at)?.range.contains(&address).then_some(at)
}

fn is_thirty_two_bit(folder: &ProcFolder) -> bool {
    use std::io::Read;
    let mut start = [0; 5];
    let read =
        std::fs::File::open(folder.path("exe")).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start[..4] == object::elf::ELFMAG && start[4] == object::elf::ELFCLASS32.0
}
