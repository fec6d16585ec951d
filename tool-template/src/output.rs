//! From the handler's value to JSON text.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_path_to_error::{Path, Segment};

use crate::ToolError;
use crate::finite::Finite;

/// The JSON text of `value`, or the tool's own failure that names the place which JSON cannot express.
pub(crate) fn to_text<T: Serialize + ?Sized>(value: &T) -> Result<String, ToolError> {
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::new(&mut bytes);
    serde_path_to_error::serialize(value, Finite(&mut serializer)).map_err(|error| {
        let at = pointer(error.path());
        let place = if at.is_empty() { String::new() } else { format!(" at {at}") };
        // For people only, not a detail: serde_path_to_error leaves out the names of enum variants here.
        ToolError::internal(format!("the output{place} cannot be written as JSON: {}", error.inner()))
    })?;
    String::from_utf8(bytes).map_err(|error| ToolError::internal(format!("the output is not UTF-8: {error}")))
}

/// The same as a value that serde_json passes through untouched.
pub(crate) fn to_raw<T: Serialize + ?Sized>(value: &T) -> Result<Box<RawValue>, ToolError> {
    RawValue::from_string(to_text(value)?)
        .map_err(|error| ToolError::internal(format!("the output is not JSON: {error}")))
}

/// The JSON Pointer (RFC 6901) of a place; empty for the whole document.
pub(crate) fn pointer(path: &Path) -> String {
    let mut text = String::new();
    for segment in path {
        let token = match segment {
            Segment::Seq { index } => index.to_string(),
            Segment::Map { key } => key.replace('~', "~0").replace('/', "~1"),
            Segment::Enum { variant } => variant.replace('~', "~0").replace('/', "~1"),
            // Below here the place is not known: stop at what is.
            Segment::Unknown => break,
        };
        text.push('/');
        text.push_str(&token);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(Serialize)]
    enum Shape {
        Unit,
        New(f64),
        Tuple(u8, f64),
        Struct { side: f64 },
    }

    #[derive(Serialize)]
    struct Wrapper(f64);

    #[derive(Serialize)]
    struct Everything<'a> {
        shapes: Vec<Shape>,
        wrapper: Wrapper,
        pair: (i8, Option<f32>),
        map: BTreeMap<&'a str, f64>,
        none: Option<f64>,
        unit: (),
        big: u128,
        raw: &'a RawValue,
        value: serde_json::Value,
    }

    fn everything(raw: &RawValue) -> Everything<'_> {
        Everything {
            shapes: vec![Shape::Unit, Shape::New(1.5), Shape::Tuple(1, 2.5), Shape::Struct { side: 3.5 }],
            wrapper: Wrapper(0.5),
            pair: (-1, Some(0.25)),
            map: BTreeMap::from([("a/b", 1.0)]),
            none: None,
            unit: (),
            big: u128::MAX,
            raw,
            value: serde_json::json!({"n": 18_446_744_073_709_551_615_u64, "f": 1.25, "null": null}),
        }
    }

    #[test]
    fn finite_values_come_out_as_serde_json_writes_them() {
        let raw = RawValue::from_string("[1.00,  2]".to_owned()).unwrap();
        let value = everything(&raw);
        assert_eq!(to_text(&value).unwrap(), serde_json::to_string(&value).unwrap());
    }

    fn refused(change: impl FnOnce(&mut Everything<'_>)) -> String {
        let raw = RawValue::from_string("1".to_owned()).unwrap();
        let mut value = everything(&raw);
        change(&mut value);
        let error = to_text(&value).unwrap_err();
        assert_eq!(error.exit_code(), 70);
        let text = error.to_string();
        assert!(text.contains("not a JSON number"), "{text}");
        let (_, rest) = text.split_once(" at ").unwrap();
        rest.split_once(' ').unwrap().0.to_owned()
    }

    #[test]
    fn a_non_finite_number_is_named_wherever_it_stands() {
        assert_eq!(refused(|v| v.shapes[1] = Shape::New(f64::NAN)), "/shapes/1");
        assert_eq!(refused(|v| v.shapes[2] = Shape::Tuple(1, f64::INFINITY)), "/shapes/2/1");
        assert_eq!(refused(|v| v.shapes[3] = Shape::Struct { side: f64::NAN }), "/shapes/3/side");
        assert_eq!(refused(|v| v.wrapper.0 = f64::NEG_INFINITY), "/wrapper");
        assert_eq!(refused(|v| v.pair.1 = Some(f32::NAN)), "/pair/1");
        assert_eq!(refused(|v| v.map = BTreeMap::from([("a/b", f64::NAN)])), "/map/a~1b");
        assert_eq!(refused(|v| v.none = Some(f64::NAN)), "/none");
    }
}
