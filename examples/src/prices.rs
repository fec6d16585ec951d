//! A daily price series out of a file of `date,price` lines, by range.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolcell_tool::ToolError;

use crate::date::Date;
use crate::feed::FeedError;

const DEFAULT_LIMIT: usize = 500;

/// Which part of the series is wanted.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RangeQuery {
    /// First day wanted, as YYYY-MM-DD, inclusive.
    pub from: Date,
    /// Last day wanted, as YYYY-MM-DD, inclusive; not before `from`.
    pub to: Date,
    /// At most this many rows, the earliest ones; 500 when absent.
    #[schemars(range(min = 1, max = 10000))]
    pub limit: Option<u32>,
}

/// One day.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, inline)]
pub struct Row {
    /// The trading day.
    pub date: Date,
    /// The price at the close.
    pub close: f64,
}

/// The rows of a range, with everything that is needed to read them rightly.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Rows {
    /// What is priced.
    pub series: String,
    /// The unit of `close`.
    pub unit: String,
    /// How many trading days of the range the series has.
    pub matched: usize,
    /// True when `limit` cut the rows off: `matched` is then larger than the number of rows.
    pub truncated: bool,
    /// The rows, by ascending date. Days without trading have none.
    pub rows: Vec<Row>,
}

/// A whole series, by ascending date, never empty.
#[derive(Debug)]
pub struct Series {
    rows: Vec<Row>,
}

/// Why a range has no full answer.
#[derive(Debug, PartialEq)]
pub enum RangeError {
    /// The range ends before it begins.
    Reversed,
    /// No day of the range is in the series, which covers these two days and what is between them.
    Outside(Date, Date),
    /// A part of the range is before or after the series.
    Partial(Box<Rows>, Date, Date),
}

impl Series {
    /// Reads lines `YYYY-MM-DD,price` below one header line.
    ///
    /// # Errors
    /// [`FeedError::Broken`] at the first line that is no such line or not later than the one before, or when there is none.
    pub fn parse(text: &str) -> Result<Self, FeedError> {
        let mut rows: Vec<Row> = Vec::new();
        for (number, line) in text.lines().enumerate().skip(1) {
            let row = parse_line(line)
                .filter(|row| rows.last().is_none_or(|last| last.date < row.date))
                .ok_or_else(|| FeedError::Broken(format!("line {} is not a later day's price", number + 1)))?;
            rows.push(row);
        }
        if rows.is_empty() { Err(FeedError::Broken("no prices".to_owned())) } else { Ok(Self { rows }) }
    }

    /// The rows of a range.
    ///
    /// # Errors
    /// [`RangeError`] when the range is reversed, or not wholly between the first and the last day of the series.
    pub fn range(&self, query: &RangeQuery) -> Result<Rows, RangeError> {
        if query.from > query.to {
            return Err(RangeError::Reversed);
        }
        let (first, last) = (self.rows[0].date, self.rows[self.rows.len() - 1].date);
        let begin = self.rows.partition_point(|row| row.date < query.from);
        let end = self.rows.partition_point(|row| row.date <= query.to);
        let found = &self.rows[begin..end];
        if query.to < first || query.from > last {
            return Err(RangeError::Outside(first, last));
        }
        let limit = query.limit.map_or(DEFAULT_LIMIT, |limit| limit as usize);
        let rows = Rows {
            series: "WTI crude oil, spot price at Cushing, Oklahoma, daily".to_owned(),
            unit: "USD per barrel".to_owned(),
            matched: found.len(),
            truncated: found.len() > limit,
            rows: found.iter().take(limit).cloned().collect(),
        };
        let whole = first <= query.from && query.to <= last;
        if whole { Ok(rows) } else { Err(RangeError::Partial(Box::new(rows), first, last)) }
    }
}

fn parse_line(line: &str) -> Option<Row> {
    let (date, close) = line.split_once(',')?;
    let close: f64 = close.parse().ok()?;
    close.is_finite().then_some(Row { date: Date::parse(date)?, close })
}

impl From<RangeError> for ToolError {
    fn from(error: RangeError) -> Self {
        match error {
            RangeError::Reversed => {
                ToolError::call_error("`from` is later than `to`: swap them").reason("range_reversed")
            }
            RangeError::Outside(first, last) => ToolError::data_limitation(format!(
                "the series covers {first} to {last}; nothing of the range is in it"
            ))
            .reason("out_of_range")
            .detail("covered_from", first.to_string())
            .detail("covered_to", last.to_string()),
            RangeError::Partial(rows, first, last) => {
                ToolError::data_limitation(format!("the series covers {first} to {last}, only a part of the range"))
                    .reason("partial_range")
                    .detail("covered_from", first.to_string())
                    .detail("covered_to", last.to_string())
                    .partial(rows)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "date,close\n2020-01-02,10\n2020-01-03,11.5\n2020-01-06,9.25\n";

    fn ask(from: &str, to: &str, limit: Option<u32>) -> Result<Rows, RangeError> {
        let query = RangeQuery { from: Date::parse(from).unwrap(), to: Date::parse(to).unwrap(), limit };
        Series::parse(TEXT).unwrap().range(&query)
    }

    #[test]
    fn whole_ranges() {
        let rows = ask("2020-01-02", "2020-01-06", None).unwrap();
        assert_eq!((rows.matched, rows.truncated, rows.rows.len()), (3, false, 3));
        let cut = ask("2020-01-02", "2020-01-06", Some(2)).unwrap();
        assert_eq!((cut.matched, cut.truncated, cut.rows.len()), (3, true, 2));
        let weekend = ask("2020-01-04", "2020-01-05", None).unwrap();
        assert_eq!((weekend.matched, weekend.rows.len()), (0, 0));
    }

    #[test]
    fn ranges_with_less_than_was_asked() {
        assert_eq!(ask("2020-01-06", "2020-01-02", None), Err(RangeError::Reversed));
        assert!(matches!(ask("2019-01-01", "2019-12-31", None), Err(RangeError::Outside(..))));
        assert!(matches!(ask("2020-01-07", "2020-12-31", None), Err(RangeError::Outside(..))));
        assert!(
            matches!(ask("2020-01-03", "2020-12-31", None), Err(RangeError::Partial(rows, ..)) if rows.matched == 2)
        );
        assert!(
            matches!(ask("2019-12-31", "2020-01-02", None), Err(RangeError::Partial(rows, ..)) if rows.matched == 1)
        );
    }

    #[test]
    fn files_that_are_no_series() {
        let broken = [
            "",
            "date,close\n",
            "h\n2020-01-02",
            "h\n2020-01-02,x",
            "h\n2020-01-02,NaN",
            "h\n2020-01-03,1\n2020-01-02,1",
            "h\n2020-01-02,1\n2020-01-02,1",
        ];
        for text in broken {
            assert!(matches!(Series::parse(text), Err(FeedError::Broken(_))), "{text:?}");
        }
    }

    #[test]
    fn the_shipped_series_is_whole() {
        let text = include_str!("../capabilities/price_history/wti-daily.csv");
        let series = Series::parse(text).unwrap();
        assert_eq!(series.rows.len(), text.lines().count() - 1);
        assert_eq!(series.rows[0].date.to_string(), "1986-01-02");
    }
}
