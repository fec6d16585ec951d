//! The test language of the black-box suites: scenes with capabilities of their own, calls of the real binary, and
//! envelopes to look at.

pub mod answer;
pub mod cage;
pub mod hostile;
pub mod left;
pub mod needs;
pub mod scene;

pub use answer::{Answer, finish};
pub use scene::{Scene, binary, binary_dir, workspace};
