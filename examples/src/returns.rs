//! Return, volatility and drawdown of a price series. It calculates only what it understands: a unit, an order or a
//! frequency that is not clear is refused, never guessed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolcell_tool::ToolError;

use crate::date::Date;

const MIN_POINTS: usize = 3;
const UNITS: [&str; 2] = ["price", "index_level"];

/// A series and how to read it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReturnsQuery {
    /// The observations, by strictly ascending date, at least three.
    #[schemars(length(max = 20000))]
    pub prices: Vec<Price>,
    /// What `close` is: `price` (money for one unit) or `index_level` (points). Returns, percentages and yields are refused.
    #[schemars(length(min = 1, max = 32))]
    pub unit: String,
    /// How many observations a year has: 252 for trading days, 52 for weeks, 12 for months.
    #[schemars(range(min = 1, max = 366))]
    pub periods_per_year: f64,
    /// When given, an observation before this day is refused instead of being counted.
    pub from: Option<Date>,
    /// When given, an observation after this day is refused instead of being counted.
    pub to: Option<Date>,
}

/// One observation.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct Price {
    /// The day.
    pub date: Date,
    /// The price or index level at the close of the day; above zero.
    pub close: f64,
}

/// The figures. All fractions (0.05 is five per cent), rounded to ten decimals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    /// How many observations were used.
    pub points: usize,
    /// The first day.
    pub first_date: Date,
    /// The last day.
    pub last_date: Date,
    /// Last price over first price, minus one.
    pub total_return: f64,
    /// Sample standard deviation (n - 1) of the logarithmic returns, times the square root of `periods_per_year`.
    pub annualised_volatility: f64,
    /// The deepest fall from an earlier peak.
    pub max_drawdown: Drawdown,
}

/// A fall from a peak.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct Drawdown {
    /// Trough over peak, minus one: zero or negative.
    pub fraction: f64,
    /// The day of the peak; null when the series never falls.
    pub peak_date: Option<Date>,
    /// The day of the trough; null when the series never falls.
    pub trough_date: Option<Date>,
}

/// Why a series is refused. Each is for the caller to mend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Refusal {
    /// The unit is none of the two that are understood.
    UnclearUnit,
    /// Fewer than three observations.
    TooFewPoints(usize),
    /// The observation at this index is not later than the one before.
    NotAscending(usize),
    /// The observation at this index is not above zero.
    NotPositive(usize),
    /// The observation at this index lies outside `from` and `to`.
    OutsideRange(usize),
    /// The dates imply this number of periods a year, not the one that was given.
    UnclearFrequency(f64),
}

/// Calculates the figures.
///
/// # Errors
/// [`Refusal`] when the request is not clear enough to calculate on.
pub fn figures(query: &ReturnsQuery) -> Result<Figures, Refusal> {
    check(query)?;
    let prices = &query.prices;
    let (first, last) = (&prices[0], &prices[prices.len() - 1]);
    let logs: Vec<f64> = prices.windows(2).map(|pair| (pair[1].close / pair[0].close).ln()).collect();
    let count = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / count;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (count - 1.0);
    Ok(Figures {
        points: prices.len(),
        first_date: first.date,
        last_date: last.date,
        total_return: round(last.close / first.close - 1.0),
        annualised_volatility: round((variance * query.periods_per_year).sqrt()),
        max_drawdown: drawdown(prices),
    })
}

fn check(query: &ReturnsQuery) -> Result<(), Refusal> {
    let prices = &query.prices;
    if !UNITS.contains(&query.unit.as_str()) {
        return Err(Refusal::UnclearUnit);
    }
    if prices.len() < MIN_POINTS {
        return Err(Refusal::TooFewPoints(prices.len()));
    }
    for (at, price) in prices.iter().enumerate() {
        if at > 0 && prices[at - 1].date >= price.date {
            return Err(Refusal::NotAscending(at));
        }
        if price.close <= 0.0 {
            return Err(Refusal::NotPositive(at));
        }
        if query.from.is_some_and(|from| price.date < from) || query.to.is_some_and(|to| price.date > to) {
            return Err(Refusal::OutsideRange(at));
        }
    }
    let days = prices[prices.len() - 1].date.epoch_day() - prices[0].date.epoch_day();
    let implied = 365.25 * (prices.len() - 1) as f64 / days as f64;
    let ratio = query.periods_per_year / implied;
    if (0.5..=2.0).contains(&ratio) { Ok(()) } else { Err(Refusal::UnclearFrequency(implied)) }
}

fn drawdown(prices: &[Price]) -> Drawdown {
    let mut peak = &prices[0];
    let mut deepest = Drawdown { fraction: 0.0, peak_date: None, trough_date: None };
    for price in prices {
        if price.close > peak.close {
            peak = price;
        }
        let fraction = price.close / peak.close - 1.0;
        if fraction < deepest.fraction {
            deepest = Drawdown { fraction, peak_date: Some(peak.date), trough_date: Some(price.date) };
        }
    }
    Drawdown { fraction: round(deepest.fraction), ..deepest }
}

/// Ten decimals, so that a last bit that differs between mathematical libraries does not show.
fn round(value: f64) -> f64 {
    (value * 1e10).round() / 1e10
}

impl From<Refusal> for ToolError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::UnclearUnit => ToolError::call_error(
                "the unit must be `price` or `index_level`: returns, percentages and yields mean something else",
            )
            .reason("unclear_unit")
            .detail("allowed", UNITS),
            Refusal::TooFewPoints(points) => {
                ToolError::call_error(format!("{points} observations; at least {MIN_POINTS} are needed"))
                    .reason("too_few_points")
            }
            Refusal::NotAscending(at) => refused_at(at, "not_ascending", "is not later than the one before"),
            Refusal::NotPositive(at) => refused_at(at, "not_positive", "is not above zero"),
            Refusal::OutsideRange(at) => refused_at(at, "outside_range", "lies outside `from` and `to`"),
            Refusal::UnclearFrequency(implied) => {
                let implied = round(implied);
                ToolError::call_error(format!(
                    "the dates have about {implied:.1} observations a year, which does not fit `periods_per_year`"
                ))
                .reason("unclear_frequency")
                .detail("implied_periods_per_year", implied)
            }
        }
    }
}

fn refused_at(at: usize, reason: &'static str, what: &str) -> ToolError {
    ToolError::call_error(format!("the observation prices[{at}] {what}")).reason(reason).detail("index", at)
}

#[cfg(test)]
#[path = "returns_tests.rs"]
mod tests;
