//! Numbers and strings.

use super::scan::{Next, Scanner};
use super::{JsonError, JsonErrorKind as Kind};
use std::borrow::Cow;

impl<'a> Scanner<'a> {
    pub(super) fn number(&mut self) -> Result<Next, JsonError> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let zero = self.peek() == Some(b'0');
        let digits = self.digits()?;
        if zero && digits > 1 {
            self.at -= digits - 1;
            return Err(JsonError::new(
                self.at,
                Kind::Syntax,
                format!("a digit after a leading 0 at byte {}", self.at),
            ));
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(Next::After)
    }

    fn digits(&mut self) -> Result<usize, JsonError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.unexpected("a digit")) } else { Ok(self.at - start) }
    }

    /// Reads a string; its decoded text.
    pub(super) fn string(&mut self) -> Result<Cow<'a, str>, JsonError> {
        self.at += 1;
        let mut start = self.at;
        let mut decoded: Option<String> = None;
        loop {
            let plain = self.rest().bytes().position(|b| b == b'"' || b == b'\\' || b < 0x20);
            self.at = plain.map_or(self.end, |n| self.at + n);
            match self.peek() {
                None => return Err(self.truncated("inside a string")),
                Some(b'"') => {
                    let tail = &self.text[start..self.at];
                    self.at += 1;
                    return Ok(match decoded {
                        None => Cow::Borrowed(tail),
                        Some(text) => Cow::Owned(text + tail),
                    });
                }
                Some(b'\\') => {
                    let text = decoded.get_or_insert_default();
                    text.push_str(&self.text[start..self.at]);
                    let escaped = self.escape()?;
                    text.push(escaped);
                    start = self.at;
                }
                Some(control) => {
                    let at = self.at;
                    let message = format!("control character 0x{control:02x} in a string at byte {at}");
                    return Err(
                        JsonError::new(at, Kind::ControlCharacter, message).hint(format!("write \\u{control:04x}"))
                    );
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let start = self.at;
        self.at += 1;
        let Some(letter) = self.peek() else { return Err(self.truncated("inside a string")) };
        let plain = match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(start),
            _ => {
                let message = format!("unknown escape at byte {start}");
                return Err(JsonError::new(start, Kind::Syntax, message).hint("write a backslash as \\\\"));
            }
        };
        self.at += 1;
        Ok(plain)
    }

    fn unicode(&mut self, start: usize) -> Result<char, JsonError> {
        let lone = || {
            JsonError::new(start, Kind::LoneSurrogate, format!("lone surrogate at byte {start}"))
                .hint("an escaped surrogate needs its other half")
        };
        self.at += 1;
        let high = self.hex()?;
        if !(0xd800..0xe000).contains(&high) {
            return char::from_u32(high).ok_or_else(lone);
        }
        if high >= 0xdc00 || !self.rest().starts_with("\\u") {
            return Err(lone());
        }
        self.at += 2;
        let low = self.hex()?;
        if !(0xdc00..0xe000).contains(&low) {
            return Err(lone());
        }
        char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)).ok_or_else(lone)
    }

    fn hex(&mut self) -> Result<u32, JsonError> {
        let mut code = 0;
        for _ in 0..4 {
            let Some(digit) = self.peek() else { return Err(self.truncated("inside a string")) };
            let Some(digit) = char::from(digit).to_digit(16) else {
                return Err(self.unexpected("a hexadecimal digit"));
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }
}
