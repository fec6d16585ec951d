//! docs/exit-codes.md holds the tables of the code. `UPDATE_DOCS=1` rewrites what stands between its markers.

mod tables;

use std::fmt::Write as _;
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

#[test]
fn the_document_is_the_code() {
    let tables = [("reasons", reasons()), ("toolcell", own_exit_codes()), ("tools", tool_exit_codes())];
    tables::are_in("exit-codes.md", &tables);
}
