//! The schemas in each capability.json of a Rust tool are those of its types. The three wrapped programs (`grep_lines`,
//! `json_query`, `sql_query`) have no types of ours; their cases hold their schemas to what the programs do.

use std::fs;

use serde_json::Value;
use toolcell_examples::{fund, prices, returns};
use toolcell_tool::schema;

/// A schema without the two members that say where it came from and nothing about values.
fn bare(mut schema: Value) -> Value {
    if let Some(members) = schema.as_object_mut() {
        members.remove("$schema");
        members.remove("title");
    }
    schema
}

fn assert_schemas(id: &str, input: Value, output: Value) {
    let path = format!("{}/capabilities/{id}/capability.json", env!("CARGO_MANIFEST_DIR"));
    let contract: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    for (side, types) in [("input_schema", bare(input)), ("output_schema", bare(output))] {
        let written = bare(contract[side].clone());
        let wanted = serde_json::to_string_pretty(&types).unwrap();
        assert!(written == types, "{id}: {side} differs from the types, which give:\n{wanted}");
    }
}

#[test]
fn fund_profile_a() {
    assert_schemas("fund_profile_a", schema::input_of::<fund::QueryA>(), schema::output_of::<fund::ProfileA>());
}

#[test]
fn fund_profile_offline_is_the_same_tool() {
    assert_schemas("fund_profile_offline", schema::input_of::<fund::QueryA>(), schema::output_of::<fund::ProfileA>());
}

#[test]
fn fund_profile_b() {
    assert_schemas("fund_profile_b", schema::input_of::<fund::QueryB>(), schema::output_of::<fund::ProfileB>());
}

#[test]
fn price_history() {
    assert_schemas("price_history", schema::input_of::<prices::RangeQuery>(), schema::output_of::<prices::Rows>());
}

#[test]
fn returns_drawdown() {
    assert_schemas(
        "returns_drawdown",
        schema::input_of::<returns::ReturnsQuery>(),
        schema::output_of::<returns::Figures>(),
    );
}
