//! What a call costs, as ratios to a bare `posix_spawn` of the same static tool, alternating in one run.
//!
//! `cargo bench -p toolcell` prints the table; docs/performance.md says how to read it. Needs gcc for the tool;
//! compares with bubblewrap and crun where they are installed.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use toolcell::cell::client::{Launcher, Seed};
use toolcell::config::{Config, Sources};
use toolcell::host::Host;
use toolcell::resolve::{Input, Tighten};
use toolcell::runner::{Identity, Request, Runner, What};

const ROUNDS: usize = 200;
const INPUT: &[u8] = b"{\"tool\":\"echo\"}";

fn main() {
    // First thing: the launcher is forked before the runtime has threads.
    let seed = Seed::fork(true).expect("a launcher");
    let bench = Bench::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let launcher = Launcher::new(seed).expect("the launcher");
        bench.run(&launcher).await;
    });
    let _ = std::fs::remove_dir_all(&bench.folder);
}

struct Bench {
    folder: PathBuf,
    runner: Runner,
}

/// One way of calling the tool.
struct Case {
    name: &'static str,
    how: How,
    times: Vec<f64>,
    ratios: Vec<f64>,
}

enum How {
    /// In this process, under this profile.
    Inside(&'static str),
    /// As a process.
    Process(Vec<OsString>),
}

impl Bench {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("toolcell-bench-{}", std::process::id()));
        let tool = folder.join("registry/echo");
        let profiles = folder.join("config/toolcell/profiles");
        std::fs::create_dir_all(tool.join("bin")).expect("folders");
        std::fs::create_dir_all(&profiles).expect("folders");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/echo.c");
        let built = Command::new("gcc").args(["-O2", "-static", "-o"]).arg(tool.join("bin/echo")).arg(source).status();
        assert!(built.expect("gcc").success(), "the tool is built");
        let contract = r#"{"schema":1,"id":"echo","version":"1.0.0","title":"echo","description":"echo",
            "input_schema":{"type":"object"},"output_schema":{"type":"object"}}"#;
        std::fs::write(tool.join("capability.json"), contract).expect("a contract");
        std::fs::write(tool.join("tool.toml"), "schema = 1\ncommand = [\"./bin/echo\"]\n").expect("a tool file");
        let bare = "schema = 1\nextends = \"strict\"\nwhy = \"bench\"\n[require]\ncgroup = \"off\"\n";
        std::fs::write(profiles.join("no_cgroup.toml"), bare).expect("a profile");
        let config = folder.join("config/toolcell/toolcell.toml");
        std::fs::write(&config, "[[grant]]\ncapability = \"*\"\nprofiles = [\"no_cgroup\"]\n").expect("a config");
        let sources = Sources {
            config: Some(config),
            registry: Some(folder.join("registry").into_os_string()),
            env: &|_| None,
            cwd: folder.clone(),
            uid: nix::unistd::geteuid().as_raw(),
        };
        let config = Config::load(&sources).expect("the config");
        let host = Host::detect(config.identity);
        let runner = Runner { config, host, cwd: folder.clone(), bin_dir: folder.clone() };
        Self { folder, runner }
    }

    fn cases(&self) -> Vec<Case> {
        let tool = self.folder.join("registry/echo/bin/echo");
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let toolcell = toolcell_binary();
        let mut run: Vec<OsString> = vec![toolcell.clone().into_os_string()];
        run.extend(words(&["run", "echo", "--config"]));
        run.push(self.folder.join("config/toolcell/toolcell.toml").into_os_string());
        run.push("--registry".into());
        run.push(self.folder.join("registry").into_os_string());
        let mut bare = run.clone();
        bare.extend(words(&["--profile", "no_cgroup"]));
        let mut all = vec![
            ("floor", How::Process(vec![tool.clone().into_os_string()])),
            ("inside, strict", How::Inside("strict")),
            ("inside, no cgroup", How::Inside("no_cgroup")),
        ];
        if toolcell.is_file() {
            all.push(("toolcell run", How::Process(run)));
            all.push(("toolcell run, no cgroup", How::Process(bare)));
        }
        if Path::new("/usr/bin/bwrap").exists() {
            all.push(("bubblewrap", How::Process(self.bubblewrap())));
        }
        if Path::new("/usr/bin/crun").exists() {
            let words = self.crun();
            // crun refuses a hybrid host: see docs/performance.md.
            match process(&words, usize::MAX) {
                Ok(()) => all.push(("crun, with cgroups", How::Process(words))),
                Err(why) => println!("crun is left out: {why}"),
            }
        }
        all.into_iter().map(|(name, how)| Case { name, how, times: Vec::new(), ratios: Vec::new() }).collect()
    }

    /// The nearest options: every namespace, private root, no capabilities; no limits, seccomp or Landlock.
    fn bubblewrap(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = [
            "/usr/bin/bwrap",
            "--unshare-all",
            "--die-with-parent",
            "--new-session",
            "--ro-bind",
            "/usr",
            "/usr",
            "--ro-bind",
        ]
        .iter()
        .map(OsString::from)
        .collect();
        words.push(self.folder.join("registry/echo").into_os_string());
        let rest = [
            "/tool",
            "--symlink",
            "usr/lib64",
            "/lib64",
            "--proc",
            "/proc",
            "--dev",
            "/dev",
            "--tmpfs",
            "/tmp",
            "--cap-drop",
            "ALL",
            "--",
            "/tool/bin/echo",
        ];
        words.extend(rest.iter().map(OsString::from));
        words
    }

    /// crun with a bundle of the same shape and its own cgroup.
    fn crun(&self) -> Vec<OsString> {
        let bundle = self.folder.join("bundle");
        std::fs::create_dir_all(bundle.join("rootfs")).expect("a bundle");
        let tool = self.folder.join("registry/echo");
        for folder in ["dev", "proc", "tmp", "tool", "usr"] {
            std::fs::create_dir_all(bundle.join("rootfs").join(folder)).expect("a bundle");
        }
        let bind = |source: &Path, target: &str| {
            serde_json::json!({"destination": target, "source": source,
            "type": "bind", "options": ["rbind", "ro"]})
        };
        let namespaces: Vec<_> = ["pid", "mount", "ipc", "uts", "network", "cgroup"]
            .iter()
            .map(|kind| serde_json::json!({"type": kind}))
            .collect();
        let config = serde_json::json!({"ociVersion": "1.0.2", "root": {"path": "rootfs", "readonly": true},
            "process": {"args": ["/tool/bin/echo"], "cwd": "/", "env": [], "user": {"uid": 0, "gid": 0},
                        "noNewPrivileges": true, "capabilities": {}},
            "mounts": [bind(&tool, "/tool"), bind(Path::new("/usr"), "/usr"),
                       {"destination": "/proc", "type": "proc", "source": "proc"},
                       {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs"}],
            "linux": {"namespaces": namespaces, "resources": {"memory": {"limit": 2147483648u64}, "pids": {"limit": 10}}}});
        std::fs::write(bundle.join("config.json"), config.to_string()).expect("a bundle");
        let mut words: Vec<OsString> = vec!["/usr/bin/crun".into(), "--root".into()];
        words.push(self.folder.join("crun").into_os_string());
        words.extend(["--cgroup-manager=cgroupfs", "run", "--bundle"].iter().map(OsString::from));
        words.push(bundle.into_os_string());
        words.push("%id".into());
        words
    }

    async fn run(&self, launcher: &Launcher) {
        let mut cases = self.cases();
        for case in &cases {
            for _ in 0..3 {
                self.once(launcher, &case.how, 1_000_000).await;
            }
        }
        for round in 0..ROUNDS {
            let order: Vec<usize> =
                if round % 2 == 0 { (0..cases.len()).collect() } else { (0..cases.len()).rev().collect() };
            let mut took = vec![0.0; cases.len()];
            for index in order {
                let time = self.once(launcher, &cases[index].how, round).await;
                took[index] = time.as_secs_f64() * 1e6;
            }
            for (index, case) in cases.iter_mut().enumerate() {
                case.times.push(took[index]);
                case.ratios.push(took[index] / took[0]);
            }
        }
        report(&mut cases);
    }

    async fn once(&self, launcher: &Launcher, how: &How, round: usize) -> Duration {
        let begun = Instant::now();
        match how {
            How::Process(words) => process(words, round).expect("the program answers"),
            How::Inside(profile) => {
                let (_cancel, cancelled) = watch::channel(false);
                let request = Request {
                    what: What::Capability {
                        reference: "echo".to_owned(),
                        input: Input { bytes: Some(INPUT.to_vec()), set: Vec::new() },
                    },
                    tighten: Tighten { profile: Some((*profile).to_owned()), ..Tighten::default() },
                    identity: Identity::default(),
                    out: None,
                    accepted: begun,
                    patience: None,
                };
                let envelope = self.runner.call(launcher, request, None, cancelled).await;
                assert_eq!(envelope.status, toolcell_tool::Status::Ok, "{}", envelope.to_json(true));
            }
        }
        begun.elapsed()
    }
}

fn process(words: &[OsString], round: usize) -> Result<(), String> {
    let id = OsString::from(format!("toolcell-bench-{}-{round}", std::process::id()));
    let words: Vec<&OsString> = words.iter().map(|word| if word == "%id" { &id } else { word }).collect();
    let mut child = Command::new(words[0])
        .args(&words[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let _ = child.stdin.take().map(|mut pipe| pipe.write_all(INPUT));
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let right = output.stdout.windows(11).any(|part| part == b"{\"ok\":true}");
    if right { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()) }
}

/// The release binary: beside this bench's own folder.
fn toolcell_binary() -> PathBuf {
    let exe = std::env::current_exe().expect("a bench knows its own path");
    exe.ancestors().nth(2).map_or_else(PathBuf::new, |folder| folder.join("toolcell"))
}

fn report(cases: &mut [Case]) {
    println!("{:<26}{:>10}{:>10}{:>10}{:>10}", "case", "p10 us", "median us", "p99 us", "x floor");
    for case in cases {
        let at = |values: &mut Vec<f64>, share: f64| {
            values.sort_by(f64::total_cmp);
            values[((values.len() - 1) as f64 * share) as usize]
        };
        let (low, middle, high) = (at(&mut case.times, 0.1), at(&mut case.times, 0.5), at(&mut case.times, 0.99));
        println!("{:<26}{low:>10.0}{middle:>10.0}{high:>10.0}{:>10.2}", case.name, at(&mut case.ratios, 0.5));
    }
}
