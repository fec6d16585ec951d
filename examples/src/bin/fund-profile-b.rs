//! Supplier B of `fund_profile`: nested tables, asked by market and product code. The first argument is the file.

use std::process::ExitCode;

use toolcell_examples::feed::read_json;
use toolcell_examples::fund::{QueryB, TableB, find_b};

fn main() -> ExitCode {
    toolcell_tool::run(|query: QueryB, _ctx: &toolcell_tool::Context| {
        let table: TableB = read_json(std::env::args_os().nth(1))?;
        Ok(find_b(&table, query)?)
    })
}
