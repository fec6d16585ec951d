//! docs/exit-codes.md holds the tables of the code. `UPDATE_DOCS=1` rewrites what stands between its markers.

use std::fmt::Write as _;
use std::path::PathBuf;
use toolcell::envelope::Origin;
use toolcell::{exit_code, reason};
use toolcell_tool::Status;
use toolcell_tool::exit::{self, Retryable};

fn reasons() -> String {
    let mut text = String::from("| reason | status | origin | retryable | what happened |\n|---|---|---|---|---|\n");
    for row in reason::TABLE {
        let origin = match row.origin {
            Origin::Caller => "caller",
            Origin::Tool => "tool",
            Origin::Runner => "runner",
            Origin::Host => "host",
        };
        let (name, status, retryable) = (row.name, row.status.as_str(), if row.retryable { "yes" } else { "no" });
        writeln!(text, "| `{name}` | {status} | {origin} | {retryable} | {} |", row.doc).unwrap();
    }
    text
}

fn own_exit_codes() -> String {
    let mut text = String::from("| exit code | what it says |\n|---|---|\n");
    for (code, meaning) in exit_code::TABLE {
        writeln!(text, "| {} | {meaning} |", code as u8).unwrap();
    }
    text
}

fn tool_exit_codes() -> String {
    let mut text = String::from("| exit code | status | reason | retryable |\n|---|---|---|---|\n");
    for row in exit::TABLE {
        let reason = if row.status == Status::Ok { String::new() } else { format!("`{}`", row.reason) };
        let retryable = match row.retryable {
            _ if row.status != Status::ChannelFailure => "no",
            Retryable::No => "no",
            Retryable::Yes => "yes",
            Retryable::AsErrorObject => "as the error object says, else no",
        };
        writeln!(text, "| {} | {} | {reason} | {retryable} |", row.code, row.status.as_str()).unwrap();
    }
    text
}

/// The document with `body` between the markers of `name`.
fn filled(document: &str, name: &str, body: &str) -> String {
    let (open, close) = (format!("<!-- {name}: generated -->\n"), format!("<!-- {name}: end -->"));
    let (before, rest) = document.split_once(&open).unwrap_or_else(|| panic!("no marker `{}`", open.trim()));
    let (_, after) = rest.split_once(&close).unwrap_or_else(|| panic!("no marker `{close}`"));
    format!("{before}{open}{body}{close}{after}")
}

#[test]
fn the_document_is_the_code() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/exit-codes.md");
    let found = std::fs::read_to_string(&path).unwrap();
    let tables = [("reasons", reasons()), ("toolcell", own_exit_codes()), ("tools", tool_exit_codes())];
    let right = tables.iter().fold(found.clone(), |document, (name, body)| filled(&document, name, body));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &right).unwrap();
    } else {
        assert!(found == right, "docs/exit-codes.md differs from the code; UPDATE_DOCS=1 rewrites it");
    }
}
