//! The probe's fence: system calls by number, and processes without a program.
#![expect(unsafe_code, reason = "the point of the probe is to make calls that no safe interface offers")]

use nix::errno::Errno;
use nix::unistd::{ForkResult, Pid};

/// Makes a system call. The caller passes no pointer to memory of this process: 0 and 1 are never mapped.
pub fn call(number: i64, arguments: [i64; 6]) -> Result<i64, Errno> {
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: no argument is an address of this process's memory, so the kernel can neither read nor write any.
    Errno::result(unsafe { libc::syscall(number, a, b, c, d, e, f) })
}

/// Reads one byte at an address that is never mapped, from the memory of another process: EFAULT when that memory
/// may be read, EPERM when it may not.
pub fn read_memory_of(pid: i32) -> Result<usize, Errno> {
    let mut byte = 0u8;
    let local = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let remote = libc::iovec { iov_base: std::ptr::without_provenance_mut(1), iov_len: 1 };
    // SAFETY: `local` describes one byte that lives until the call returns; `remote` is only an address of the other.
    Errno::result(unsafe { libc::process_vm_readv(pid, &local, 1, &remote, 1, 0) }).map(|read| read as usize)
}

/// A child that runs `body` and exits.
pub fn child(body: impl FnOnce()) -> Result<Pid, Errno> {
    // SAFETY: the probe has one thread, so the child's copy of every lock is free.
    match unsafe { nix::unistd::fork() }? {
        ForkResult::Parent { child } => Ok(child),
        ForkResult::Child => {
            body();
            std::process::exit(0)
        }
    }
}

/// getpid by the number it has in the x32 ABI.
#[cfg(target_arch = "x86_64")]
pub fn getpid_by_x32() -> Result<i64, Errno> {
    call(0x4000_0000 | libc::SYS_getpid, [0; 6])
}

/// getpid through the gate of 32-bit programs, where its number is 20. Without that gate in the kernel: SIGSEGV.
#[cfg(target_arch = "x86_64")]
pub fn getpid_by_int80() -> Result<i64, Errno> {
    let answer: i64;
    // SAFETY: getpid takes no argument and touches no memory; the gate clears r8 to r11 and nothing else.
    unsafe {
        std::arch::asm!("int 0x80", inlateout("rax") 20_i64 => answer, out("r8") _, out("r9") _, out("r10") _, out("r11") _);
    }
    // The gate answers with 32 bits.
    let answer = i64::from(answer as i32);
    if answer < 0 { Err(Errno::from_raw(-answer as i32)) } else { Ok(answer) }
}
