//! The caller's files that a tool is given.

use super::{Context, input, look};
use crate::reason::Reason;
use crate::refusal::Refusal;
use serde_json::{Value, json};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Each is a mount of its own, and the kernel bounds those.
const MAX_FILES: usize = 1000;

/// A file or folder of the caller's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileIn {
    /// On the host, links followed.
    pub host: PathBuf,
    /// Inside.
    pub inside: PathBuf,
}

/// Checks every path the input names at the pointers, and puts the path the tool will see in its place.
pub fn bind_in(
    pointers: &[String],
    value: &mut Value,
    ctx: &Context<'_>,
    private: bool,
) -> Result<Vec<FileIn>, Refusal> {
    let mut found: Vec<FileIn> = Vec::new();
    let named: Vec<String> = pointers.iter().flat_map(|pattern| input::expand(value, pattern)).collect();
    for pointer in named {
        let Some(place) = value.pointer_mut(&pointer) else { continue };
        let given = match place {
            Value::Null => continue,
            Value::String(text) => text.clone(),
            other => {
                let message = format!("{pointer}: {} is not a path", crate::json::type_in_words(other));
                let details = json!({"instance": pointer});
                return Err(Refusal::new(Reason::RejectedInput, message)
                    .hint("name a file by a string")
                    .with_details(details));
            }
        };
        let host = check(&pointer, &given, ctx)?;
        let name = Path::new(&given).file_name().or_else(|| host.file_name()).unwrap_or_default();
        let inside = if private { Path::new("/in").join(found.len().to_string()).join(name) } else { host.clone() };
        *place = Value::String(inside.to_string_lossy().into_owned());
        if found.len() >= MAX_FILES {
            return Err(rejected(&pointer, &given, &format!("is one too many: {MAX_FILES} files can be given")));
        }
        found.push(FileIn { host, inside });
    }
    Ok(found)
}

/// The caller's files in a Call from elsewhere, each checked anew.
pub fn still_allowed(mounts: &crate::call::Mounts, ctx: &Context<'_>) -> Result<Vec<FileIn>, Refusal> {
    let given = mounts.binds.iter().filter(|bind| bind.target.as_path().starts_with("/in"));
    given
        .map(|bind| {
            let host = check("mounts", &bind.source.lossy(), ctx)
                .map_err(|refusal| Refusal { reason: Reason::NotPermitted, ..refusal })?;
            Ok(FileIn { host, inside: bind.target.as_path().to_path_buf() })
        })
        .collect()
}

/// The real path of what the caller named, if it may be given away.
fn check(pointer: &str, given: &str, ctx: &Context<'_>) -> Result<PathBuf, Refusal> {
    if given.is_empty() || given.contains('\0') {
        return Err(rejected(pointer, given, "is no path"));
    }
    let path = ctx.cwd.join(given);
    let host = std::fs::canonicalize(&path)
        .map_err(|error| rejected(pointer, given, &format!("cannot be opened: {error}")))?;
    let roots: Vec<PathBuf> = ctx.config.file_roots.iter().filter_map(|root| look::real(root)).collect();
    if !roots.iter().any(|root| host.starts_with(root)) {
        let shown: Vec<String> = ctx.config.file_roots.iter().map(|root| root.display().to_string()).collect();
        let link = if path == host { "" } else { " (links followed)" };
        let what = format!("leads to `{}`{link}, outside of what may be read: {}", host.display(), shown.join(", "));
        return Err(rejected(pointer, given, &what)
            .hint("copy the file below one of these folders, or have it named under file_roots in toolcell.toml"));
    }
    let kind = std::fs::metadata(&host).map_err(|error| rejected(pointer, given, &error.to_string()))?.file_type();
    let wrong = match () {
        () if kind.is_fifo() => Some("a FIFO"),
        () if kind.is_socket() => Some("a socket"),
        () if kind.is_block_device() || kind.is_char_device() => Some("a device"),
        () => None,
    };
    if let Some(wrong) = wrong {
        return Err(rejected(pointer, given, &format!("is {wrong}, not a file or folder")));
    }
    nix::unistd::access(&host, nix::unistd::AccessFlags::R_OK)
        .map_err(|errno| rejected(pointer, given, &format!("cannot be read: {}", errno.desc())))?;
    Ok(host)
}

fn rejected(pointer: &str, given: &str, what: &str) -> Refusal {
    Refusal::new(Reason::RejectedInput, format!("{pointer}: `{given}` {what}"))
        .hint("name a readable file below the working directory")
        .with_details(json!({"instance": pointer, "path": given}))
}
