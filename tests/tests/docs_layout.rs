//! What holds for all files of the repository: links, names of tests, paths of machines, sizes, directions of imports.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use toolcell_tests::workspace;

/// The files of the repository, also those that are about to be added.
fn files() -> Vec<PathBuf> {
    let output = Command::new("git")
        .args(["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(workspace())
        .output()
        .expect("git starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let files: Vec<PathBuf> = text.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect();
    // What is deleted in the work tree may still be in the index.
    files.into_iter().filter(|path| workspace().join(path).is_file()).collect()
}

fn read(path: &Path) -> String {
    let bytes = fs::read(workspace().join(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    String::from_utf8_lossy(&bytes).into_owned()
}

fn with_extension(extension: &str) -> Vec<PathBuf> {
    files().into_iter().filter(|path| path.extension().is_some_and(|one| one == extension)).collect()
}

/// The links of a document, text and target, outside of fenced blocks.
fn links(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        let mut rest = if fenced { "" } else { line };
        while let Some((before, after)) = rest.split_once("](") {
            let Some((target, more)) = after.split_once(')') else { break };
            let label = before.rsplit_once('[').map_or(before, |(_, label)| label);
            found.push((label.to_owned(), target.to_owned()));
            rest = more;
        }
    }
    found
}

#[test]
fn every_relative_link_leads_somewhere() {
    let mut dangling = Vec::new();
    for document in with_extension("md") {
        let folder = workspace().join(document.parent().expect("a file stands in a folder"));
        for (_, target) in links(&read(&document)) {
            let path = target.split('#').next().unwrap_or_default();
            let elsewhere = target.contains("://") || target.starts_with("mailto:") || path.is_empty();
            if !elsewhere && !folder.join(path).exists() {
                dangling.push(format!("{}: {target}", document.display()));
            }
        }
    }
    assert!(dangling.is_empty(), "{}", dangling.join("\n"));
}

#[test]
fn every_test_that_the_threat_model_names_exists() {
    let named: Vec<(String, String)> = links(&read(Path::new("docs/threat-model.md")))
        .into_iter()
        .filter(|(_, target)| target.ends_with(".rs"))
        .map(|(label, target)| (label.trim_matches('`').to_owned(), target))
        .collect();
    let exists = |name: &str, target: &str| read(&Path::new("docs").join(target)).contains(&format!("fn {name}("));
    let missing: Vec<String> = named
        .iter()
        .filter(|(name, target)| !exists(name, target))
        .map(|(name, target)| format!("{target} has no test {name}"))
        .collect();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    assert!(named.len() >= 40, "the threat model names {} tests only", named.len());
}

#[test]
fn no_file_tells_of_the_machine_it_was_written_on() {
    // In two parts, so that this file is not found itself.
    let places = [
        concat!("/ro", "ot/"),
        concat!("/wo", "rk/main"),
        concat!("/wo", "rk/shared"),
        concat!("crates", ".io"),
        concat!("py", "pi.org"),
        concat!("npm", "js.org"),
        concat!("npm", "js.com"),
    ];
    let mut found = Vec::new();
    for path in files().into_iter().filter(|path| !path.ends_with("Cargo.lock")) {
        let text = read(&path);
        let lines = text.lines().enumerate();
        let bad = lines.filter(|(_, line)| places.iter().any(|place| line.contains(place)));
        found.extend(bad.map(|(index, line)| format!("{}:{}: {line}", path.display(), index + 1)));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

const LONGEST: usize = 350;

#[test]
fn no_source_file_is_too_long_to_read() {
    let table = |path: &Path| {
        let name = path.to_string_lossy().into_owned();
        name.starts_with("runner/src/cell/seccomp/table") || name.starts_with("runner/src/cell/seccomp/numbers")
    };
    let sources = with_extension("rs").into_iter().filter(|path| path.starts_with("runner/src") && !table(path));
    let lines = sources.map(|path| (read(&path).lines().count(), path));
    let long: Vec<String> = lines
        .filter(|(count, _)| *count > LONGEST)
        .map(|(count, path)| format!("{}: {count}", path.display()))
        .collect();
    assert!(long.is_empty(), "more than {LONGEST} lines:\n{}", long.join("\n"));
}

/// Which parts of the runner a part must not import: the flow goes from contract and configuration over resolve, cell
/// and attempt to classify and the envelope.
const FORBIDDEN: &[(&str, &[&str])] = &[
    ("sys", &["call", "cell", "cgroup", "classify", "cli", "config", "layer", "outcome", "resolve", "runner"]),
    ("call", &["cell", "cgroup", "classify", "cli", "config", "attempt", "registry", "runner"]),
    ("cgroup", &["cell", "classify", "cli", "config", "attempt", "registry", "resolve", "runner"]),
    ("config", &["cell", "cgroup", "classify", "cli", "attempt", "registry", "resolve", "runner"]),
    (
        "capability",
        &["cell", "cgroup", "classify", "cli", "config", "attempt", "registry", "resolve", "runner", "tool"],
    ),
    ("tool", &["cell", "cgroup", "classify", "cli", "config", "attempt", "registry", "resolve", "runner"]),
    ("registry", &["cell", "cgroup", "classify", "cli", "config", "attempt", "resolve", "runner"]),
    ("profile", &["cgroup", "classify", "cli", "attempt", "registry", "resolve", "runner"]),
    (
        "resolve",
        &[
            "attempt",
            "cell::client",
            "cell::launcher",
            "cell::protocol",
            "cgroup",
            "classify",
            "cli",
            "collect",
            "runner",
            "secrets",
            "streams",
            "supervise",
        ],
    ),
    (
        "cell",
        &["attempt", "cgroup", "classify", "cli", "config", "envelope", "registry", "resolve", "runner", "supervise"],
    ),
    ("supervise", &["classify", "cli", "config", "registry", "resolve", "runner"]),
    ("attempt", &["classify", "cli", "config", "registry", "resolve", "runner"]),
    (
        "classify",
        &[
            "attempt",
            "cell",
            "cgroup",
            "cli",
            "config",
            "host",
            "registry",
            "resolve",
            "runner",
            "secrets",
            "supervise",
        ],
    ),
];

/// The part of the runner a source file belongs to, such as `cell` for runner/src/cell/init.rs.
fn part(path: &Path) -> Option<String> {
    let below = path.strip_prefix("runner/src").ok()?;
    let first = below.components().next()?.as_os_str().to_str()?;
    Some(first.trim_end_matches(".rs").to_owned())
}

/// What a source file names of its own crate, without comments and tests.
fn imports(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines: String = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let mut found = Vec::new();
    for after in lines.split("crate::").skip(1) {
        let path = path_of(after);
        match after[path.len()..].strip_prefix('{') {
            Some(list) => {
                let items = list.split('}').next().unwrap_or_default().split(',');
                found.extend(items.map(|one| format!("{path}{}", path_of(one.trim()))));
            }
            None => found.push(path),
        }
    }
    found
}

fn path_of(text: &str) -> String {
    text.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ':')).collect()
}

#[test]
fn imports_follow_the_flow() {
    let sources: Vec<PathBuf> =
        with_extension("rs").into_iter().filter(|path| path.starts_with("runner/src")).collect();
    let names = |import: &str, forbidden: &str| {
        import == forbidden || import.strip_prefix(forbidden).is_some_and(|rest| rest.starts_with("::"))
    };
    let mut wrong = Vec::new();
    let mut seen = 0;
    for path in &sources {
        let part = part(path).expect("a file of the runner");
        let imports = imports(&read(path));
        seen += imports.len();
        let listed = FORBIDDEN.iter().find(|(name, _)| *name == part).map_or(&[][..], |(_, forbidden)| forbidden);
        let outside_cli = if matches!(part.as_str(), "cli" | "main" | "lib") { &[][..] } else { &["cli"][..] };
        let bad = imports.iter().filter(|import| listed.iter().chain(outside_cli).any(|one| names(import, one)));
        wrong.extend(bad.map(|import| format!("{} imports {import}", path.display())));
    }
    for (name, _) in FORBIDDEN {
        assert!(sources.iter().any(|path| part(path).as_deref() == Some(name)), "no part {name} is left");
    }
    assert!(seen > 100, "imports are not found any more");
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn imports_are_seen_in_lists_and_paths_and_not_in_comments() {
    let source = "// crate::a\nuse crate::{b::C, d};\nuse crate::h::{self, i};\nfn f() -> crate::e::F {}\n#[cfg(test)]\nmod tests {\nuse crate::g;";
    assert_eq!(imports(source), ["b::C", "d", "h::self", "h::i", "e::F"]);
}
