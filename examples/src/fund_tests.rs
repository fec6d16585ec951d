//! Tests of the two fund tables and their look-ups.

use std::collections::BTreeSet;

use super::*;
use crate::feed::read_json;

fn table_a() -> Vec<ProfileA> {
    read_json(Some(concat!(env!("CARGO_MANIFEST_DIR"), "/capabilities/fund_profile_a/funds.json").into())).unwrap()
}

fn table_b() -> TableB {
    read_json(Some(concat!(env!("CARGO_MANIFEST_DIR"), "/capabilities/fund_profile_b/markets.json").into())).unwrap()
}

fn ask_a(code: &str) -> Result<ProfileA, MissA> {
    find_a(&table_a(), &QueryA { code: code.to_owned() })
}

fn ask_b(market: Market, code: &str) -> Result<ProfileB, MissB> {
    find_b(&table_b(), QueryB { market, code: code.to_owned() })
}

#[test]
fn a_finds_misses_and_half_answers() {
    assert_eq!(ask_a("SPY").unwrap().index.as_deref(), Some("S&P 500 Index"));
    assert_eq!(ask_a("ZZZZZ"), Err(MissA::NoCoverage { code: "ZZZZZ".to_owned(), covered: table_a().len() }));
    assert!(matches!(ask_a("GLD"), Err(MissA::Partial(row)) if row.name == "SPDR Gold Shares"));
    let partial = table_a().into_iter().filter(|row| row.index.is_none()).count();
    assert_eq!(partial, 1, "one odd product");
}

#[test]
fn b_wants_the_right_market() {
    assert_eq!(ask_b(Market::Arcx, "SPY").unwrap().fund.class, ClassB::Eq);
    assert_eq!(ask_b(Market::Arcx, "QQQ"), Err(MissB::OtherMarket("QQQ".to_owned(), Market::Xnas)));
    assert_eq!(ask_b(Market::Xnas, "ZZZZZ"), Err(MissB::NoCoverage("ZZZZZ".to_owned())));
}

#[test]
fn the_tables_agree_where_both_cover_a_fund_and_each_has_funds_of_its_own() {
    let b: BTreeMap<_, _> = table_b()
        .into_iter()
        .flat_map(|(market, funds)| funds.into_iter().map(move |(code, fund)| (code, (market, fund))))
        .collect();
    let a = table_a();
    let codes: BTreeSet<_> = a.iter().map(|row| &row.code).collect();
    assert_eq!(codes.len(), a.len(), "a code twice in A");
    assert!(b.keys().any(|code| !codes.contains(code)), "B has nothing of its own");
    assert!(a.iter().any(|row| !b.contains_key(&row.code)), "A has nothing of its own");
    for row in &a {
        let Some((market, fund)) = b.get(&row.code) else { continue };
        assert_eq!(row.name, fund.long_name);
        assert_eq!(row.inception.epoch_day(), fund.launched_epoch_day, "{}", row.code);
        assert_eq!(row.exchange == "Nasdaq", *market == Market::Xnas, "{}", row.code);
        if let Some(index) = &row.index {
            assert_eq!(index, &fund.benchmark.name);
        }
    }
}
