//! Return, volatility and drawdown of the series in the request. It reads nothing else.

use std::process::ExitCode;

use toolcell_examples::returns::{ReturnsQuery, figures};

fn main() -> ExitCode {
    toolcell_tool::run(|query: ReturnsQuery, _ctx: &toolcell_tool::Context| Ok(figures(&query)?))
}
