//! The verdict: its whole table, its messages, and what holds for any outcome at all.

mod arbitrary;
mod exits;
mod invariants;
mod messages;
mod output;
mod seen;
mod support;
mod warnings;
