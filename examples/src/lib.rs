//! The logic of the example tools. The programs in `src/bin` only read their data file's name and call
//! [`toolcell_tool::run`]; everything that can be tested without a process stands here.

pub mod date;
pub mod feed;
pub mod fund;
pub mod prices;
pub mod returns;
