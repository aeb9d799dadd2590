//! From sources to shared objects in the caller's folder.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread;

use hiplazy_abi::{Class, Export};

use crate::compiler;
use crate::error::Error;
use crate::generate::{Model, error_source, version_script, version_source};
use crate::library::{Kind, Library};
use crate::sources::{HEADER, HOT, Part, SOURCES, modelled};
use crate::version::Version;

/// Objects by file name.
type Objects = Vec<(String, Vec<u8>)>;

/// What objects are compiled with: the compiler, and the version that they are for.
/// Those without a version are part of all libraries.
type Compiled = HashMap<(String, Option<Version>), Arc<Objects>>;

/// Compiled once per process and compiler: a test suite builds many variants,
/// and only one small file differs between those of one version.
static COMPILED: LazyLock<Mutex<Compiled>> = LazyLock::new(Mutex::default);

/// What DTK has in place of the `R0600` names.
const DTK_EXPORTS: [&str; 2] = ["hipGetDeviceProperties_v2", "hipChooseDevice_v2"];

/// Generated beside the source files, the same for all libraries.
const ERROR_TABLE: &str = "error_table.c";

/// Builds libraries into a folder, which is created if it does not exist.
/// Each file appears complete, or not at all. Gives their paths, in order.
///
/// # Errors
///
/// No compiler, a compiler error (with all its output), an unwritable folder,
/// or a function name that the library does not have.
pub fn build(folder: &Path, libraries: &[Library]) -> Result<Vec<PathBuf>, Error> {
    let folder = std::path::absolute(folder).map_err(Error::file("find the folder", folder))?;
    fs::create_dir_all(&folder).map_err(Error::file("create the folder", &folder))?;
    let work = tempfile::Builder::new()
        .prefix(".fakehip-")
        .tempdir_in(&folder)
        .map_err(Error::file("create a temporary folder in", &folder))?;
    write_sources(work.path())?;
    let mut versions: BTreeSet<Option<Version>> = libraries
        .iter()
        .filter_map(|library| match library.kind {
            Kind::Hip(version) => Some(Some(version)),
            Kind::Rtc(_) | Kind::Hsa => None,
        })
        .collect();
    versions.insert(None);
    common_objects(work.path(), &versions)?;

    let classes: HashMap<String, Class> = hiplazy_abi::parse_functions(hiplazy_abi::FUNCTIONS_TXT)?
        .into_iter()
        .map(|function| (function.name, function.class))
        .collect();
    let numbered: Vec<(usize, &Library)> = libraries.iter().enumerate().collect();
    in_parallel(&numbered, |&(number, library)| {
        build_one(work.path(), number, library, &folder, &classes)
    })?;
    Ok(libraries
        .iter()
        .map(|library| folder.join(&library.file_name))
        .collect())
}

/// Writes `fakehip.h` into a folder and gives its path.
///
/// # Errors
///
/// The file cannot be written.
pub fn write_header(folder: &Path) -> Result<PathBuf, Error> {
    let path = folder.join("fakehip.h");
    write(&path, HEADER)?;
    Ok(path)
}

fn write(path: &Path, text: impl AsRef<[u8]>) -> Result<(), Error> {
    fs::write(path, text).map_err(Error::file("write", path))
}

/// `c/` and `include/`, as in the repository: the sources refer to each other so.
fn write_sources(work: &Path) -> Result<(), Error> {
    for name in ["c", "include"] {
        let path = work.join(name);
        fs::create_dir(&path).map_err(Error::file("create the folder", &path))?;
    }
    for source in SOURCES {
        write(&work.join("c").join(source.name), source.text)?;
    }
    write_header(&work.join("include"))?;
    write(&work.join("c").join(ERROR_TABLE), error_source()?)
}

fn object_name(source: &str) -> String {
    format!("{}.o", source.trim_end_matches(".c"))
}

fn versioned_object_name(version: Version, source: &str) -> String {
    format!("{version}_{}", object_name(source))
}

/// A source file, compiled for a version or for all.
struct Unit {
    version: Option<Version>,
    source: &'static str,
}

impl Unit {
    /// All files that are compiled for a version, or for all.
    fn all_of(version: Option<Version>) -> impl Iterator<Item = Unit> {
        let generated = version.is_none().then_some(ERROR_TABLE);
        SOURCES
            .iter()
            .filter(move |source| {
                source
                    .part
                    .is_some_and(|part| (part == Part::Versioned) == version.is_some())
            })
            .map(|source| source.name)
            .chain(generated)
            .map(move |source| Unit { version, source })
    }

    fn object(&self) -> String {
        match self.version {
            Some(version) => versioned_object_name(version, self.source),
            None => object_name(self.source),
        }
    }

    /// For the order of compilation.
    fn cost(&self) -> usize {
        SOURCES
            .iter()
            .find(|source| source.name == self.source)
            .map_or(0, |source| source.text.len())
    }

    fn compile(&self, work: &Path) -> Result<(), Error> {
        let source = Path::new("c").join(self.source);
        // Only what callers measure is worth the longer compilation.
        let is_hot = HOT.contains(&self.source);
        let mut options = vec![if is_hot { "-O2" } else { "-O0" }.to_owned()];
        if let Some(version) = self.version {
            options.push(format!("-DFAKE_HIP_MAJOR={}", version.major()));
            options.push(format!("-DFAKE_HIP_MINOR={}", version.minor()));
        }
        compiler::compile(work, &source, Path::new(&self.object()), &options)
    }
}

/// Compiles the sources that are the same for all libraries of a version, or for
/// all libraries, into `work`, or takes them from the last time.
fn common_objects(work: &Path, versions: &BTreeSet<Option<Version>>) -> Result<(), Error> {
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    let compiler = compiler::identity();
    let mut known: Vec<Arc<Objects>> = Vec::new();
    let mut missing = Vec::new();
    for &version in versions {
        match compiled.get(&(compiler.clone(), version)) {
            Some(objects) => known.push(Arc::clone(objects)),
            None => missing.push(version),
        }
    }
    let mut units: Vec<Unit> = missing.iter().copied().flat_map(Unit::all_of).collect();
    // The longest first, so that no processor idles at the end.
    units.sort_by_key(|unit| std::cmp::Reverse(unit.cost()));
    in_parallel(&units, |unit| unit.compile(work))?;
    for version in missing {
        let objects = Unit::all_of(version)
            .map(|unit| {
                let name = unit.object();
                let path = work.join(&name);
                let bytes = fs::read(&path).map_err(Error::file("read", &path))?;
                Ok((name, bytes))
            })
            .collect::<Result<Objects, Error>>()?;
        compiled.insert((compiler.clone(), version), Arc::new(objects));
    }
    drop(compiled);
    known
        .iter()
        .flat_map(|objects| objects.iter())
        .try_for_each(|(name, bytes)| write(&work.join(name), bytes))
}

/// What the real library exports, and what this one withholds of it.
fn exports(
    library: &Library,
    mut functions: Vec<Export>,
) -> Result<(Vec<Export>, Vec<String>), Error> {
    if library.is_dtk {
        functions.retain(|export| !export.name.ends_with("R0600"));
        functions.extend(DTK_EXPORTS.map(|name| Export {
            name: name.to_owned(),
            node: Some("hip_4.2".to_owned()),
            is_function: true,
        }));
    }
    for name in library.without.iter().chain(library.only.iter().flatten()) {
        if !functions.iter().any(|export| export.name == *name) {
            return Err(Error::UnknownFunction {
                name: name.clone(),
                library: library.kind.soname(),
            });
        }
    }
    let is_kept = |export: &Export| {
        library
            .only
            .as_ref()
            .is_none_or(|only| only.contains(&export.name))
            && !library.without.contains(&export.name)
    };
    let (kept, withheld): (Vec<_>, Vec<_>) = functions.into_iter().partition(is_kept);
    // What is not modelled does not exist when it is withheld, and some linkers
    // refuse a script that names it.
    let defined: Vec<String> = [Part::Hip, Part::Versioned, Part::Rtc]
        .into_iter()
        .flat_map(modelled)
        .collect();
    let withheld = withheld.into_iter().map(|export| export.name);
    Ok((
        kept,
        withheld.filter(|name| defined.contains(name)).collect(),
    ))
}

fn objects_of(parts: &[Part], version: Option<Version>) -> Vec<String> {
    let mut objects: Vec<String> = SOURCES
        .iter()
        .filter(|source| source.part.is_some_and(|part| parts.contains(&part)))
        .map(|source| match (source.part, version) {
            (Some(Part::Versioned), Some(version)) => versioned_object_name(version, source.name),
            _ => object_name(source.name),
        })
        .collect();
    if parts.contains(&Part::Core) {
        objects.push(object_name(ERROR_TABLE));
    }
    objects
}

fn build_one(
    work: &Path,
    number: usize,
    library: &Library,
    folder: &Path,
    classes: &HashMap<String, Class>,
) -> Result<(), Error> {
    let (version, functions, parts, controls) = match library.kind {
        // HIP 7 moved hiprtc out of libamdhip64.
        Kind::Hip(version) if version.major() >= 7 => (
            Some(version),
            version.exports()?,
            &[Part::Core, Part::Hip, Part::Versioned][..],
            "FAKEHIP_1",
        ),
        Kind::Hip(version) => (
            Some(version),
            version.exports()?,
            &[Part::Core, Part::Hip, Part::Versioned, Part::Rtc][..],
            "FAKEHIP_1",
        ),
        Kind::Rtc(version) => (
            Some(version),
            version.rtc_exports()?.ok_or(Error::NoRtc(version))?,
            &[Part::Core, Part::Rtc][..],
            "FAKEHIPRTC_1",
        ),
        Kind::Hsa => (None, Vec::new(), &[Part::Hsa][..], ""),
    };
    let mut objects = objects_of(parts, version);
    let script = format!("exports{number}.map");
    if let Some(version) = version {
        let (kept, withheld) = exports(library, functions)?;
        let is_rtc = matches!(library.kind, Kind::Rtc(_));
        let source = format!("version{number}.c");
        let model = Model {
            major: version.major(),
            is_rtc,
            version: version.runtime_version(),
            runtime_version: library.runtime_version.unwrap_or(version.runtime_version()),
            exports: &kept,
            parts,
            classes,
        };
        write(&work.join("c").join(&source), version_source(&model))?;
        // Hundreds of functions of one call each: nothing to optimise.
        compiler::compile(
            work,
            &Path::new("c").join(&source),
            Path::new(&object_name(&source)),
            &["-O0".to_owned()],
        )?;
        objects.push(object_name(&source));
        write(
            &work.join(&script),
            version_script(&kept, is_rtc, &withheld, controls),
        )?;
    } else {
        write(&work.join(&script), HSA_EXPORTS)?;
    }
    for (index, source) in library.extra_sources.iter().enumerate() {
        let source = std::path::absolute(source).map_err(Error::file("find", source))?;
        let object = format!("extra{number}_{index}.o");
        compiler::compile_foreign(work, &source, Path::new(&object))?;
        objects.push(object);
    }
    let linked = PathBuf::from(format!("linked{number}.so"));
    compiler::link(
        work,
        &library.soname,
        &script,
        &objects,
        &library.link_arguments,
        &linked,
    )?;
    let target = folder.join(&library.file_name);
    fs::rename(work.join(linked), &target).map_err(Error::file("move the library to", &target))
}

/// The node of the real library.
const HSA_EXPORTS: &str = "ROCR_1 {\n global: hsa_init; hsa_shut_down;\n local: *;\n};\n";

/// Runs jobs on all processors and gives the first failure.
fn in_parallel<T: Sync>(
    items: &[T],
    job: impl Fn(&T) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let workers = thread::available_parallelism()
        .map_or(1, usize::from)
        .min(items.len());
    let next = AtomicUsize::new(0);
    let failure = Mutex::new(None);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(error) = job(item) {
                        next.store(items.len(), Ordering::Relaxed);
                        failure
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .get_or_insert(error);
                        return;
                    }
                }
            });
        }
    });
    failure
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
        .map_or(Ok(()), Err)
}
