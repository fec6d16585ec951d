//! The JSON Schemas (2020-12) of what toolcell prints and reads; docs/schemas holds the same ones.

use crate::call::{self, Call};
use crate::envelope::{self, Envelope};
use crate::event::{self, Event};
use crate::outcome::Outcome;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// Every schema by the name of its file in docs/schemas.
pub fn all() -> Vec<(&'static str, Value)> {
    vec![
        ("envelope", versioned(written::<Envelope>(), envelope::SCHEMA)),
        ("event", versioned(written::<Event>(), event::SCHEMA)),
        ("call", versioned(read::<Call>(), call::SCHEMA)),
        ("outcome", read::<Outcome>()),
        ("capability", read::<crate::capability::Capability>()),
        ("tool", read::<crate::tool::ToolToml>()),
        ("profile", read::<crate::profile::ProfileFile>()),
        ("config", read::<crate::config::ConfigFile>()),
    ]
}

/// The schema of what toolcell writes: every field is there.
fn written<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>().to_value()
}

/// The schema of what toolcell reads: fields with a default may be left out.
fn read<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value()
}

/// With the one value the field `schema` may have.
fn versioned(mut schema: Value, version: &str) -> Value {
    if let Some(field) = schema.pointer_mut("/properties/schema").and_then(Value::as_object_mut) {
        field.insert("const".to_owned(), json!(version));
    }
    schema
}
