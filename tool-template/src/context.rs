//! [`Context`]: what a handler may know about its call.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use crate::{ToolError, sys};

/// What is known about the call that this process serves. Without toolcell around it, by hand or in a unit test,
/// there is no deadline, no call id and no folder for files.
#[derive(Clone, Debug)]
pub struct Context {
    deadline: Option<Instant>,
    temp_dir: PathBuf,
    call_id: Option<String>,
    traceparent: Option<String>,
    out_dir: Option<PathBuf>,
}

impl Context {
    /// Reads the environment. [`run`](crate::run) does this; a test of a handler does it itself.
    #[must_use]
    pub fn from_env() -> Self {
        let left = env::var("TOOLCELL_DEADLINE_MS").ok().and_then(|text| text.trim().parse().ok());
        Self {
            deadline: left.and_then(|ms| Instant::now().checked_add(Duration::from_millis(ms))),
            temp_dir: env::temp_dir(),
            call_id: env::var("TOOLCELL_CALL_ID").ok(),
            traceparent: env::var("TRACEPARENT").ok(),
            out_dir: env::var_os("TOOLCELL_OUT").filter(|text| !text.is_empty()).map(PathBuf::from),
        }
    }

    /// When the tool is told to stop.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// How long until then; zero when it has passed.
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// A folder for files that nobody needs after the call.
    #[must_use]
    pub fn temp_dir(&self) -> &Path {
        &self.temp_dir
    }

    /// The id of the call, the same as in the envelope.
    #[must_use]
    pub fn call_id(&self) -> Option<&str> {
        self.call_id.as_deref()
    }

    /// The W3C trace context, to be passed on to suppliers.
    #[must_use]
    pub fn traceparent(&self) -> Option<&str> {
        self.traceparent.as_deref()
    }

    /// True once the tool was told to stop; 200 ms later the process answers for it. Look at it in long loops.
    #[must_use]
    pub fn cancelled(&self) -> bool {
        sys::cancelled()
    }

    /// The value of a secret that tool.toml names under `secrets`.
    ///
    /// # Errors
    ///
    /// The channel failure `secret_missing` where it is absent or not UTF-8; a value is never part of the message.
    pub fn secret(&self, name: &str) -> Result<String, ToolError> {
        let missing = |fact: &str| {
            Err(ToolError::channel_failure(format!(
                "the secret {name} {fact}: name it under `secrets` in tool.toml and give it a value in the host's configuration"
            ))
            .reason("secret_missing"))
        };
        // Such a name makes the lookup panic on some platforms and mean something else on others.
        if name.is_empty() || name.contains(['=', '\0']) {
            return missing("cannot be the name of a variable");
        }
        match env::var(name) {
            Ok(value) => Ok(value),
            Err(env::VarError::NotPresent) => missing("has no value"),
            Err(env::VarError::NotUnicode(_)) => missing("is not UTF-8"),
        }
    }

    /// The folder whose files go to the caller together with the output.
    #[must_use]
    pub fn out_dir(&self) -> Option<&Path> {
        self.out_dir.as_deref()
    }

    /// Creates a file for the caller. `name` may have subfolders (`2024/chart.png`).
    ///
    /// # Errors
    ///
    /// The channel failure `tool_internal` where the name would lead out of the folder, is taken, or the file cannot
    /// be created; `no_out_dir` where there is no folder.
    pub fn out_file(&self, name: impl AsRef<Path>) -> Result<File, ToolError> {
        let name = name.as_ref();
        let Some(folder) = &self.out_dir else {
            return Err(ToolError::channel_failure(
                "there is no folder for files: run the tool through toolcell, or set TOOLCELL_OUT to a folder",
            )
            .reason("no_out_dir"));
        };
        let plain = name.components().all(|part| matches!(part, Component::Normal(_)));
        if !plain || name.as_os_str().is_empty() || name.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(ToolError::internal(format!(
                "the file name {} could lead out of the output folder: use a relative path without `..`",
                name.display()
            )));
        }
        create(&folder.join(name)).map_err(|error| {
            let way_out = match error.kind() {
                io::ErrorKind::AlreadyExists => ": use another name, or write it once",
                _ => "",
            };
            ToolError::internal(format!("the file {} cannot be created: {error}{way_out}", name.display()))
        })
    }
}

fn create(path: &Path) -> io::Result<File> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    // New only: two results under one name would leave the caller the second without a word.
    OpenOptions::new().write(true).create_new(true).custom_flags(libc::O_NOFOLLOW).open(path)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn with_out_dir(name: &str) -> Context {
        let folder = env::temp_dir().join(format!("toolcell-tool-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Context { out_dir: Some(folder), ..Context::from_env() }
    }

    #[test]
    fn files_are_created_below_the_folder_and_never_replaced() {
        let context = with_out_dir("create");
        context.out_file("sub/a.txt").unwrap().write_all(b"one").unwrap();
        let error = context.out_file("sub/a.txt").unwrap_err();
        assert!(error.to_string().contains("use another name"), "{error}");
        let folder = context.out_dir().unwrap();
        assert_eq!(fs::read(folder.join("sub/a.txt")).unwrap(), b"one");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn names_that_lead_out_are_refused() {
        let context = with_out_dir("refuse");
        for name in ["", "/etc/x", "../x", "a/../../x", ".", "./x", "a/", ".."] {
            let error = context.out_file(name).expect_err(name);
            assert_eq!(error.exit_code(), 70, "{name}");
        }
        fs::remove_dir_all(context.out_dir().unwrap()).unwrap();
    }

    #[test]
    fn without_a_folder_there_are_no_files() {
        let context = Context { out_dir: None, ..Context::from_env() };
        assert!(context.out_file("a").unwrap_err().to_string().contains("no_out_dir"));
    }

    #[test]
    fn a_missing_secret_is_a_channel_failure() {
        for name in ["TOOLCELL_TEST_NO_SUCH_SECRET", "", "A=B", "A\0"] {
            let error = Context::from_env().secret(name).expect_err(name);
            assert_eq!(error.exit_code(), 69);
            assert!(error.to_string().contains("secret_missing"), "{error}");
        }
    }
}
