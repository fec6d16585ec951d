//! What the compiled system call filter answers, for all arguments at once.

use std::collections::BTreeSet;
use std::mem::offset_of;

/// AUDIT_ARCH of this machine (linux/audit.h).
#[cfg(target_arch = "x86_64")]
const ARCH: u32 = 0xC000_003E;
/// AUDIT_ARCH of this machine (linux/audit.h).
#[cfg(target_arch = "aarch64")]
const ARCH: u32 = 0xC000_00B7;

/// Every answer that some arguments get: where a jump hangs on an argument, both ways are gone.
pub fn answers(program: &[libc::sock_filter], number: libc::c_long) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    let mut open: Vec<(usize, Option<u32>)> = vec![(0, None)];
    // Jumps lead forward only, so every way ends.
    while let Some((at, word)) = open.pop() {
        let Some(op) = program.get(at) else { continue };
        let code = u32::from(op.code);
        if code == libc::BPF_RET | libc::BPF_K {
            found.insert(op.k);
        } else if code == libc::BPF_LD | libc::BPF_W | libc::BPF_ABS {
            open.push((at + 1, load(op.k, number)));
        } else if code == libc::BPF_JMP | libc::BPF_JA {
            open.push((at + 1 + op.k as usize, word));
        } else {
            let (yes, no) = (at + 1 + usize::from(op.jt), at + 1 + usize::from(op.jf));
            match word.map(|word| holds(code, word, op.k)) {
                Some(true) => open.push((yes, word)),
                Some(false) => open.push((no, word)),
                None => open.extend([(yes, None), (no, None)]),
            }
        }
    }
    found
}

/// The word at an offset, where it is known without the arguments.
fn load(offset: u32, number: libc::c_long) -> Option<u32> {
    match offset as usize {
        offset if offset == offset_of!(libc::seccomp_data, nr) => Some(number as u32),
        offset if offset == offset_of!(libc::seccomp_data, arch) => Some(ARCH),
        _ => None,
    }
}

fn holds(code: u32, word: u32, value: u32) -> bool {
    if code == libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K {
        word == value
    } else if code == libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K {
        word >= value
    } else {
        word & value != 0
    }
}
