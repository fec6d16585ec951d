//! Sizes and durations for people.

/// A size: `4095 B`, `64 MiB`, `1.5 GiB`.
pub fn bytes(count: u64) -> String {
    const UNITS: [(u32, &str); 4] = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    for (shift, unit) in UNITS {
        if count >= 1 << shift {
            return format!("{} {unit}", tenths(count >> shift, ((count % (1 << shift)) * 10) >> shift));
        }
    }
    format!("{count} B")
}

/// How many of something: `1 fork`, `2 forks`.
pub fn count(number: u64, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}

/// A duration given in milliseconds: `850 ms`, `2 s`, `1.5 s`, `1 min 30 s`, `2 h 5 min`.
pub fn millis(count: u64) -> String {
    let seconds = count / 1000;
    let parts = |big: u64, big_unit: &str, small: u64, small_unit: &str| match small {
        0 => format!("{big} {big_unit}"),
        _ => format!("{big} {big_unit} {small} {small_unit}"),
    };
    match seconds {
        0 => format!("{count} ms"),
        1..60 => format!("{} s", tenths(seconds, count % 1000 / 100)),
        60..3600 => parts(seconds / 60, "min", seconds % 60, "s"),
        _ => parts(seconds / 3600, "h", seconds % 3600 / 60, "min"),
    }
}

fn tenths(whole: u64, tenth: u64) -> String {
    if tenth == 0 { whole.to_string() } else { format!("{whole}.{tenth}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_in_the_largest_unit_that_fits() {
        let rows = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (64 << 20, "64 MiB"),
            (3 << 29, "1.5 GiB"),
            (u64::MAX, "16777215.9 TiB"),
        ];
        for (count, text) in rows {
            assert_eq!(bytes(count), text);
        }
    }

    #[test]
    fn durations_are_in_the_two_largest_units() {
        let rows = [
            (0, "0 ms"),
            (850, "850 ms"),
            (2000, "2 s"),
            (1500, "1.5 s"),
            (60_000, "1 min"),
            (90_000, "1 min 30 s"),
            (7_500_000, "2 h 5 min"),
        ];
        for (count, text) in rows {
            assert_eq!(millis(count), text);
        }
        assert!(!millis(u64::MAX).is_empty());
    }
}
