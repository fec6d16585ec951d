//! The four things that can happen to a call.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which of four things happened. Everything else about a failure is detail.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The output is the answer.
    Ok,
    /// The request has to change before it can succeed.
    CallError,
    /// The tool worked; the data is not there, or only a part of it.
    DataLimitation,
    /// The way to the data is broken; nothing is known about the data.
    ChannelFailure,
}

impl Status {
    /// Every status, in order.
    pub const ALL: [Self; 4] = [Self::Ok, Self::CallError, Self::DataLimitation, Self::ChannelFailure];

    /// The name used in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::CallError => "call_error",
            Self::DataLimitation => "data_limitation",
            Self::ChannelFailure => "channel_failure",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_in_json_is_as_str() {
        for status in Status::ALL {
            assert_eq!(serde_json::to_value(status).unwrap(), status.as_str());
            assert_eq!(serde_json::from_value::<Status>(status.as_str().into()).unwrap(), status);
            assert_eq!(status.to_string(), status.as_str());
        }
    }
}
