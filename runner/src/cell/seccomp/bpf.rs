//! The compiler: rules by system call number into a classic BPF program shaped as a binary search tree.

use std::mem::offset_of;

/// AUDIT_ARCH of this machine (linux/audit.h).
#[cfg(target_arch = "x86_64")]
pub const ARCH: u32 = 0xC000_003E;
/// AUDIT_ARCH of this machine (linux/audit.h).
#[cfg(target_arch = "aarch64")]
pub const ARCH: u32 = 0xC000_00B7;

/// Numbers from here on are the x32 ABI's on x86_64, whose names differ.
const X32: u32 = 0x4000_0000;

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It is made.
    Allow,
    /// It fails with this error.
    Errno(u32),
}

impl Action {
    fn value(self) -> u32 {
        match self {
            Action::Allow => libc::SECCOMP_RET_ALLOW,
            Action::Errno(errno) => libc::SECCOMP_RET_ERRNO | errno,
        }
    }
}

/// A test of the lower 32 bits of one argument (the kernel's own type for those tested here is int).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    index: u32,
    value: u32,
    bits: bool,
}

impl Argument {
    /// The argument equals `value`.
    pub fn equals(index: u32, value: u32) -> Self {
        Self { index, value, bits: false }
    }

    /// The argument has one of these bits.
    fn any_bit(index: u32, value: u32) -> Self {
        Self { index, value, bits: true }
    }
}

/// An argument's index and a value.
pub type ArgumentIs = (u32, u32);

/// One or two tests that must both hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Check {
    /// The first test.
    pub first: Argument,
    /// The second, if there is one.
    pub second: Option<Argument>,
}

impl Check {
    /// One test for a value.
    pub fn equals(index: u32, value: u32) -> Self {
        Self { first: Argument::equals(index, value), second: None }
    }
}

/// What becomes of one system call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its number.
    pub nr: u32,
    checks: Vec<Check>,
    hit: Action,
    miss: Action,
}

impl Rule {
    /// The same, whatever the arguments.
    pub fn always(nr: libc::c_long, action: Action) -> Self {
        Self { nr: nr as u32, checks: Vec::new(), hit: action, miss: action }
    }

    /// Allowed where one of the checks holds, else `errno`.
    pub fn only(nr: libc::c_long, checks: Vec<Check>, errno: u32) -> Self {
        Self { nr: nr as u32, checks, hit: Action::Allow, miss: Action::Errno(errno) }
    }

    /// Refused where one of the arguments is one of the values.
    pub fn refuse(nr: libc::c_long, arguments: Vec<u32>, values: Vec<u32>, errno: u32) -> Self {
        let checks = arguments.iter().flat_map(|index| values.iter().map(|value| Check::equals(*index, *value)));
        Self { nr: nr as u32, checks: checks.collect(), hit: Action::Errno(errno), miss: Action::Allow }
    }

    /// Refused where the argument has one of the bits.
    pub fn refuse_bits(nr: libc::c_long, index: u32, bits: u32, errno: u32) -> Self {
        let checks = vec![Check { first: Argument::any_bit(index, bits), second: None }];
        Self { nr: nr as u32, checks, hit: Action::Errno(errno), miss: Action::Allow }
    }

    /// Refused where both arguments have one of their bits.
    pub fn refuse_both(nr: libc::c_long, first: (u32, u32), second: (u32, u32), errno: u32) -> Self {
        let both =
            Check { first: Argument::any_bit(first.0, first.1), second: Some(Argument::any_bit(second.0, second.1)) };
        Self { nr: nr as u32, checks: vec![both], hit: Action::Errno(errno), miss: Action::Allow }
    }

    /// Refused where one of the tests holds: an argument has a value, and another one too where that is given.
    pub fn refuse_any(nr: libc::c_long, tests: &[(ArgumentIs, Option<ArgumentIs>)], errno: u32) -> Self {
        let equals = |(index, value): ArgumentIs| Argument::equals(index, value);
        let checks =
            tests.iter().map(|(first, second)| Check { first: equals(*first), second: second.map(equals) }).collect();
        Self { nr: nr as u32, checks, hit: Action::Errno(errno), miss: Action::Allow }
    }
}

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const BITS: u16 = (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16;
const JUMP: u16 = (libc::BPF_JMP | libc::BPF_JA) as u16;

fn op(code: u16, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter { code, jt, jf, k }
}

fn give(action: u32) -> libc::sock_filter {
    op(RETURN, action, 0, 0)
}

fn load_argument(index: u32) -> libc::sock_filter {
    // Little endian, which both machines are: the lower half stands first.
    op(LOAD, offset_of!(libc::seccomp_data, args) as u32 + 8 * index, 0, 0)
}

/// Compiles the rules; a later rule for the same number replaces an earlier one. What no rule names is allowed.
pub fn compile(rules: Vec<Rule>) -> Vec<libc::sock_filter> {
    let mut by_number = std::collections::BTreeMap::new();
    for rule in rules {
        by_number.insert(rule.nr, rule);
    }
    let sorted: Vec<Rule> = by_number.into_values().collect();
    let mut program = vec![
        op(LOAD, offset_of!(libc::seccomp_data, arch) as u32, 0, 0),
        op(EQUAL, ARCH, 1, 0),
        give(libc::SECCOMP_RET_KILL_PROCESS),
        op(LOAD, offset_of!(libc::seccomp_data, nr) as u32, 0, 0),
        op(AT_LEAST, X32, 0, 1),
        give(libc::SECCOMP_RET_KILL_PROCESS),
    ];
    program.extend(tree(&sorted));
    program
}

fn tree(rules: &[Rule]) -> Vec<libc::sock_filter> {
    match rules {
        [] => vec![give(libc::SECCOMP_RET_ALLOW)],
        [rule] => leaf(rule),
        _ => {
            let (low, high) = rules.split_at(rules.len() / 2);
            let (low, high_code) = (tree(low), tree(high));
            let mut code = match u8::try_from(low.len()) {
                Ok(skip) => vec![op(AT_LEAST, high[0].nr, skip, 0)],
                // A conditional jump reaches 255 instructions; an unconditional one goes further.
                Err(_) => vec![op(AT_LEAST, high[0].nr, 0, 1), op(JUMP, low.len() as u32, 0, 0)],
            };
            code.extend(low);
            code.extend(high_code);
            code
        }
    }
}

fn leaf(rule: &Rule) -> Vec<libc::sock_filter> {
    let judged = judge(rule);
    let mut code = vec![op(EQUAL, rule.nr, 0, judged.len() as u8)];
    code.extend(judged);
    code.push(give(libc::SECCOMP_RET_ALLOW));
    code
}

fn judge(rule: &Rule) -> Vec<libc::sock_filter> {
    let mut code = Vec::new();
    for check in &rule.checks {
        let test = |argument: Argument, jf| op(if argument.bits { BITS } else { EQUAL }, argument.value, 0, jf);
        code.push(load_argument(check.first.index));
        match check.second {
            None => code.push(test(check.first, 1)),
            Some(second) => {
                code.push(test(check.first, 3));
                code.push(load_argument(second.index));
                code.push(test(second, 1));
            }
        }
        code.push(give(rule.hit.value()));
    }
    code.push(give(rule.miss.value()));
    code
}

/// Runs a program as the kernel would, for tests.
#[cfg(test)]
pub fn run(program: &[libc::sock_filter], arch: u32, nr: u32, args: [u64; 6]) -> u32 {
    let word = |offset: u32| match offset {
        0 => nr,
        4 => arch,
        offset => (args[(offset as usize - 16) / 8] >> (offset % 8 * 8)) as u32,
    };
    let (mut at, mut accumulator) = (0usize, 0u32);
    loop {
        let op = program[at];
        let holds = match op.code {
            LOAD => {
                accumulator = word(op.k);
                at += 1;
                continue;
            }
            RETURN => return op.k,
            JUMP => {
                at += 1 + op.k as usize;
                continue;
            }
            EQUAL => accumulator == op.k,
            AT_LEAST => accumulator >= op.k,
            BITS => accumulator & op.k != 0,
            code => panic!("unknown code {code}"),
        };
        at += 1 + usize::from(if holds { op.jt } else { op.jf });
    }
}
