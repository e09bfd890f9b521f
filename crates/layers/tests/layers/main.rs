//! Dependencies point one way: between crates, and between the modules of each crate.
//!
//! Rust rejects cyclic crates but not cyclic modules, and it does not check which crate should be on top. These tests read
//! the workspace's manifests and sources as text, so they need no build of the crates they check.
//!
//! The documentation names tests; a last test checks that they exist.

mod crates;
mod modules;
mod systems;
mod tokens;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crates::Manifest;
use modules::Graph;

/// The source files of one crate by path relative to the crate's `src` folder.
type Sources = BTreeMap<PathBuf, String>;

fn crates_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The folders below `crates/`, by name.
fn crate_folders() -> BTreeMap<String, PathBuf> {
    fs::read_dir(crates_folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("Cargo.toml").is_file())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), path))
        .collect()
}

fn read_sources(folder: &Path, below: &Path, sources: &mut Sources) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let relative = below.join(path.file_name().unwrap());
        if path.is_dir() {
            read_sources(&path, &relative, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.insert(relative, fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn crates_depend_only_on_lower_layers() {
    let manifests: Vec<Manifest> = crate_folders()
        .values()
        .map(|folder| Manifest::parse(&fs::read_to_string(folder.join("Cargo.toml")).unwrap()))
        .collect();
    let problems = crates::check(&manifests);
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn modules_of_a_crate_have_no_cycles() {
    let mut problems = Vec::new();
    for (name, folder) in crate_folders() {
        let mut sources = Sources::new();
        read_sources(&folder.join("src"), Path::new(""), &mut sources);
        problems
            .extend(Graph::of(&sources).problems().into_iter().map(|problem| format!("{name}: {problem}")));
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

/// `engine` runs the stages; no stage may depend on it.
#[test]
fn nothing_in_core_depends_on_the_engine() {
    let mut sources = Sources::new();
    read_sources(&crates_folder().join("core/src"), Path::new(""), &mut sources);
    let graph = Graph::of(&sources);
    assert!(graph.has_module("engine"), "core has no module `engine`");
    let users = graph.users_of("engine");
    assert!(users.is_empty(), "\n{}", users.join("\n"));
}

/// `docs/reliability.md` says which tests show what is promised. A test that is renamed or removed must not go unnoticed.
#[test]
fn every_promise_has_its_tests() {
    let page = fs::read_to_string(crates_folder().join("../docs/reliability.md")).unwrap();
    let section = page.split("\n## ").find(|section| section.starts_with("Where each promise is tested"));
    let rows = section.unwrap().lines().filter(|line| line.starts_with("| ")).skip(1);
    let mut sources = Sources::new();
    read_sources(&crates_folder(), Path::new(""), &mut sources);
    let is_test = |name: &str| {
        let definition = format!("fn {name}(");
        sources.values().any(|source| source.contains(&definition))
    };
    let mut problems = Vec::new();
    let mut promises = 0;
    for row in rows.filter(|row| !row.starts_with("| ---")) {
        let tests: Vec<&str> = row.rsplit(" | ").next().unwrap().split('`').skip(1).step_by(2).collect();
        promises += 1;
        let missing = tests.iter().filter(|name| !is_test(name));
        problems.extend(missing.map(|name| format!("no test `{name}`: {row}")));
        if tests.is_empty() {
            problems.push(format!("no tests: {row}"));
        }
    }
    assert!(promises > 15, "the table is missing");
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

/// Every other crate must build on every system; only the rigs, which inject faults into Linux, and these tests need not.
#[test]
fn code_for_one_system_is_in_the_platform_crate() {
    let mut problems = Vec::new();
    for (name, folder) in crate_folders() {
        if ["platform", "macos-acl", "rigs", "layers"].contains(&name.as_str()) {
            continue;
        }
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let sections = systems::dependencies_for_one_system(&manifest);
        problems.extend(sections.into_iter().map(|section| format!("{name}: Cargo.toml: {section}")));
        let mut sources = Sources::new();
        read_sources(&folder.join("src"), Path::new(""), &mut sources);
        for (file, source) in sources.iter().filter(|(file, _)| !file.ends_with("tests.rs")) {
            let lines = systems::lines_for_one_system(source);
            problems.extend(lines.into_iter().map(|line| format!("{name}: {}:{line}", file.display())));
        }
    }
    assert!(problems.is_empty(), "move this to `slipstitch-platform`:\n{}", problems.join("\n"));
}
