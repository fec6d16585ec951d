//! Durations and sizes as people write them: `"30s"`, `"2GiB"`.
//!
//! A value is kept only when it is exact, so that what a file says and what a Call holds never differ by rounding.

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// The longest duration: ten years. A deadline beyond it would overflow the clocks it is added to.
const MAX_MILLIS: u64 = 10 * 365 * 24 * 3_600_000;
/// The largest size: the kernel takes sizes as signed numbers.
const MAX_BYTES: u64 = i64::MAX as u64;

const TIME_UNITS: [(&str, u64); 4] = [("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];
const SIZE_UNITS: [(&str, u64); 9] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1000),
    ("B", 1),
];

/// Why a text is no duration or no size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// Not a number with a unit.
    #[error("`{text}` is not a {what}; write {example}")]
    Form {
        /// What was given.
        text: String,
        /// What it should be.
        what: &'static str,
        /// How it is written.
        example: &'static str,
    },
    /// A duration without a unit.
    #[error("`{text}` has no unit; write `{text}s` or `{text}ms`")]
    NoUnit {
        /// What was given.
        text: String,
    },
    /// Zero.
    #[error("`{text}` is zero; leave it out for the default, or name a positive {what}")]
    Zero {
        /// What was given.
        text: String,
        /// What it should be.
        what: &'static str,
    },
    /// Below zero.
    #[error("`{text}` is negative; name a positive {what}")]
    Negative {
        /// What was given.
        text: String,
        /// What it should be.
        what: &'static str,
    },
    /// Not a whole number of the smallest unit.
    #[error("`{text}` is not a whole number of {unit}; write it in a smaller unit")]
    Inexact {
        /// What was given.
        text: String,
        /// The smallest unit.
        unit: &'static str,
    },
    /// More than can be kept.
    #[error("`{text}` is too large; the most is {most}")]
    TooLarge {
        /// What was given.
        text: String,
        /// The largest value.
        most: &'static str,
    },
}

/// A duration in milliseconds, written `"200ms"`, `"30s"`, `"1.5h"`. Never zero when it was parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(pub u64);

/// A number of bytes, written `"256MiB"`, `"8MB"`, `"4096"` or as a plain integer. Never zero when it was parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size(pub u64);

/// What distinguishes the two kinds of quantity.
struct Kind {
    what: &'static str,
    example: &'static str,
    smallest: &'static str,
    most: &'static str,
    max: u64,
    units: &'static [(&'static str, u64)],
}

const TIME: Kind = Kind {
    what: "duration",
    example: "`200ms`, `30s`, `5m` or `1h`",
    smallest: "milliseconds",
    most: "87600h (ten years)",
    max: MAX_MILLIS,
    units: &TIME_UNITS,
};
const BYTES: Kind = Kind {
    what: "size",
    example: "`512B`, `64KiB`, `256MiB`, `8MB`, or a plain number of bytes",
    smallest: "bytes",
    most: "9223372036854775807 bytes",
    max: MAX_BYTES,
    units: &SIZE_UNITS,
};

fn parse(text: &str, kind: &Kind, bare_unit: Option<u64>) -> Result<u64, UnitError> {
    let form = || UnitError::Form { text: text.into(), what: kind.what, example: kind.example };
    let trimmed = text.trim();
    if trimmed.starts_with('-') {
        return Err(UnitError::Negative { text: trimmed.into(), what: kind.what });
    }
    let split = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || fraction.contains('.') || (number.contains('.') && fraction.is_empty()) {
        return Err(form());
    }
    let factor = match (unit.trim_start(), bare_unit) {
        ("", Some(factor)) => factor,
        ("", None) if number.bytes().any(|digit| matches!(digit, b'1'..=b'9')) => {
            return Err(UnitError::NoUnit { text: trimmed.into() });
        }
        ("", None) => return Err(UnitError::Zero { text: trimmed.into(), what: kind.what }),
        (unit, _) => kind.units.iter().find(|(name, _)| *name == unit).map(|(_, f)| *f).ok_or_else(form)?,
    };
    let too_large = || UnitError::TooLarge { text: trimmed.into(), most: kind.most };
    let fraction = fraction.trim_end_matches('0');
    // More decimals than the largest unit has powers of ten and two can never be exact, and 10^n would overflow.
    if fraction.len() > 20 {
        return Err(UnitError::Inexact { text: trimmed.into(), unit: kind.smallest });
    }
    let digits = format!("{}{fraction}", whole.trim_start_matches('0'));
    let mantissa: u128 = if digits.is_empty() { 0 } else { digits.parse().map_err(|_| too_large())? };
    let scaled = mantissa.checked_mul(u128::from(factor)).ok_or_else(too_large)?;
    let scale = 10u128.pow(u32::try_from(fraction.len()).unwrap_or(u32::MAX));
    if !scaled.is_multiple_of(scale) {
        return Err(UnitError::Inexact { text: trimmed.into(), unit: kind.smallest });
    }
    match u64::try_from(scaled / scale) {
        Ok(0) => Err(UnitError::Zero { text: trimmed.into(), what: kind.what }),
        Ok(value) if value <= kind.max => Ok(value),
        _ => Err(too_large()),
    }
}

fn show(value: u64, units: &[(&str, u64)], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (unit, factor) = units
        .iter()
        .find(|(_, factor)| value >= *factor && value.is_multiple_of(*factor))
        .unwrap_or(&units[units.len() - 1]);
    write!(f, "{}{unit}", value / factor)
}

impl FromStr for Millis {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse(text, &TIME, None).map(Millis)
    }
}

impl FromStr for Size {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse(text, &BYTES, Some(1)).map(Size)
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(self.0, &TIME_UNITS, f)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(self.0, &SIZE_UNITS, f)
    }
}

/// Reads text, and numbers by their text, so that a bare `30` gets the same words as `"30"`.
struct UnitVisitor<T>(std::marker::PhantomData<T>, &'static Kind);

impl<T: FromStr<Err = UnitError>> Visitor<'_> for UnitVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a {} such as {}", self.1.what, self.1.example)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        number.to_string().parse().map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        number.to_string().parse().map_err(E::custom)
    }
}

macro_rules! as_text {
    ($type:ident, $kind:ident, $schema:tt) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(UnitVisitor(std::marker::PhantomData, &$kind))
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!($schema)
            }
        }
    };
}

as_text!(Millis, TIME, {
    "description": "A duration: 200ms, 30s, 5m, 1h",
    "type": "string",
    "pattern": "^[0-9]+(\\.[0-9]+)?(ms|s|m|h)$"
});
as_text!(Size, BYTES, {
    "description": "A size: 512B, 64KiB, 256MiB, 2GiB, 8MB, or a number of bytes",
    "anyOf": [
        {"type": "string", "pattern": "^[0-9]+(\\.[0-9]+)?([KMGT]i?B|B)?$"},
        {"type": "integer", "minimum": 1}
    ]
});
