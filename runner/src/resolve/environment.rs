//! The tool's environment: built from nothing, with what is declared and granted.

use super::{Context, Layout, program};
use crate::call::SecretRef;
use crate::reason::Reason;
use crate::refusal::Refusal;
use crate::text::Text;
use crate::tool::ToolFile;
use std::collections::BTreeMap;
use std::path::Path;

/// The tool's variables: nothing of the caller's but what is granted.
pub fn environment(
    tool: &ToolFile,
    (id, registry, dir): (&str, &Path, &Path),
    layout: &Layout,
    ctx: &Context<'_>,
) -> Result<BTreeMap<String, Text>, Refusal> {
    let mut env = base_environment(layout, Some(dir));
    for name in &tool.env_pass {
        if !ctx.config.env_granted(Some(id), Some(registry), name) {
            return Err(Refusal::new(Reason::NotPermitted, format!("the variable `{name}` is not granted to `{id}`"))
                .hint(format!(
                    "whoever owns this host adds env = [\"{name}\"] to a [[grant]] for it in toolcell.toml"
                )));
        }
        if let Some(value) = (ctx.env)(name) {
            env.insert(name.clone(), Text::from(value));
        }
    }
    env.extend(tool.env_set.iter().map(|(name, value)| (name.clone(), Text::from(value.as_str()))));
    Ok(env)
}

/// What every tool has.
pub fn base_environment(layout: &Layout, tool: Option<&Path>) -> BTreeMap<String, Text> {
    let path = program::search_path(layout.work.starts_with('/'), tool);
    let pairs = [
        ("PATH", path.as_str()),
        ("HOME", layout.home),
        ("TMPDIR", layout.tmp),
        ("LANG", "C.UTF-8"),
        ("USER", "tool"),
        ("LOGNAME", "tool"),
        ("SHELL", "/bin/sh"),
    ];
    pairs.into_iter().map(|(name, value)| (name.to_owned(), Text::from(value))).collect()
}

/// The secrets, by reference.
pub fn secrets(tool: &ToolFile, id: &str, registry: &Path, ctx: &Context<'_>) -> Vec<SecretRef> {
    let one =
        |name: &String| SecretRef { name: name.clone(), from: ctx.config.secret_for(Some(id), Some(registry), name) };
    tool.secrets.iter().map(one).collect()
}
