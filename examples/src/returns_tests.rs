//! Tests of the figures and the refusals.

use super::*;

#[derive(Deserialize)]
struct Fixture {
    input: ReturnsQuery,
    expected: Figures,
}

fn series(closes: &[f64]) -> ReturnsQuery {
    let day = |at: usize| Date::parse(&format!("2020-01-{:02}", at + 1)).unwrap();
    ReturnsQuery {
        prices: closes.iter().enumerate().map(|(at, close)| Price { date: day(at), close: *close }).collect(),
        unit: "price".to_owned(),
        periods_per_year: 252.0,
        from: None,
        to: None,
    }
}

#[test]
fn agrees_with_an_independent_computation() {
    let fixture: Fixture = serde_json::from_str(include_str!("../tests/fixtures/returns-wti-2008.json")).unwrap();
    assert!(fixture.input.prices.len() > 200);
    let (ours, theirs) = (figures(&fixture.input).unwrap(), fixture.expected);
    assert!((ours.total_return - theirs.total_return).abs() < 1e-9);
    assert!((ours.annualised_volatility - theirs.annualised_volatility).abs() < 1e-9);
    assert!((ours.max_drawdown.fraction - theirs.max_drawdown.fraction).abs() < 1e-9);
    assert_eq!(ours.max_drawdown.peak_date, theirs.max_drawdown.peak_date);
    assert_eq!(ours.max_drawdown.trough_date, theirs.max_drawdown.trough_date);
    assert_eq!((ours.points, ours.first_date, ours.last_date), (theirs.points, theirs.first_date, theirs.last_date));
}

#[test]
fn a_series_that_never_falls_has_no_drawdown() {
    let figures = figures(&series(&[100.0, 100.0, 110.0])).unwrap();
    assert_eq!(figures.max_drawdown, Drawdown { fraction: 0.0, peak_date: None, trough_date: None });
    assert_eq!(figures.total_return, 0.1);
}

#[test]
fn the_deepest_fall_counts_not_the_last() {
    let drawdown = figures(&series(&[100.0, 50.0, 200.0, 150.0])).unwrap().max_drawdown;
    assert_eq!(drawdown.fraction, -0.5);
    assert_eq!(drawdown.trough_date, Date::parse("2020-01-02"));
}

#[test]
fn refuses_what_is_not_clear() {
    let refused = |change: &dyn Fn(&mut ReturnsQuery)| {
        let mut query = series(&[100.0, 101.0, 99.0]);
        change(&mut query);
        figures(&query).unwrap_err()
    };
    assert_eq!(refused(&|query| query.unit = "percent".to_owned()), Refusal::UnclearUnit);
    assert_eq!(refused(&|query| query.prices.truncate(2)), Refusal::TooFewPoints(2));
    assert_eq!(refused(&|query| query.prices.swap(0, 1)), Refusal::NotAscending(1));
    assert_eq!(refused(&|query| query.prices[2].date = query.prices[1].date), Refusal::NotAscending(2));
    assert_eq!(refused(&|query| query.prices[1].close = 0.0), Refusal::NotPositive(1));
    assert_eq!(refused(&|query| query.prices[1].close = -36.98), Refusal::NotPositive(1));
    assert_eq!(refused(&|query| query.from = Date::parse("2020-01-02")), Refusal::OutsideRange(0));
    assert_eq!(refused(&|query| query.to = Date::parse("2020-01-02")), Refusal::OutsideRange(2));
    assert!(matches!(refused(&|query| query.periods_per_year = 12.0), Refusal::UnclearFrequency(_)));
}
