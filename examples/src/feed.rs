//! A supplier's data file, and the two ways in which it can fail to be one.

use std::ffi::OsString;
use std::{fs, io};

use serde::de::DeserializeOwned;
use toolcell_tool::ToolError;

/// Why a data file gives no data. Both are failures of the channel: the request may be perfectly good.
#[derive(Debug)]
pub enum FeedError {
    /// No file was named, or it cannot be read.
    Unavailable(io::Error),
    /// The file can be read and is not what it should be.
    Broken(String),
}

impl From<FeedError> for ToolError {
    fn from(error: FeedError) -> Self {
        match error {
            FeedError::Unavailable(cause) => {
                ToolError::channel_failure(format!("the data file cannot be read: {cause}"))
                    .reason("upstream_unavailable")
            }
            FeedError::Broken(cause) => {
                ToolError::channel_failure(format!("the data file is damaged: {cause}")).reason("upstream_protocol")
            }
        }
    }
}

/// Reads the file that the program's first argument names.
///
/// # Errors
/// [`FeedError::Unavailable`] without an argument or without a readable file, [`FeedError::Broken`] when it is not UTF-8.
pub fn read_text(argument: Option<OsString>) -> Result<String, FeedError> {
    let path = argument.ok_or_else(|| FeedError::Unavailable(io::Error::other("no data file was named")))?;
    let bytes = fs::read(path).map_err(FeedError::Unavailable)?;
    String::from_utf8(bytes).map_err(|error| FeedError::Broken(error.to_string()))
}

/// Reads the file that the program's first argument names, as JSON.
///
/// # Errors
/// As [`read_text`]; [`FeedError::Broken`] also when the file is not the JSON that `T` needs.
pub fn read_json<T: DeserializeOwned>(argument: Option<OsString>) -> Result<T, FeedError> {
    serde_json::from_str(&read_text(argument)?).map_err(|error| FeedError::Broken(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capability_file(name: &str) -> Option<OsString> {
        Some(format!("{}/capabilities/{name}", env!("CARGO_MANIFEST_DIR")).into())
    }

    #[test]
    fn an_absent_file_is_an_outage() {
        assert!(matches!(read_text(None), Err(FeedError::Unavailable(_))));
        let absent = capability_file("fund_profile_a/no-such-file.json");
        assert!(matches!(read_json::<serde_json::Value>(absent), Err(FeedError::Unavailable(_))));
    }

    #[test]
    fn a_truncated_file_is_a_broken_feed() {
        let truncated = capability_file("fund_profile_offline/funds.json");
        assert!(matches!(read_json::<serde_json::Value>(truncated), Err(FeedError::Broken(_))));
    }
}
