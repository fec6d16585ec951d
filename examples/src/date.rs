//! Calendar dates as the examples need them: written `YYYY-MM-DD`, compared, counted in days.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A day of the Gregorian calendar between 0001-01-01 and 9999-12-31.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// Reads `YYYY-MM-DD`; `None` when the text is anything else or names no day of the calendar.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let shape = bytes.len() == 10
            && bytes.iter().enumerate().all(|(at, byte)| match at {
                4 | 7 => *byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        if !shape {
            return None;
        }
        let date =
            Self { year: text[0..4].parse().ok()?, month: text[5..7].parse().ok()?, day: text[8..10].parse().ok()? };
        (date.year > 0 && (1..=12).contains(&date.month) && (1..=date.month_length()).contains(&date.day))
            .then_some(date)
    }

    fn month_length(self) -> u8 {
        let leap = self.year.is_multiple_of(4) && (!self.year.is_multiple_of(100) || self.year.is_multiple_of(400));
        match self.month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }

    /// Days since 1970-01-01, negative before it.
    #[must_use]
    pub fn epoch_day(self) -> i64 {
        // Years are counted from March, so that the leap day is the last day of its year.
        let month = i64::from(self.month);
        let year = i64::from(self.year) - i64::from(month <= 2);
        let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + i64::from(self.day) - 1;
        year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - 719_468
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("{text:?} is not a date (YYYY-MM-DD)")))
    }
}

impl JsonSchema for Date {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Date".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", "maxLength": 10})
    }
}

#[cfg(test)]
mod tests {
    use super::Date;

    #[test]
    fn reads_only_days_that_exist() {
        for good in ["2000-02-29", "2024-02-29", "1999-12-31", "0001-01-01"] {
            assert_eq!(Date::parse(good).unwrap().to_string(), good);
        }
        let bad = [
            "1900-02-29",
            "2023-02-29",
            "2023-13-01",
            "2023-00-10",
            "2023-04-31",
            "0000-01-01",
            "2023-1-01",
            "+023-01-01",
            "20é3-01-1",
            "",
        ];
        for text in bad {
            assert_eq!(Date::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn counts_days() {
        for (text, day) in [("1970-01-01", 0), ("1969-12-31", -1), ("2000-03-01", 11_017), ("1993-01-22", 8_422)] {
            assert_eq!(Date::parse(text).unwrap().epoch_day(), day, "{text}");
        }
    }
}
