//! Tests that need something of the machine. What is missing is said, and is a failure where everything must run.

use std::io::Write;

/// Whether a missing part is a failure.
pub fn must_run() -> bool {
    std::env::var_os("TOOLCELL_TESTS_MUST_RUN").is_some_and(|value| value == "1")
}

/// Says that a test did not run, and why.
///
/// # Panics
/// Under `TOOLCELL_TESTS_MUST_RUN=1`.
pub fn skip(test: &str, reason: &str) {
    assert!(!must_run(), "{test} has to run here, and could not: {reason}");
    // Not eprintln: the harness keeps what a passing test prints that way.
    let _ = writeln!(std::io::stderr(), "SKIP {test}: {reason}");
}

/// Whether this process is root.
pub fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// Whether a program is to be had where tools find it.
pub fn has(program: &str) -> bool {
    ["/usr/local/bin", "/usr/bin", "/bin"].iter().any(|dir| std::path::Path::new(dir).join(program).is_file())
}

/// Leaves the test with a SKIP line unless the condition holds: `needs!(is_root(), "not root")`.
#[macro_export]
macro_rules! needs {
    ($condition:expr, $reason:expr) => {
        if !$condition {
            fn here() {}
            let name = std::any::type_name_of_val(&here);
            $crate::needs::skip(name.trim_end_matches("::here"), $reason);
            return;
        }
    };
}
