//! The three pipes of a child, served by one thread: threads count against the few processes of a sandbox, and one
//! that waits for a pipe held by an escaped grandchild could never be ended.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::process::{Child, ChildStdin};
use std::time::Duration;

use crate::sys;

const CHUNK: usize = 64 << 10;

/// What was read from one pipe.
pub(super) struct Capture {
    pipe: Option<Box<dyn ReadPipe>>,
    pub(super) bytes: Vec<u8>,
    pub(super) truncated: bool,
    limit: usize,
}

trait ReadPipe: Read + AsFd {}
impl<T: Read + AsFd> ReadPipe for T {}

impl Capture {
    fn new(pipe: Option<impl ReadPipe + 'static>, limit: usize) -> io::Result<Self> {
        if let Some(pipe) = &pipe {
            sys::set_nonblocking(pipe.as_fd())?;
        }
        let pipe = pipe.map(|pipe| Box::new(pipe) as Box<dyn ReadPipe>);
        Ok(Self { pipe, bytes: Vec::new(), truncated: false, limit })
    }

    fn read(&mut self, chunk: &mut [u8]) {
        let Some(pipe) = &mut self.pipe else { return };
        match pipe.read(chunk) {
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Ok(0) | Err(_) => self.pipe = None,
            Ok(count) => {
                let kept = count.min(self.limit - self.bytes.len());
                self.bytes.extend_from_slice(&chunk[..kept]);
                self.truncated |= kept < count;
            }
        }
    }
}

/// The child's stdin, stdout and stderr.
pub(super) struct Streams {
    stdin: Option<ChildStdin>,
    input: Vec<u8>,
    sent: usize,
    pub(super) stdout: Capture,
    pub(super) stderr: Capture,
    chunk: Vec<u8>,
}

impl Streams {
    pub(super) fn new(child: &mut Child, input: Vec<u8>, limits: [usize; 2]) -> io::Result<Self> {
        let [stdout_limit, stderr_limit] = limits;
        let stdin = child.stdin.take().filter(|_| !input.is_empty());
        if let Some(stdin) = &stdin {
            sys::set_nonblocking(stdin.as_fd())?;
        }
        Ok(Self {
            stdin,
            input,
            sent: 0,
            stdout: Capture::new(child.stdout.take(), stdout_limit)?,
            stderr: Capture::new(child.stderr.take(), stderr_limit)?,
            chunk: vec![0; CHUNK],
        })
    }

    /// Whether there is still something to read or to send.
    pub(super) fn open(&self) -> bool {
        self.stdin.is_some() || self.stdout.pipe.is_some() || self.stderr.pipe.is_some()
    }

    /// Nobody reads it any more.
    pub(super) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Waits at most `patience` for something to move, and moves it.
    pub(super) fn pump(&mut self, patience: Duration) -> io::Result<()> {
        // A negative descriptor is skipped by poll.
        let entry = |fd: Option<i32>, events| libc::pollfd { fd: fd.unwrap_or(-1), events, revents: 0 };
        let source = |capture: &Capture| capture.pipe.as_ref().map(|pipe| pipe.as_fd().as_raw_fd());
        let mut fds = [
            entry(self.stdin.as_ref().map(AsRawFd::as_raw_fd), libc::POLLOUT),
            entry(source(&self.stdout), libc::POLLIN),
            entry(source(&self.stderr), libc::POLLIN),
        ];
        if !sys::poll(&mut fds, patience)? {
            return Ok(());
        }
        // Any event, also an error or a hang-up: the read or write that follows finds out which.
        if fds[0].revents != 0 {
            self.send();
        }
        if fds[1].revents != 0 {
            self.stdout.read(&mut self.chunk);
        }
        if fds[2].revents != 0 {
            self.stderr.read(&mut self.chunk);
        }
        Ok(())
    }

    fn send(&mut self) {
        let Some(stdin) = &mut self.stdin else { return };
        match stdin.write(&self.input[self.sent..]) {
            Ok(count) => self.sent += count,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            // A program may stop reading early (`head`); whether that is a failure is for its exit code to say.
            Err(_) => self.sent = self.input.len(),
        }
        if self.sent == self.input.len() {
            self.stdin = None;
        }
    }
}
