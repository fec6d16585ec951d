//! Write a toolcell tool: typed input, typed output, one function.
//!
//! A tool is a program that reads one JSON value from stdin, writes one JSON value to stdout and exits. [`run`] does
//! all of that around a function of yours:
//!
//! ```no_run
//! use serde::{Deserialize, Serialize};
//! use toolcell_tool::{Context, ToolError, run};
//!
//! #[derive(Deserialize)]
//! struct Input { city: String }
//! #[derive(Serialize)]
//! struct Output { inhabitants: u64 }
//!
//! fn inhabitants(input: Input, _: &Context) -> Result<Output, ToolError> {
//!     match input.city.as_str() {
//!         "Bern" => Ok(Output { inhabitants: 134_000 }),
//!         _ => Err(ToolError::data_limitation("no count for this city").reason("no_coverage")),
//!     }
//! }
//! fn main() -> std::process::ExitCode { run(inhabitants) }
//! ```
//!
//! # Which error
//!
//! | the truth | constructor | exit code |
//! |---|---|---|
//! | the request has to change | [`ToolError::call_error`] | 64 (77 for reason `not_permitted`) |
//! | the tool worked, the data is not there or only partly | [`ToolError::data_limitation`] | 66 |
//! | the way to the data is broken | [`ToolError::channel_failure`] | 69 (75 when retryable) |
//!
//! Nothing converts into a [`ToolError`] by itself: a parse error may be the caller's fault or the supplier's, and
//! only the author knows which. [`OrFail`] makes the choice one word long:
//!
//! ```
//! use toolcell_tool::{OrFail, ToolError};
//! fn day(text: &str) -> Result<u8, ToolError> {
//!     text.parse().or_call_error("while reading the day")
//! }
//! assert_eq!(day("x").unwrap_err().exit_code(), 64);
//! ```
//!
//! ```compile_fail
//! fn read() -> Result<String, toolcell_tool::ToolError> {
//!     Ok(std::fs::read_to_string("data")?) // whose fault is a missing file? `?` may not decide
//! }
//! ```
//!
//! # What `run` gives you
//!
//! - `println!` anywhere, also in a library, goes to stderr: stdout carries the answer and nothing else.
//! - Input is read strictly: a duplicate key, a wrong type or trailing text is a call error that names the place.
//! - A panic, or a NaN in the output, is a clean channel failure, never half a document or a silent `null`.
//! - On SIGTERM [`Context::cancelled`] turns true; after 200 ms more the process answers `cancelled` and ends.
//!   The signals SIGTERM, SIGINT and SIGALRM belong to `run`.
//!
//! In types that are read or written here avoid `#[serde(flatten)]` and untagged or internally tagged enums around
//! numbers: a build in which some crate switches on serde_json's `arbitrary_precision` cannot read them.
//!
//! Linux only, like toolcell itself.

mod context;
mod document;
mod error;
pub mod exit;
mod finite;
mod input;
pub mod legacy;
mod or_fail;
mod output;
mod run;
pub mod schema;
mod status;
#[expect(unsafe_code, reason = "signals, dup2, poll and killpg have no safe form in std")]
mod sys;

pub use context::Context;
pub use document::{ErrorDocument, ErrorObject};
pub use error::ToolError;
pub use or_fail::OrFail;
pub use run::run;
pub use status::Status;

pub use schemars;
pub use serde;
pub use serde_json;
