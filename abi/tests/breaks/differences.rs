//! What differs between the headers of a caller and those of a runtime, computed from
//! prototypes, layouts and constants.

use std::collections::{BTreeMap, BTreeSet};

use hiplazy_abi::{
    Arg, CONSTANTS_TXT, Constant, Declared, EXPORTS, FUNCTIONS_TXT, Field, Function, HISTORY_TXT,
    LAYOUTS_TXT, Layout, Library, PROTOTYPES_TXT, Prototype, Version, layout_of, parse_constants,
    parse_exports, parse_functions, parse_history, parse_layouts, parse_prototypes, rust_type,
};

/// Enumerators that only say how many there are: nobody passes them.
const MARKERS: [(&str, &str); 9] = [
    ("hipErrorTbd", "ends the list"),
    ("hipFuncAttributeMax", "ends the list"),
    ("HIP_FUNC_ATTRIBUTE_MAX", "ends the list"),
    ("hipGraphNodeTypeCount", "ends the list"),
    ("hipJitOptionNumOptions", "ends the list"),
    ("hipLaunchAttributeMax", "ends the list"),
    ("HIPRTC_JIT_NUM_OPTIONS", "ends the list"),
    ("HIPRTC_JIT_NUM_INPUT_TYPES", "ends the list"),
    ("HIPRTC_JIT_NUM_LEGACY_INPUT_TYPES", "ends the list"),
];

/// Records that are not compared.
const OPAQUE: [(&str, &str); 3] = [
    (
        "hipArray",
        "allocated by the runtime: pointers to it are handles, hidden since 6.0",
    ),
    (
        "hipMipmappedArray",
        "allocated by the runtime: pointers to it are handles, hidden since 6.0",
    ),
    (
        "hipArrayMapInfo",
        "holds a hipMipmappedArray; its only function, hipMemMapArrayAsync, is not supported on \
         AMD GPUs by any version",
    ),
];

/// Enumerators of enums that got another name as a whole, and kept their values: the
/// old prefix, the new one.
const RENAMED_ENUMS: [(&str, &str); 3] = [
    ("HIPRTC_JIT_INPUT_", "hipJitInput"),
    ("HIPRTC_JIT_", "hipJitOption"),
    ("hipKernelNodeAttribute", "hipLaunchAttribute"),
];

/// Enumerators that got another name with that.
const RENAMED: [(&str, &str); 3] = [
    (
        "HIPRTC_JIT_GLOBAL_SYMBOL_ADDRESS",
        "hipJitOptionGlobalSymbolAddresses",
    ),
    ("HIPRTC_JIT_NEW_SM3X_OPT", "hipJitOptionSm3xOpt"),
    (
        "HIPRTC_JIT_TARGET_FROM_HIPCONTEXT",
        "hipJitOptionTargetFromContext",
    ),
];

/// A function, the version of the caller's headers, the version of the runtime.
pub(crate) type Case = (String, Version, Version);

/// All tables.
pub(crate) struct Tables {
    functions: Vec<Function>,
    prototypes: Vec<Prototype>,
    history: BTreeMap<String, Declared>,
    /// Layouts by record.
    layouts: BTreeMap<String, Vec<Layout>>,
    /// Constants by enum, without markers, with their plain names.
    enums: BTreeMap<String, Vec<(String, Constant)>>,
    /// The names that a runtime of a version exports.
    exports: BTreeMap<Version, BTreeSet<String>>,
}

impl Tables {
    pub(crate) fn read() -> Tables {
        let mut exports: BTreeMap<Version, BTreeSet<String>> = BTreeMap::new();
        for table in EXPORTS {
            // libamdhip64_debian_5.2.3
            let version = table.name.rsplit('_').next().unwrap();
            let version: Vec<&str> = version.split('.').take(2).collect();
            let names = parse_exports(table.text).unwrap();
            exports
                .entry(version.join(".").parse().unwrap())
                .or_default()
                .extend(names.into_iter().map(|export| export.name));
        }
        let history = parse_history(HISTORY_TXT).unwrap();
        Tables {
            functions: parse_functions(FUNCTIONS_TXT).unwrap(),
            prototypes: parse_prototypes(PROTOTYPES_TXT).unwrap(),
            history: history
                .into_iter()
                .map(|entry| (entry.name.clone(), entry))
                .collect(),
            layouts: layouts(parse_layouts(LAYOUTS_TXT).unwrap()),
            enums: enums(parse_constants(CONSTANTS_TXT).unwrap()),
            exports,
        }
    }

    /// Whether headers of `version` declare the function.
    fn is_declared(&self, name: &str, version: Version) -> bool {
        let declared = self.history.get(name);
        declared.is_some_and(|entry| entry.versions.contains(&version))
    }

    /// Whether a runtime of `version` has the function. HIP removes none, so it has what
    /// was declared before, unless a newer runtime still lacks it; hiprtc's exports were
    /// not measured for every version.
    fn is_exported(&self, function: &Function, version: Version) -> bool {
        let name = &function.name;
        let since = |tables: &BTreeSet<String>| tables.contains(name);
        if self
            .exports
            .range(..=version)
            .any(|(_, names)| since(names))
        {
            return true;
        }
        let declared = self
            .history
            .get(name)
            .and_then(|entry| entry.versions.first());
        let is_declared = declared.is_some_and(|first| *first <= version);
        let lacks_it = self
            .exports
            .range(version..)
            .any(|(_, names)| !since(names));
        is_declared && (!lacks_it || function.library == Library::Hiprtc)
    }

    /// The arguments in headers of `version`.
    fn args<'a>(&'a self, function: &'a Function, version: Version) -> &'a [Arg] {
        let other = self.prototypes.iter().find(|prototype| {
            prototype.name == function.name && prototype.versions.contains(&version)
        });
        other.map_or(&function.args, |prototype| &prototype.args)
    }

    /// What of the function's arguments differs for a caller with headers of `header` on
    /// a runtime of version `runtime`.
    fn of_function(&self, function: &Function, header: Version, runtime: Version) -> Vec<String> {
        let caller = self.args(function, header);
        let callee = self.args(function, runtime);
        let mut comparison = Comparison {
            tables: self,
            header,
            runtime,
            seen: BTreeSet::new(),
            found: Vec::new(),
        };
        if caller.len() != callee.len() {
            comparison.found.push("number of arguments".to_string());
        }
        for (caller, callee) in caller.iter().zip(callee) {
            comparison.types(&caller.ty, &callee.ty);
        }
        comparison.found
    }

    /// Every difference of every function.
    pub(crate) fn differences(&self, versions: &[Version]) -> BTreeMap<Case, Vec<String>> {
        let mut differences = BTreeMap::new();
        for function in &self.functions {
            for &header in versions
                .iter()
                .filter(|it| self.is_declared(&function.name, **it))
            {
                // Within one version there is nothing to compare.
                let others = versions.iter().filter(|it| **it != header);
                for &runtime in others.filter(|it| self.is_exported(function, **it)) {
                    let found = self.of_function(function, header, runtime);
                    if !found.is_empty() {
                        differences.insert((function.name.clone(), header, runtime), found);
                    }
                }
            }
        }
        differences
    }

    /// Whether the function is one of the manifest that headers declare.
    pub(crate) fn is_declared_ever(&self, name: &str) -> bool {
        self.history.contains_key(name)
            && self.functions.iter().any(|function| function.name == name)
    }

    /// How many functions there are.
    pub(crate) fn function_count(&self) -> usize {
        self.functions.len()
    }

    /// The record in the headers of a caller.
    fn record(&self, name: &str, header: Version) -> Option<&Layout> {
        layout_of(self.layouts.get(name)?, name, header)
    }

    /// The record as a runtime knows it: a legacy struct may have no name yet in headers
    /// that no longer declare its function.
    fn record_of_runtime(&self, name: &str, runtime: Version) -> Option<&Layout> {
        let later = |layout: &&Layout| layout.versions.first > runtime;
        self.record(name, runtime)
            .or_else(|| self.layouts.get(name)?.iter().find(later))
    }

    /// Whether the name is that of a type whose inside is known.
    fn is_known(&self, name: &str) -> bool {
        self.layouts.contains_key(name) || self.enums.contains_key(name)
    }

    /// The enumerators of an enum.
    fn enumerators(&self, domain: &str, version: Version) -> BTreeMap<&str, i64> {
        let all = self.enums.get(domain).map_or(&[][..], Vec::as_slice);
        all.iter()
            .filter(|(_, constant)| constant.versions.contains(version))
            .map(|(name, constant)| (name.as_str(), constant.value))
            .collect()
    }
}

fn layouts(all: Vec<Layout>) -> BTreeMap<String, Vec<Layout>> {
    let mut layouts: BTreeMap<String, Vec<Layout>> = BTreeMap::new();
    for layout in all {
        layouts
            .entry(layout.record.clone())
            .or_default()
            .push(layout);
    }
    layouts
}

fn enums(constants: Vec<Constant>) -> BTreeMap<String, Vec<(String, Constant)>> {
    let mut enums: BTreeMap<String, Vec<(String, Constant)>> = BTreeMap::new();
    for constant in constants {
        if !MARKERS.iter().any(|(marker, _)| *marker == constant.name) {
            let named = (plain_name(&constant.name), constant);
            enums.entry(named.1.domain.clone()).or_default().push(named);
        }
    }
    enums
}

/// The newest name, without case and underscores, in which old and new spelling differ.
fn plain_name(name: &str) -> String {
    let renamed = RENAMED.iter().find(|(old, _)| *old == name);
    let name = renamed.map_or(name, |(_, new)| *new);
    let of_enum = RENAMED_ENUMS.iter().find_map(|(old, new)| {
        let rest = name.strip_prefix(old)?;
        Some(format!("{new}{rest}"))
    });
    let name = of_enum.unwrap_or_else(|| name.to_string());
    name.replace('_', "").to_lowercase()
}

/// The name in a type without `const`, pointers and array lengths.
fn base(c_type: &str) -> &str {
    let end = c_type.find(['*', '[']).unwrap_or(c_type.len());
    let mut words = c_type[..end].split_whitespace();
    let qualifier = |word: &&str| !matches!(*word, "const" | "volatile" | "struct" | "enum");
    words.rfind(qualifier).unwrap_or("")
}

/// One caller against one runtime.
struct Comparison<'a> {
    tables: &'a Tables,
    header: Version,
    runtime: Version,
    seen: BTreeSet<(String, String)>,
    found: Vec<String>,
}

impl Comparison<'_> {
    /// Follows two types that stand at the same place.
    fn types(&mut self, caller: &str, callee: &str) {
        let (mine, theirs) = (base(caller), base(callee));
        let indirections = |c_type: &str| rust_type(c_type).matches('*').count();
        if !self.tables.is_known(mine) && !self.tables.is_known(theirs) {
            return;
        }
        if !self.seen.insert((mine.to_string(), theirs.to_string())) {
            return;
        }
        let is_opaque = |name: &str| OPAQUE.iter().any(|(record, _)| *record == name);
        if is_opaque(mine) || is_opaque(theirs) {
            return;
        }
        let tables = self.tables;
        let my_record = tables.record(mine, self.header);
        let their_record = tables.record_of_runtime(theirs, self.runtime);
        match (my_record, their_record) {
            (Some(mine), Some(theirs)) => return self.records(mine, theirs),
            (None, None) => {}
            _ => return self.found.push(format!("{mine} against {theirs}")),
        }
        let my_enum = tables.enumerators(mine, self.header);
        let their_enum = tables.enumerators(theirs, self.runtime);
        if !my_enum.is_empty() && !their_enum.is_empty() {
            self.enums(mine, &my_enum, &their_enum);
        }
        if mine == theirs && indirections(caller) != indirections(callee) {
            self.found.push(format!("{caller} against {callee}"));
        }
    }

    fn records(&mut self, mine: &Layout, theirs: &Layout) {
        if mine == theirs {
            // The same bytes may still hold other enumerators.
        } else if mine.size != theirs.size {
            self.found.push(format!(
                "{}: {} bytes against {}",
                mine.record, mine.size, theirs.size
            ));
        } else {
            self.places(mine, theirs);
            self.places(theirs, mine);
        }
        for field in &mine.fields {
            let same_place = |it: &&Field| (it.offset, it.size) == (field.offset, field.size);
            if let Some(namesake) = theirs.field(&field.name) {
                self.types(&field.ty, &namesake.ty);
            } else if let Some(other) = theirs.fields.iter().find(same_place)
                // Another member of a union may be something else altogether.
                && base(&other.ty) == base(&field.ty)
            {
                self.types(&field.ty, &other.ty);
            }
        }
    }

    /// Every field of `one` is in `other` at its place: by its name, under another name,
    /// or in what `other` keeps free.
    fn places(&mut self, one: &Layout, other: &Layout) {
        for field in &one.fields {
            let same_place = |it: &Field| (it.offset, it.size) == (field.offset, field.size);
            let is_there = match other.field(&field.name) {
                Some(namesake) => same_place(namesake),
                None => other
                    .fields
                    .iter()
                    .any(|it| same_place(it) || is_room_for(it, field)),
            };
            if !is_there {
                self.found.push(format!("{}.{}", one.record, field.name));
            }
        }
    }

    fn enums(&mut self, name: &str, mine: &BTreeMap<&str, i64>, theirs: &BTreeMap<&str, i64>) {
        if mine == theirs {
            return;
        }
        for (enumerator, value) in mine {
            let trouble = match theirs.get(enumerator) {
                Some(other) => other != value,
                // Unknown to an older runtime, which then says so; a newer one has given it up.
                None if self.header < self.runtime => true,
                None => !names_of(theirs, *value).is_empty(),
            };
            // Two names of one value may trade places.
            let is_alias = || !names_of(theirs, *value).is_disjoint(&names_of(mine, *value));
            if trouble && !is_alias() {
                self.found.push(format!("{name}: {enumerator} {value}"));
            }
        }
    }
}

/// The enumerators with this value.
fn names_of<'a>(all: &BTreeMap<&'a str, i64>, value: i64) -> BTreeSet<&'a str> {
    let same = all.iter().filter(|(_, it)| **it == value);
    same.map(|(name, _)| *name).collect()
}

/// Whether `room` is a reserve that `field` lies in.
fn is_room_for(room: &Field, field: &Field) -> bool {
    let last = room.name.rsplit('.').next().unwrap_or_default();
    (last.starts_with("reserved") || last == "pad")
        && room.offset <= field.offset
        && field.offset + field.size <= room.offset + room.size
}
