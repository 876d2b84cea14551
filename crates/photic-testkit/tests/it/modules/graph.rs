//! The module graph of a crate: which file names an item that another file defines.
//!
//! It is read from the text. An arrow goes from the file that names an item to the file that
//! defines it: `use crate::plan::Fate` is an arrow to `plan/fate.rs`, although `plan/mod.rs`
//! re-exports the name. Three things are not arrows: a re-export, the use of an item of a parent
//! module (the two are one unit), and a method call, because the text does not show its receiver.

use std::collections::{BTreeMap, BTreeSet};

use super::text::{Import, Tokens};

/// The files of one crate and the arrows between them.
pub(crate) struct Graph {
    /// Paths below `src/`.
    files: Vec<String>,
    /// The arrows from file to file, each with the path that is written there.
    arrows: BTreeMap<(usize, usize), String>,
}

/// One file as a module.
struct Module {
    path: Vec<String>,
    children: BTreeMap<String, usize>,
    tokens: Tokens,
}

/// The end of a path.
enum Target {
    /// A module as a whole.
    Module(usize),
    /// An item that the module defines.
    Item(usize),
}

/// Maximum number of re-exports that a path is followed through.
const MAX_STEPS: usize = 16;

impl Graph {
    /// Reads the files of a crate: paths below `src/`, and text without tests and comments.
    pub(crate) fn read(sources: &[(String, String)]) -> Self {
        let mut modules: Vec<Module> = sources
            .iter()
            .map(|(path, text)| Module {
                path: module_path(path),
                children: BTreeMap::new(),
                tokens: Tokens::read(text),
            })
            .collect();
        let by_path: BTreeMap<Vec<String>, usize> =
            modules.iter().enumerate().map(|(at, module)| (module.path.clone(), at)).collect();
        for (path, &at) in &by_path {
            let Some((name, parent)) = path.split_last() else { continue };
            if let Some(&parent) = by_path.get(parent) {
                modules[parent].children.insert(name.clone(), at);
            }
        }
        let walk = Walk { modules: &modules, by_path: &by_path };
        let mut arrows = BTreeMap::new();
        for from in 0..modules.len() {
            for (to, path) in walk.arrows_of(from) {
                arrows.entry((from, to)).or_insert(path);
            }
        }
        Self { files: sources.iter().map(|(path, _)| path.clone()).collect(), arrows }
    }

    /// Returns every arrow: the file that names an item, the file that defines it, and the path.
    pub(crate) fn arrows(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.arrows
            .iter()
            .map(|(&(from, to), path)| (&*self.files[from], &*self.files[to], path.as_str()))
    }

    /// Returns every circle of more than one file, each with the arrows between its files.
    pub(crate) fn circles(&self) -> Vec<(Vec<&str>, Vec<String>)> {
        let reached: Vec<BTreeSet<usize>> =
            (0..self.files.len()).map(|from| self.reached(from)).collect();
        let mut circles = Vec::new();
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        for at in 0..self.files.len() {
            if !reached[at].contains(&at) || seen.contains(&at) {
                continue;
            }
            let circle: BTreeSet<usize> =
                reached[at].iter().copied().filter(|&to| reached[to].contains(&at)).collect();
            seen.extend(&circle);
            let inside =
                |pair: &&(usize, usize)| circle.contains(&pair.0) && circle.contains(&pair.1);
            let arrow = |pair: &(usize, usize)| {
                let (from, to) = (&self.files[pair.0], &self.files[pair.1]);
                format!("{from} -> {to} (`{}`)", self.arrows[pair])
            };
            let arrows = self.arrows.keys().filter(inside).map(arrow).collect();
            circles.push((circle.iter().map(|&at| &*self.files[at]).collect(), arrows));
        }
        circles
    }

    fn reached(&self, from: usize) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            let next = self.arrows.range((at, 0)..(at + 1, 0)).map(|((_, to), _)| *to);
            open.extend(next.filter(|&to| reached.insert(to)));
        }
        reached
    }
}

/// Follows paths through the modules of a crate.
struct Walk<'m> {
    modules: &'m [Module],
    by_path: &'m BTreeMap<Vec<String>, usize>,
}

impl Walk<'_> {
    /// Returns the files whose items a file names.
    fn arrows_of(&self, from: usize) -> Vec<(usize, String)> {
        let module = &self.modules[from];
        let tokens = &module.tokens;
        let passes_on = |import: &Import| import.is_public && !tokens.names.contains(&import.name);
        let imported = tokens.imports.iter().filter(|import| !passes_on(import));
        let imported = imported.filter(|import| !(import.is_public && import.is_glob));
        let imported = imported.map(|import| (&import.path, import.is_glob));
        let written = tokens.paths.iter().map(|path| (path, false));
        imported
            .chain(written)
            .filter_map(|(path, is_glob)| {
                let to = match self.resolve(from, path, MAX_STEPS)? {
                    Target::Item(to) => to,
                    // A module that is imported to be named later is not an arrow yet.
                    Target::Module(to) if is_glob => to,
                    Target::Module(_) => return None,
                };
                // A module may use the items of a parent module: the two are one unit.
                let is_around = module.path.starts_with(&self.modules[to].path);
                (!is_around).then(|| (to, path.join("::")))
            })
            .collect()
    }

    /// Returns the target of a path that is written in a module; `None` if it leaves the crate.
    fn resolve(&self, at: usize, path: &[String], steps: usize) -> Option<Target> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.walk(*self.by_path.get(&[][..])?, rest, steps),
            "self" => self.walk(at, rest, steps),
            "super" => {
                let (_, parent) = self.modules[at].path.split_last()?;
                let parent = *self.by_path.get(parent)?;
                if rest.first().is_some_and(|next| next == "super") {
                    self.resolve(parent, rest, steps)
                } else {
                    self.walk(parent, rest, steps)
                }
            }
            name => {
                if let Some(&child) = self.modules[at].children.get(name) {
                    return self.walk(child, rest, steps);
                }
                self.imported(at, name, rest, steps)
            }
        }
    }

    fn walk(&self, at: usize, rest: &[String], steps: usize) -> Option<Target> {
        let Some((name, after)) = rest.split_first() else { return Some(Target::Module(at)) };
        if let Some(&child) = self.modules[at].children.get(name) {
            return self.walk(child, after, steps);
        }
        Some(self.imported(at, name, after, steps).unwrap_or(Target::Item(at)))
    }

    /// Returns the target of a name that a module imports.
    fn imported(&self, at: usize, name: &str, rest: &[String], steps: usize) -> Option<Target> {
        let steps = steps.checked_sub(1)?;
        let imports = &self.modules[at].tokens.imports;
        let named = imports.iter().find(|import| !import.is_glob && import.name == name);
        if let Some(import) = named {
            let path: Vec<String> = import.path.iter().chain(rest).cloned().collect();
            return self.resolve(at, &path, steps);
        }
        imports.iter().filter(|import| import.is_glob).find_map(|import| {
            let Target::Module(to) = self.resolve(at, &import.path, steps)? else { return None };
            if self.modules[to].tokens.defined.contains(name) {
                return Some(Target::Item(to));
            }
            self.imported(to, name, rest, steps)
        })
    }
}

/// Returns the module path of a file below `src/`.
fn module_path(file: &str) -> Vec<String> {
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    let mut path: Vec<String> = stem.split('/').map(str::to_owned).collect();
    let is_named_by_folder = path.last().is_some_and(|last| last == "mod")
        || (path.len() == 1 && matches!(path[0].as_str(), "lib" | "main"));
    if is_named_by_folder {
        path.pop();
    }
    path
}
