//! The hostile suite: small tools that do what breaks callers (`tests/hostile/`), one table of what toolcell has to
//! say of each, and the check that nothing of a call is left.

pub mod elsewhere;
pub mod freezer;
pub mod leftovers;
pub mod pen;
pub mod row;
pub mod stage;
pub mod table;
pub mod tracked;

pub use row::{Exit, Expect, ROW, Row, Send};
pub use stage::Stage;
