//! Signals by name.

use nix::sys::signal::Signal;

/// The first real-time signal an application gets; the two below it are the C library's own.
const RT_MIN: i32 = 34;
const RT_MAX: i32 = 64;

/// A signal's name: `SIGSEGV`, `SIGRTMIN+3`; a number that is no signal is `SIG<number>`.
pub fn name(number: i32) -> String {
    if let Ok(signal) = Signal::try_from(number) {
        return signal.as_str().to_owned();
    }
    match number {
        RT_MIN => "SIGRTMIN".to_owned(),
        _ if (RT_MIN..=RT_MAX).contains(&number) => format!("SIGRTMIN+{}", number - RT_MIN),
        _ => format!("SIG{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_realtime_and_unknown_numbers_all_have_a_name() {
        let rows = [
            (9, "SIGKILL"),
            (11, "SIGSEGV"),
            (25, "SIGXFSZ"),
            (31, "SIGSYS"),
            (34, "SIGRTMIN"),
            (37, "SIGRTMIN+3"),
            (64, "SIGRTMIN+30"),
            (0, "SIG0"),
            (32, "SIG32"),
            (-1, "SIG-1"),
        ];
        for (number, text) in rows {
            assert_eq!(name(number), text);
        }
    }
}
