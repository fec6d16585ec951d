//! A tool with many threads: one floods standard error, one waits for ever, and the first panics.

use std::io::Write;
use std::time::Duration;

fn main() {
    for _ in 0..20 {
        small(|| {
            loop {
                let _ = std::io::stderr().write_all(b"word\n");
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        small(|| std::thread::sleep(Duration::from_secs(600)));
    }
    std::thread::sleep(Duration::from_millis(50));
    panic!("the first thread panics");
}

/// A thread whose stack is little beside the tool's memory.
fn small(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(128 * 1024).spawn(work).expect("a thread");
}
