//! The documents are run and compared with the code: what drifts fails here.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use toolcell_tests::{Scene, binary, binary_dir, workspace};

fn read(path: &str) -> String {
    let path = workspace().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The fenced blocks of a document that are marked with `language`.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<Vec<&str>> = None;
    for line in text.lines() {
        match &mut open {
            None if line == format!("```{language}") => open = Some(Vec::new()),
            None => {}
            Some(lines) if line == "```" => {
                found.push(lines.join("\n"));
                open = None;
            }
            Some(lines) => lines.push(line),
        }
    }
    assert!(open.is_none(), "a ```{language} block has no end");
    found
}

/// A command of a console block, with the lines it is to print.
struct Step {
    command: String,
    expected: Vec<String>,
}

/// The steps of a console block: `$ ` begins a command, everything else is output.
fn steps(block: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push(Step { command: command.to_owned(), expected: Vec::new() }),
            (None, Some(step)) => step.expected.push(line.to_owned()),
            (None, None) => panic!("a console block begins with output: {line}"),
        }
    }
    steps
}

/// Whether a list fits a pattern in which `any` stands for any number of items, also none.
fn fits<P, T>(pattern: &[P], items: &[T], any: &dyn Fn(&P) -> bool, one: &dyn Fn(&P, &T) -> bool) -> bool {
    let (mut p, mut i) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while i < items.len() {
        if p < pattern.len() && any(&pattern[p]) {
            p += 1;
            retry = Some((p, i));
        } else if p < pattern.len() && one(&pattern[p], &items[i]) {
            p += 1;
            i += 1;
        } else if let Some((after, taken)) = retry {
            retry = Some((after, taken + 1));
            p = after;
            i = taken + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(any)
}

/// Whether a line fits: `[..]` stands for any text within it.
fn line_fits(expected: &str, line: &str) -> bool {
    let pattern: Vec<Option<char>> =
        expected.split("[..]").map(|part| part.chars().map(Some).collect::<Vec<_>>()).collect::<Vec<_>>().join(&None);
    let line: Vec<char> = line.trim_end().chars().collect();
    fits(&pattern, &line, &Option::is_none, &|part, c| *part == Some(*c))
}

fn output_fits(expected: &[String], output: &str) -> bool {
    let lines: Vec<&str> = output.lines().collect();
    fits(expected, &lines, &|line| line == "...", &|expected, line| line_fits(expected, line))
}

#[test]
fn the_matcher_tells_what_fits_from_what_does_not() {
    let fits = |expected: &[&str], output: &str| {
        let expected: Vec<String> = expected.iter().map(|line| (*line).to_owned()).collect();
        output_fits(&expected, output)
    };
    assert!(fits(&["a", "...", "z"], "a\nb\nc\nz\n"));
    assert!(fits(&["a", "...", "z"], "a\nz\n"));
    assert!(fits(&["x [..] y", "[..]"], "x 1 2 y  \nanything\n"));
    assert!(!fits(&["a", "...", "z"], "a\nz\nmore\n"));
    assert!(!fits(&["x [..] y"], "x 1 2 yy\n"));
    assert!(!fits(&["a"], ""));
    assert!(!fits(&[], "a\n"));
}

/// A folder with what the README assumes: the examples, and `cargo` and `toolcell` to be called.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("toolcell-docs-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        for folder in ["clone/target/here", "home", "bin"] {
            fs::create_dir_all(root.join(folder)).expect("folders can be made");
        }
        // What `cargo demo` leaves.
        std::os::unix::fs::symlink(binary_dir(), root.join("clone/target/here/release")).expect("a link can be made");
        copy(&workspace().join("examples"), &root.join("clone/examples"));
        // `cargo demo` would build the workspace once more, in release; everything it needs is built already.
        let demo = binary("demo");
        let cargo = root.join("bin/cargo");
        let script = format!("#!/bin/sh\n[ \"$*\" = demo ] || exit 64\nCARGO=true exec '{}'\n", demo.display());
        fs::write(&cargo, script).expect("a script can be written");
        fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).expect("the mode can be set");
        Self(root)
    }

    /// What a command prints on standard output, in an environment built from nothing but what the README says to set.
    fn run(&self, command: &str) -> String {
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.0.join("bin").display());
        let readme = read("README.md");
        let export = blocks(&readme, "sh").into_iter().find(|block| block.starts_with("export PATH="));
        let export = export.expect("the README says what to put on the PATH");
        let output = Command::new("sh")
            .args(["-c", &format!("{export}\n{command}")])
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.0.join("home"))
            .current_dir(self.0.join("clone"))
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .expect("a shell starts");
        String::from_utf8(output.stdout).expect("UTF-8")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder can be made");
    for entry in fs::read_dir(from).expect("a folder can be read").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a file can be copied");
        }
    }
}

#[test]
fn every_console_block_of_the_readme_does_what_it_shows() {
    let place = Place::new("readme");
    let blocks = blocks(&read("README.md"), "console");
    assert!(blocks.len() >= 5, "the README shows less than it did");
    let mut wrong = Vec::new();
    for step in blocks.iter().flat_map(|block| steps(block)) {
        let output = place.run(&step.command);
        if !output_fits(&step.expected, &output) {
            wrong.push(format!("$ {}\nexpected:\n{}\nfound:\n{output}", step.command, step.expected.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn the_demo_of_the_readme_is_an_alias_of_cargo() {
    let config = read(".cargo/config.toml");
    assert!(config.contains("demo = \"run -q --release -p toolcell-examples --bin demo\""), "{config}");
}

#[test]
fn the_tool_of_the_readme_is_the_one_that_the_crate_compiles() {
    let readme = read("README.md");
    let documented: String = read("tool-template/src/lib.rs")
        .lines()
        .filter_map(|line| line.strip_prefix("//!"))
        .map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line)))
        .collect();
    let blocks = blocks(&readme, "rust");
    assert_eq!(blocks.len(), 1);
    assert!(documented.contains(&blocks[0]), "not the example of tool-template/src/lib.rs:\n{}", blocks[0]);
}

#[test]
fn the_exit_codes_of_the_readme_are_the_ones_of_the_program() {
    let readme = read("README.md");
    let section =
        readme.split("\n## ").find(|section| section.starts_with("Exit codes")).expect("the section is there");
    let rows: Vec<&str> =
        section.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| exit")).collect();
    let of = |(code, meaning): &(toolcell::exit_code::ExitCode, &str)| format!("| {} | {meaning} |", *code as u8);
    let expected: Vec<String> = toolcell::exit_code::TABLE.iter().map(of).collect();
    assert_eq!(rows, expected);
}

#[test]
fn the_steps_of_the_sandbox_are_documented_in_their_order() {
    let text = read("docs/sandbox.md");
    let list = text.split("<!-- steps -->\n").nth(1).and_then(|rest| rest.split("<!-- end -->").next());
    let lines: Vec<&str> = list.expect("the markers are there").lines().collect();
    let of = |(index, step): (usize, &toolcell::cell::protocol::Step)| {
        format!("{}. `{}`: {}", index + 1, step.name(), step.doc())
    };
    let expected: Vec<String> = toolcell::cell::protocol::Step::ALL.iter().enumerate().map(of).collect();
    assert_eq!(lines, expected);
}

#[test]
fn every_layer_and_every_profile_is_documented() {
    let (sandbox, readme) = (read("docs/sandbox.md"), read("README.md"));
    for layer in toolcell::layer::Layer::ALL {
        assert!(sandbox.contains(&format!("\n| `{layer}` | ")), "docs/sandbox.md has no row for {layer}");
    }
    for (profile, _) in toolcell::profile::BUILT_IN {
        for (name, text) in [("docs/sandbox.md", &sandbox), ("README.md", &readme)] {
            assert!(text.contains(&format!("\n| `{profile}`")), "{name} has no row for {profile}");
        }
    }
}

#[test]
fn the_configuration_that_is_shown_is_read() {
    let scene = Scene::new();
    let configuration = read("docs/configuration.md");
    let shown = blocks(&configuration, "toml");
    let [whole, profile, grant, tool] = shown.as_slice() else { panic!("{} blocks of TOML", shown.len()) };
    let readme = blocks(&read("README.md"), "toml");
    for config in [&readme[0], whole] {
        scene.config(config);
        let answer = scene.toolcell(&["list"], b"");
        assert_eq!(answer.code, Some(0), "{}", answer.stderr);
    }
    scene.config(&format!("registry = [\"../../registry\"]\n{grant}"));
    scene.write("config/toolcell/profiles/reference.toml", profile);
    scene.script("lookup_x", "#!/bin/sh\n", tool);
    let call = scene.toolcell(&["plan", "lookup_x"], b"{}");
    assert_eq!(call.code, Some(0), "{}", call.stderr);
    assert_eq!(call.at("/profile"), "reference");
    assert_eq!(call.at("/limits/wall_ms"), 90_000);
    assert_eq!(call.at("/require/cgroup"), "required");
}

#[test]
fn the_smallest_capability_that_is_shown_is_whole() {
    let contract = read("docs/contract.md");
    let place = Place::new("smallest");
    let folder = place.0.join("clone/capabilities/greet");
    fs::create_dir_all(&folder).expect("a folder can be made");
    let shown = [("capability.json", "json"), ("tool.toml", "toml"), ("greet", "sh")];
    for (file, language) in shown {
        let text = format!("{}\n", blocks(&contract, language)[0]);
        fs::write(folder.join(file), text).expect("a file can be written");
    }
    fs::set_permissions(folder.join("greet"), fs::Permissions::from_mode(0o755)).expect("the mode can be set");
    let steps = steps(&blocks(&contract, "console")[0]);
    assert_eq!(steps.len(), 1);
    let output = place.run(&steps[0].command);
    assert!(output_fits(&steps[0].expected, &output), "{output}");
    let dependency = blocks(&contract, "toml").into_iter().find(|block| block.starts_with("[dependencies]"));
    assert!(dependency.expect("it is shown").contains("path = \"../toolcell/tool-template\""));
    assert!(read("tool-template/Cargo.toml").contains("name = \"toolcell-tool\""));
}

#[test]
fn both_halves_of_the_secret_that_is_shown_fit_together() {
    let shown = blocks(&read("docs/contract.md"), "toml");
    let with = |text: &str| shown.iter().find(|block| block.contains(text)).expect("it is shown").clone();
    let (tool, config) = (with("secrets = [\"API_KEY\"]"), with("[secrets.API_KEY]"));
    let scene = Scene::new();
    for id in ["supplier_a", "other"] {
        scene.script(id, "#!/bin/sh\necho ${#API_KEY}\n", "");
        scene.write(&format!("registry/{id}/tool.toml"), &tool);
    }
    fs::rename(scene.registry(), scene.path().join("config/toolcell-registry")).expect("it can be moved");
    scene.config(&config.replace("./capabilities", "../toolcell-registry"));
    scene.write("config/toolcell/api_key", "12345678\n");
    let run =
        |id: &str| toolcell_tests::finish(scene.command().env_remove("TOOLCELL_REGISTRY").args(["run", id]), b"{}");
    assert_eq!(run("supplier_a").output(), 8);
    run("other").expect("channel_failure", "secret_missing");
}

#[test]
fn the_python_that_is_shown_calls() {
    let python = ["/usr/bin/python3", "/usr/local/bin/python3"].into_iter().find(|path| Path::new(path).is_file());
    toolcell_tests::needs!(python.is_some(), "no python3 here");
    let place = Place::new("python");
    let program = place.0.join("clone/call.py");
    fs::write(&program, &blocks(&read("docs/envelope.md"), "python")[0]).expect("a file can be written");
    let output = place.run(&format!("{} call.py", python.expect("it is there")));
    assert_eq!(output, "SPDR S&P 500 ETF Trust\n");
}

#[test]
fn the_wrapped_tool_that_is_shown_is_the_example() {
    let example = read("examples/capabilities/grep_lines/tool.toml");
    let shown = blocks(&read("docs/contract.md"), "toml");
    let wrapped = shown.iter().find(|block| block.contains("grep")).expect("the example is shown");
    for line in wrapped.lines() {
        assert!(example.lines().any(|one| one == line), "not in the example: {line}");
    }
}
