//! Rows of a daily price series. The first argument is the file that holds it.

use std::process::ExitCode;

use toolcell_examples::feed::read_text;
use toolcell_examples::prices::{RangeQuery, Series};

fn main() -> ExitCode {
    toolcell_tool::run(|query: RangeQuery, _ctx: &toolcell_tool::Context| {
        let series = Series::parse(&read_text(std::env::args_os().nth(1))?)?;
        Ok(series.range(&query)?)
    })
}
