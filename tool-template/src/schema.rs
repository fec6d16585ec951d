//! JSON Schemas (2020-12) of Rust types, so that a test can hold capability.json against the code.
//!
//! ```
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Input { city: String }
//!
//! let schema = toolcell_tool::schema::input_of::<Input>();
//! assert_eq!(schema["properties"]["city"]["type"], "string");
//! ```
//!
//! A tool that does not want its own dependency on serde and schemars derives with
//! `#[serde(crate = "toolcell_tool::serde")]` and `#[schemars(crate = "toolcell_tool::schemars")]`.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// The schema of what `T` reads; the same as [`input_of`].
#[must_use]
pub fn of<T: JsonSchema>() -> Value {
    input_of::<T>()
}

/// The schema of what `I` reads: a field with a default is optional.
#[must_use]
pub fn input_of<I: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().for_deserialize().into_generator().into_root_schema_for::<I>().to_value()
}

/// The schema of what `O` writes: a field with a default is always there.
#[must_use]
pub fn output_of<O: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<O>().to_value()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Page {
        city: String,
        #[serde(default)]
        limit: u32,
    }

    #[test]
    fn reading_and_writing_differ_in_what_is_required() {
        assert_eq!(input_of::<Page>()["required"], serde_json::json!(["city"]));
        assert_eq!(output_of::<Page>()["required"], serde_json::json!(["city", "limit"]));
        assert_eq!(of::<Page>(), input_of::<Page>());
    }

    #[test]
    fn the_dialect_is_2020_12() {
        assert_eq!(of::<Page>()["$schema"], "https://json-schema.org/draft/2020-12/schema");
    }
}
