//! Text that may hold bytes that are not UTF-8: a JSON string, or `{"b64": "..."}`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::de::{self, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// Bytes as the kernel takes them (an argument, a path, an environment value).
///
/// In JSON: a string when the bytes are UTF-8, else `{"b64": "<standard base64>"}`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Text(Vec<u8>);

impl Text {
    /// The bytes, without a terminating NUL.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// As the standard library's string of the platform.
    pub fn as_os(&self) -> &OsStr {
        OsStr::from_bytes(&self.0)
    }

    /// As a path.
    pub fn as_path(&self) -> &Path {
        Path::new(self.as_os())
    }

    /// For messages: invalid bytes are shown as U+FFFD.
    pub fn lossy(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(text.into_bytes())
    }
}

impl From<OsString> for Text {
    fn from(text: OsString) -> Self {
        Self(text.into_vec())
    }
}

impl From<&Path> for Text {
    fn from(path: &Path) -> Self {
        Self(path.as_os_str().as_bytes().to_vec())
    }
}

impl From<Vec<u8>> for Text {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.lossy())
    }
}

impl std::fmt::Display for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.lossy())
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("b64", &STANDARD.encode(&self.0))?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a string or {\"b64\": \"...\"}")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Text, E> {
        Ok(Text::from(text))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Text, A::Error> {
        let Some((key, value)) = map.next_entry::<String, String>()? else {
            return Err(de::Error::missing_field("b64"));
        };
        if key != "b64" || map.next_key::<String>()?.is_some() {
            return Err(de::Error::custom("the only key of encoded text is `b64`"));
        }
        STANDARD.decode(value).map(Text).map_err(de::Error::custom)
    }
}

impl JsonSchema for Text {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Text".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A string, or {\"b64\": ...} when the bytes are not UTF-8",
            "anyOf": [
                {"type": "string"},
                {"type": "object", "properties": {"b64": {"type": "string"}},
                 "required": ["b64"], "additionalProperties": false}
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_not_utf8_survive_a_round_trip() {
        for bytes in [&b"plain"[..], b"\xff\xfe/x", b""] {
            let text = Text::from(bytes.to_vec());
            let json = serde_json::to_string(&text).unwrap();
            assert_eq!(serde_json::from_str::<Text>(&json).unwrap(), text);
        }
        assert_eq!(serde_json::to_string(&Text::from(b"\xff".to_vec())).unwrap(), r#"{"b64":"/w=="}"#);
    }

    #[test]
    fn a_second_key_beside_b64_is_refused() {
        assert!(serde_json::from_str::<Text>(r#"{"b64":"/w==","x":"y"}"#).is_err());
        assert!(serde_json::from_str::<Text>(r#"{"x":"/w=="}"#).is_err());
    }
}
