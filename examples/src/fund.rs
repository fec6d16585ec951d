//! Two suppliers of the same public fact sheet. They answer the same question ("what is this fund?") with different
//! parameters, different structures and different coverage, and nothing here unifies them: that is the caller's work.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolcell_tool::ToolError;

use crate::date::Date;

/// What supplier A is asked.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueryA {
    /// Ticker of the fund in capital letters, without an exchange suffix, for example SPY.
    #[schemars(regex(pattern = "^[A-Z]{1,5}$"), length(max = 5))]
    pub code: String,
}

/// What supplier A answers: one flat row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileA {
    /// Ticker.
    pub code: String,
    /// Name of the fund.
    pub name: String,
    /// The firm that issues or markets the fund.
    pub issuer: String,
    /// The index that the fund tracks; null when the supplier has none on file, and then the answer is partial.
    pub index: Option<String>,
    /// The day on which the fund began, as YYYY-MM-DD.
    pub inception: Date,
    /// Name of the exchange on which the fund is listed.
    pub exchange: String,
    /// What the fund holds.
    pub asset_class: AssetClass,
}

/// What a fund holds, in supplier A's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
#[allow(missing_docs)]
pub enum AssetClass {
    Equity,
    FixedIncome,
    Commodity,
}

/// Why supplier A has no full answer.
#[derive(Debug, PartialEq, Eq)]
pub enum MissA {
    /// The fund is not in A's table.
    NoCoverage {
        /// What was asked for.
        code: String,
        /// How many funds the table has.
        covered: usize,
    },
    /// The fund is there, a fact about it is not.
    Partial(Box<ProfileA>),
}

/// Looks a fund up in supplier A's table.
///
/// # Errors
/// [`MissA`] when the fund, or one of its facts, is not in the table.
pub fn find_a(table: &[ProfileA], query: &QueryA) -> Result<ProfileA, MissA> {
    let row = table
        .iter()
        .find(|row| row.code == query.code)
        .ok_or_else(|| MissA::NoCoverage { code: query.code.clone(), covered: table.len() })?;
    if row.index.is_none() { Err(MissA::Partial(Box::new(row.clone()))) } else { Ok(row.clone()) }
}

impl From<MissA> for ToolError {
    fn from(miss: MissA) -> Self {
        match miss {
            MissA::NoCoverage { code, covered } => {
                ToolError::data_limitation(format!("supplier A does not cover the fund {code}"))
                    .reason("no_coverage")
                    .detail("code", code)
                    .detail("covered_funds", covered)
            }
            MissA::Partial(row) => {
                ToolError::data_limitation(format!("supplier A has no index on file for the fund {}", row.code))
                    .reason("partial_data")
                    .detail("missing", ["index"])
                    .partial(row)
            }
        }
    }
}

/// What supplier B is asked.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueryB {
    /// The listing market: ARCX (NYSE Arca) or XNAS (Nasdaq), ISO 10383 codes.
    pub market: Market,
    /// Ticker of the fund on that market in capital letters, for example SPY.
    #[schemars(regex(pattern = "^[A-Z]{1,5}$"), length(max = 5))]
    pub code: String,
}

/// A market of supplier B, by its ISO 10383 code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(inline)]
#[allow(missing_docs)]
pub enum Market {
    Arcx,
    Xnas,
}

impl Market {
    fn mic(self) -> &'static str {
        match self {
            Market::Arcx => "ARCX",
            Market::Xnas => "XNAS",
        }
    }
}

/// What supplier B answers: nested, with its own names and codes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ProfileB {
    /// Where and under which symbol the fund is listed.
    pub instrument: Instrument,
    /// The fund itself.
    pub fund: FundB,
}

/// The listing of a fund.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, inline)]
pub struct Instrument {
    /// Ticker on the market.
    pub symbol: String,
    /// ISO 10383 code of the market.
    pub mic: Market,
}

/// The facts about a fund, as supplier B keeps them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct FundB {
    /// Full name of the fund.
    pub long_name: String,
    /// The firm that issues or markets the fund.
    pub sponsor: String,
    /// EQ equities, FI fixed income, CO commodity, RE real estate.
    pub class: ClassB,
    /// Days from 1970-01-01 to the day on which the fund began.
    pub launched_epoch_day: i64,
    /// What the fund follows.
    pub benchmark: Benchmark,
}

/// What a fund holds, in supplier B's codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(inline)]
#[allow(missing_docs)]
pub enum ClassB {
    Eq,
    Fi,
    Co,
    Re,
}

/// What a fund follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct Benchmark {
    /// An index, or the price of what the fund holds.
    pub kind: BenchmarkKind,
    /// Name of the index or of the price.
    pub name: String,
}

/// The kind of thing that a fund follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
#[allow(missing_docs)]
pub enum BenchmarkKind {
    Index,
    SpotPrice,
}

/// Supplier B's table: market, then ticker.
pub type TableB = BTreeMap<Market, BTreeMap<String, FundB>>;

/// Why supplier B has no answer.
#[derive(Debug, PartialEq, Eq)]
pub enum MissB {
    /// No market of B has the fund.
    NoCoverage(String),
    /// The fund is listed on another market than the one that was named.
    OtherMarket(String, Market),
}

/// Looks a fund up in supplier B's table.
///
/// # Errors
/// [`MissB`] when the fund is not there, or not on that market.
pub fn find_b(table: &TableB, query: QueryB) -> Result<ProfileB, MissB> {
    if let Some(fund) = table.get(&query.market).and_then(|funds| funds.get(&query.code)) {
        let instrument = Instrument { symbol: query.code, mic: query.market };
        return Ok(ProfileB { instrument, fund: fund.clone() });
    }
    match table.iter().find(|(_, funds)| funds.contains_key(&query.code)) {
        Some((market, _)) => Err(MissB::OtherMarket(query.code, *market)),
        None => Err(MissB::NoCoverage(query.code)),
    }
}

impl From<MissB> for ToolError {
    fn from(miss: MissB) -> Self {
        match miss {
            MissB::NoCoverage(code) => ToolError::data_limitation(format!("supplier B does not cover the fund {code}"))
                .reason("no_coverage")
                .detail("code", code),
            MissB::OtherMarket(code, market) => {
                ToolError::call_error(format!("{code} is listed on {}, not on the market that was named", market.mic()))
                    .reason("wrong_market")
                    .detail("listed_on", market.mic())
            }
        }
    }
}

#[cfg(test)]
#[path = "fund_tests.rs"]
mod tests;
