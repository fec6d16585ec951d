//! The table: every row of the hostile suite.

mod documents;
mod inputs;
mod lifetime;
mod limits;
mod signals;
mod streams;

use super::Row;

/// All rows.
pub fn rows() -> Vec<Row> {
    let parts: [&[Row]; 6] =
        [lifetime::ROWS, signals::ROWS, streams::ROWS, documents::ROWS, inputs::ROWS, limits::ROWS];
    parts.concat()
}
