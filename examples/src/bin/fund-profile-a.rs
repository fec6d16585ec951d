//! Supplier A of `fund_profile`: a flat table, asked by product code. The first argument is the table.

use std::process::ExitCode;

use toolcell_examples::feed::read_json;
use toolcell_examples::fund::{ProfileA, QueryA, find_a};

fn main() -> ExitCode {
    toolcell_tool::run(|query: QueryA, _ctx: &toolcell_tool::Context| {
        let table: Vec<ProfileA> = read_json(std::env::args_os().nth(1))?;
        Ok(find_a(&table, &query)?)
    })
}
