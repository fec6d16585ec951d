//! Want of what the host gives to each process: nothing is broken, and who raises the limit gets on.

use nix::errno::Errno;

/// The way out where an error means that the host has no more to give; None: it means something else.
pub fn way_out(errno: Errno) -> Option<&'static str> {
    Some(match errno {
        Errno::EMFILE | Errno::ENFILE => "raise the limit on open files (ulimit -n), or call less at once",
        Errno::EAGAIN => "raise the limit on processes (ulimit -u), or call less at once",
        Errno::ENOMEM => "raise the limit on memory, or call less at once",
        Errno::EFBIG => "raise the limit on the size of files (ulimit -f): a Call is handed over in a file in memory",
        _ => return None,
    })
}

/// The same of an I/O error.
pub fn way_out_of(error: &std::io::Error) -> Option<&'static str> {
    way_out(Errno::from_raw(error.raw_os_error()?))
}
