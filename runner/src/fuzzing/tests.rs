//! The corpus of every target and every finding, without a fuzzer.

use super::*;
use std::path::{Path, PathBuf};

type Target = fn(&[u8]);

const TARGETS: [(&str, Target); 7] = [
    ("argv", argv),
    ("capability", capability),
    ("error_object", error_object),
    ("output", output),
    ("profile", profile),
    ("tool", tool),
    ("trace", trace),
];

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn every_target_keeps_its_promises_over_its_corpus() {
    for (name, target) in TARGETS {
        let folder = fuzz().join("corpus").join(name);
        let files = names(&folder);
        assert!((5..=60).contains(&files.len()), "{name} has {} files", files.len());
        for file in files {
            let data = std::fs::read(folder.join(&file)).unwrap();
            assert!(data.len() <= 4096, "{name}/{file} is longer than a fuzzer is fed");
            eprintln!("{name}/{file}");
            target(&data);
        }
    }
}

#[test]
fn every_target_has_a_corpus_and_a_program_and_no_other_is_there() {
    let known: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    assert_eq!(names(&fuzz().join("corpus")), known);
    let programs: Vec<String> = known.iter().map(|name| format!("{name}.rs")).collect();
    assert_eq!(names(&fuzz().join("fuzz_targets")), programs);
    let run = std::fs::read_to_string(fuzz().join("run")).unwrap();
    assert!(run.contains(&format!("targets=({})", known.join(" "))), "fuzz/run names other targets");
}

/// A corpus that every target refuses at the first byte would prove nothing.
#[test]
fn each_corpus_reaches_what_is_accepted() {
    let count = |name: &str, accepted: &dyn Fn(&[u8]) -> bool| {
        let folder = fuzz().join("corpus").join(name);
        names(&folder).iter().filter(|file| accepted(&std::fs::read(folder.join(file)).unwrap())).count()
    };
    let text = |data: &[u8]| String::from_utf8_lossy(data).into_owned();
    let path = Path::new("file");
    assert!(count("capability", &|data| crate::capability::parse(data, path).is_ok()) >= 5);
    assert!(count("tool", &|data| crate::tool::parse(&text(data), path).is_ok()) >= 5);
    let profile = |data: &[u8]| crate::file_error::from_toml::<crate::profile::ProfileFile>(&text(data), path).is_ok();
    assert!(count("profile", &profile) >= 5);
    let parent = |data: &[u8]| text(data).lines().next().unwrap_or_default().to_owned();
    assert!(count("trace", &|data| crate::trace::TraceContext::parse(&parent(data), None).is_some()) >= 5);
    assert!(count("output", &|data| crate::json::check(&data[1..]).is_ok()) >= 5);
    assert!(count("error_object", &|data| crate::json::check(&data[2..]).is_ok()) >= 5);
    assert!(
        count("argv", &|data| text(data)
            .lines()
            .nth(1)
            .is_some_and(|input| crate::json::check(input.as_bytes()).is_ok()))
            >= 5
    );
}
