//! The three pipes of a call, pumped at the same time and bounded.

use crate::event::Items;
use crate::outcome::Capture;
use crate::sys::{self, SysError};
use crate::text::Text;
use std::os::fd::{AsFd, OwnedFd};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::Notify;

/// How much is read at once: little at first, since most answers are small and fresh memory costs a fault a page.
const FIRST_CHUNK: usize = 4 * 1024;
/// A whole pipe.
const CHUNK: usize = 64 * 1024;

/// Standard input being written.
pub struct Feed {
    pipe: Option<Sender>,
    bytes: Vec<u8>,
    /// Whether the tool closed its end before all was written.
    pub closed_early: bool,
}

impl Feed {
    /// Will write `bytes` and close the pipe. Without a pipe there is nothing to write to.
    pub fn new(pipe: Option<OwnedFd>, bytes: Vec<u8>) -> Result<Self, SysError> {
        let pipe = pipe.map(|fd| open(fd, Sender::from_owned_fd)).transpose()?;
        Ok(Self { pipe, bytes, closed_early: false })
    }

    /// Writes all. That the tool does not read is a fact, never an error.
    pub async fn run(&mut self) {
        if let Some(mut pipe) = self.pipe.take() {
            self.closed_early = pipe.write_all(&self.bytes).await.is_err();
        }
        self.bytes = Vec::new();
    }
}

/// A pipe being read to its end, of which a bounded part is kept.
pub struct Tap {
    pipe: Option<Receiver>,
    head: Vec<u8>,
    head_max: usize,
    tail: std::collections::VecDeque<u8>,
    tail_max: usize,
    total: u64,
    items: Option<Items>,
}

impl Tap {
    /// Keeps the first `head_max` and the last `tail_max` bytes.
    pub fn new(pipe: OwnedFd, head_max: u64, tail_max: u64) -> Result<Self, SysError> {
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        Ok(Self {
            pipe: Some(open(pipe, Receiver::from_owned_fd)?),
            head: Vec::new(),
            head_max: size(head_max),
            tail: std::collections::VecDeque::new(),
            tail_max: size(tail_max),
            total: 0,
            items: None,
        })
    }

    /// Shows each line as it comes.
    pub fn showing(self, items: Option<Items>) -> Self {
        Self { items, ..self }
    }

    /// Reads to the end. More than the head holds is told to `over` once, where there is one to tell; then reading
    /// goes on, so that the tool does not block on a full pipe before it is ended.
    pub async fn run(&mut self, over: Option<&Notify>) {
        let Some(mut pipe) = self.pipe.take() else { return };
        let mut chunk = vec![0; FIRST_CHUNK];
        loop {
            match pipe.read(&mut chunk).await {
                Ok(0) | Err(_) => return,
                Ok(length) => {
                    self.take(&chunk[..length]);
                    if length == chunk.len() {
                        chunk.resize(CHUNK, 0);
                    }
                }
            }
            if let Some(over) = over.filter(|_| self.total > self.head_max as u64) {
                over.notify_one();
            }
            // A flood keeps the pipe ready for ever: the timers must get their turn.
            tokio::task::yield_now().await;
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.head_max.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        if self.tail_max > 0 {
            self.tail.extend(&bytes[room..]);
            let surplus = self.tail.len().saturating_sub(self.tail_max);
            self.tail.drain(..surplus);
        }
        if let Some(items) = &mut self.items {
            items.look(&self.head);
        }
    }

    /// What was kept. Around a cut, `margin` bytes are dropped on both sides: what a cut leaves of a secret's value
    /// is no longer found as one. `mark` stands where bytes are missing.
    pub fn finish(mut self, margin: usize) -> Capture {
        let kept = (self.head.len() + self.tail.len()) as u64;
        let truncated = kept < self.total;
        if let Some(items) = self.items.as_mut().filter(|_| !truncated) {
            items.finish(&self.head);
        }
        let (mut bytes, tail) = (self.head, Vec::from(self.tail));
        if truncated {
            bytes.truncate(bytes.len().saturating_sub(margin));
            if self.tail_max > 0 {
                bytes.extend_from_slice(format!("\n[... {} bytes left out ...]\n", self.total - kept).as_bytes());
                bytes.extend_from_slice(tail.get(margin.min(tail.len())..).unwrap_or_default());
            }
        } else {
            bytes.extend_from_slice(&tail);
        }
        Capture { kept: Text::from(bytes), total: self.total, truncated }
    }
}

fn open<T>(fd: OwnedFd, wrap: impl FnOnce(OwnedFd) -> std::io::Result<T>) -> Result<T, SysError> {
    sys::nonblocking(fd.as_fd())?;
    wrap(fd).map_err(SysError::io("epoll", "pipe"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tap(head_max: u64, tail_max: u64, writes: &[&[u8]]) -> Capture {
        let (read, _write) = nix::unistd::pipe().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let _guard = runtime.enter();
        let mut tap = Tap::new(read, head_max, tail_max).unwrap();
        writes.iter().for_each(|bytes| tap.take(bytes));
        tap.finish(2)
    }

    #[test]
    fn what_fits_is_kept_whole() {
        let capture = tap(4, 4, &[b"abc", b"defg"]);
        assert_eq!(capture.kept.as_bytes(), b"abcdefg");
        assert!(!capture.truncated);
    }

    #[test]
    fn head_and_tail_are_kept_and_the_cut_has_a_margin() {
        let capture = tap(4, 4, &[b"0123456789", b"abcdef"]);
        assert_eq!(capture.kept.as_bytes(), b"01\n[... 8 bytes left out ...]\nef");
        assert_eq!((capture.total, capture.truncated), (16, true));
    }

    #[test]
    fn without_a_tail_only_the_head_is_kept() {
        let capture = tap(4, 0, &[b"0123456789"]);
        assert_eq!(capture.kept.as_bytes(), b"01");
        assert_eq!((capture.total, capture.truncated), (10, true));
    }
}
