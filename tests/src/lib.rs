//! The test language of the black-box suites: scenes with capabilities of their own, calls of the real binary, and
//! envelopes to look at.

pub mod cage;
pub mod left;
pub mod needs;
pub mod scene;

pub use scene::{Answer, Scene, binary, binary_dir, finish, workspace};
