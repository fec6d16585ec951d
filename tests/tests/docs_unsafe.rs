//! docs/unsafe.md lists every `unsafe` block, with tests that exist.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use toolcell_tests::workspace;

/// Blocks by file and function.
type Blocks = BTreeMap<(String, String), usize>;

fn read(path: &str) -> String {
    fs::read_to_string(workspace().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The Rust sources of the workspace, fuzz targets included.
fn sources() -> Vec<String> {
    let mut folders: Vec<PathBuf> =
        ["runner", "tool-template", "examples", "tests", "fuzz"].iter().map(|name| workspace().join(name)).collect();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the workspace") {
            let path = entry.expect("an entry").path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let below = path.strip_prefix(workspace()).expect("below the workspace");
                found.push(below.to_string_lossy().into_owned());
            }
        }
    }
    found
}

/// The `unsafe` of a source, by the function it stands in; `-` outside of any.
fn blocks(source: &str) -> BTreeMap<String, usize> {
    let mut function = "-".to_owned();
    let mut found = BTreeMap::new();
    for line in source.lines().map(str::trim_start).filter(|line| !line.starts_with("//")) {
        // The keyword and what may follow it, in two parts, so that this file is not found itself.
        let word = concat!("un", "safe ");
        let count: usize =
            ["{", "extern", "fn", "impl"].iter().map(|next| line.matches(&format!("{word}{next}")).count()).sum();
        let name = line.split_once("fn ").and_then(|(before, after)| {
            let declares =
                before.split_whitespace().all(|one| one.starts_with("pub") || one == "extern" || one == "\"C\"");
            declares.then(|| after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>())
        });
        function = name.filter(|name| !name.is_empty()).unwrap_or(function);
        if count > 0 {
            *found.entry(function.clone()).or_default() += count;
        }
    }
    found
}

/// The rows of the table: file, function, number, and the rest.
fn rows() -> Vec<[String; 5]> {
    let document = read("docs/unsafe.md");
    let rows = document.lines().filter(|line| line.starts_with("| [")).map(|line| {
        let cells: Vec<String> = line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect();
        <[String; 5]>::try_from(cells).unwrap_or_else(|cells| panic!("a row with {} cells: {line}", cells.len()))
    });
    rows.collect()
}

#[test]
fn every_block_is_listed_and_nothing_else() {
    let mut in_sources = Blocks::new();
    for path in sources() {
        in_sources.extend(blocks(&read(&path)).into_iter().map(|(function, count)| ((path.clone(), function), count)));
    }
    let mut listed = Blocks::new();
    for [file, function, count, why, _] in rows() {
        let file = file.trim_start_matches('[').split(']').next().unwrap_or_default().to_owned();
        let function = if function.starts_with('(') { "-".to_owned() } else { function.trim_matches('`').to_owned() };
        assert!(why.len() >= 8, "{file} {function} says nothing");
        let twice = listed.insert((file.clone(), function.clone()), count.parse().expect("a number"));
        assert!(twice.is_none(), "{file} {function} is listed twice");
    }
    assert!(in_sources.len() >= 30, "blocks are not found any more");
    let missing: Vec<_> = in_sources.iter().filter(|(place, count)| listed.get(*place) != Some(count)).collect();
    let gone: Vec<_> = listed.keys().filter(|place| !in_sources.contains_key(*place)).collect();
    assert!(missing.is_empty() && gone.is_empty(), "not listed so: {missing:#?}\nnot there: {gone:#?}");
}

#[test]
fn every_block_has_a_test_that_exists() {
    for [file, function, _, _, tests] in rows() {
        let named: Vec<(&str, &str)> =
            tests.split(", [`").filter_map(|one| one.trim_start_matches("[`").split_once("`](../")).collect();
        assert!(!named.is_empty(), "{file} {function} has no test");
        for (name, path) in named {
            let path = path.trim_end_matches(')');
            assert!(read(path).contains(&format!("fn {name}(")), "{path} has no test {name}");
        }
    }
}

#[test]
fn blocks_are_counted_by_function_and_not_in_comments() {
    let word = concat!("un", "safe");
    let source = format!(
        "{word} extern \"C\" {{}}\n// {word} {{\npub fn a() {{\n let x = {word} {{ b() }};\n {word} {{ c() }}\n}}\nextern \"C\" fn d() {{ {word} {{}} }}"
    );
    let expected = [("-", 1), ("a", 2), ("d", 1)].map(|(name, count)| (name.to_owned(), count));
    assert_eq!(blocks(&source), BTreeMap::from(expected));
}

/// What `sys::OneThread` cannot see by itself.
#[test]
fn nothing_of_the_forked_processes_starts_a_thread() {
    // client.rs is the runner's side, and has a runtime.
    let cell: Vec<String> = sources().into_iter().filter(|path| path.starts_with("runner/src/cell/")).collect();
    let forked: Vec<&String> = cell.iter().filter(|path| !path.ends_with("client.rs")).collect();
    assert!(forked.len() >= 12, "the sources of the cell are not found any more");
    for path in forked {
        let text = read(path);
        let starts = ["thread::spawn", "thread::Builder", "thread::scope", "tokio", "Command::new"];
        let found: Vec<_> = starts.iter().filter(|word| text.contains(**word)).collect();
        assert!(found.is_empty(), "{path} holds {found:?}");
    }
    assert!(Path::new(&workspace()).join("runner/src/sys/process.rs").is_file());
}
