//! What the tool inherits: environment and descriptors.

use nix::fcntl::{FcntlArg, fcntl};
use serde_json::{Value, json};
use std::fs::File;
use toolcell_tests::cage::{Cage, Who};
use toolcell_tests::for_both;

/// Variables that hold keys, reach services or change what a program loads.
const CANARIES: [&str; 17] = [
    "OPENAI_API_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "GITHUB_TOKEN",
    "SSH_AUTH_SOCK",
    "DOCKER_HOST",
    "MY_SESSION_KEYS_0",
    "LD_LIBRARY_PATH",
    "LD_AUDIT",
    "BASH_ENV",
    "ENV",
    "PYTHONPATH",
    "NODE_OPTIONS",
    "PERL5OPT",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "http_proxy",
    "RUNNER_CANARY",
];

fn canaried(who: Who) -> Cage {
    let cage = Cage::of(who, "canaries").expect("as before");
    CANARIES.iter().fold(cage, |cage, name| cage.env(name, "/c4nary"))
}

for_both! {
    fn no_variable_of_the_callers_reaches_the_tool(cage: &Cage) {
        let cage = canaried(cage.who);
        let outside = cage.bare(&json!({"try": "environment"}));
        for name in CANARIES {
            assert_eq!(outside["own"][name], "/c4nary", "the control: {name}");
        }
        for profile in ["strict", "standard", "open"] {
            let inside = cage.probe(profile, &json!({"try": "environment"}));
            let own = inside["own"].as_object().expect("an object");
            let base = ["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TMPDIR", "USER", "TRACEPARENT", "OTEL_TRACEPARENT", "TRACESTATE", "OTEL_TRACESTATE"];
            let extra: Vec<&String> = own.keys().filter(|name| !base.contains(&name.as_str()) && !name.starts_with("TOOLCELL_")).collect();
            assert!(extra.is_empty(), "{profile}: {extra:?}");
            for name in ["TOOLCELL_STATE", "TOOLCELL_REGISTRY", "TOOLCELL_CONFIG"] {
                assert!(!own.contains_key(name), "{profile}: {name}");
            }
            assert!(!inside["own"].to_string().contains("c4nary"), "{profile}: {own:?}");
        }
    }

    fn no_process_inside_holds_the_callers_variables(cage: &Cage) {
        let cage = canaried(cage.who);
        for profile in ["strict", "standard", "no-landlock", "no-seccomp"] {
            let all = cage.probe(profile, &json!({"try": "environment"}))["all"].clone();
            let count = all.as_object().map_or(0, serde_json::Map::len);
            assert!(count >= 1, "{profile}: its own can be read");
            assert!(!all.to_string().contains("c4nary"), "{profile}: {all}");
        }
        let _neighbour = cage.neighbour("NEIGHBOUR", "n3ighbour");
        let open = cage.probe("open", &json!({"try": "environment"}))["all"].clone();
        assert!(open.to_string().contains("n3ighbour"), "the control: another process is found by the same means");
        // The runner shuts its memory to everyone but root.
        assert_eq!(open.to_string().contains("c4nary"), cage.who == Who::Root);
    }

    fn no_open_file_of_the_callers_reaches_the_tool(cage: &Cage) {
        let file = File::open(cage.scene.write("outside/held", "held")).expect("it is there");
        // Duplicates that programs started from now on inherit.
        let held = (7..21).map(|least| fcntl(&file, FcntlArg::F_DUPFD(least)).expect("a descriptor")).collect::<Vec<_>>();
        let extra = |answer: &Value| answer["extra"].as_object().expect("an object").clone();
        let outside = extra(&cage.bare(&json!({"try": "descriptors"})));
        let seen = outside.values().filter(|target| target.as_str().is_some_and(|target| target.ends_with("outside/held")));
        assert!(seen.count() >= 14, "the control: {outside:?}");
        std::thread::scope(|scope| {
            for number in 0..20 {
                let profile = ["strict", "standard", "open"][number % 3];
                scope.spawn(move || {
                    let found = extra(&cage.probe(profile, &json!({"try": "descriptors"})));
                    assert!(found.is_empty(), "{profile}: {found:?}");
                });
            }
        });
        held.into_iter().for_each(|raw| nix::unistd::close(raw).expect("it was open"));
    }
}
