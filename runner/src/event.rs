//! EventSink: what a call shows before it is over (`--stream`).
//!
//! An event is provisional. The envelope decides, and comes last: a call may fail after it has shown items, and a
//! further attempt shows its own from the first on.

use crate::json;
use crate::secrets::Secrets;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedSender;

/// The version of the format.
pub const SCHEMA: &str = "toolcell.event/1";

/// Where events go. It cannot grow beyond `limits.stdout`: a call shows no more than it may print.
pub type EventSink = UnboundedSender<Event>;

/// One thing that a call shows while it runs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Event {
    /// `toolcell.event/1`.
    pub schema: &'static str,
    /// The call's id, as in its envelope.
    pub call_id: String,
    /// Which attempt, from 1.
    pub attempt: u32,
    /// What it is.
    pub kind: EventKind,
    /// Which item of the attempt, from 0.
    pub index: u64,
    /// The tool's own JSON, untouched.
    #[schemars(with = "serde_json::Value")]
    pub item: Box<RawValue>,
}

/// The kinds of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// One line of a tool whose standard output is `jsonl`.
    Item,
}

/// Makes an event of each line as soon as it is whole. The first line that is no JSON value, or holds a secret, ends it:
/// the verdict will say so.
pub struct Items {
    events: EventSink,
    call_id: String,
    attempt: u32,
    secrets: Arc<Secrets>,
    /// Up to where lines have been passed on.
    passed: usize,
    /// Up to where the end of a line has been sought.
    sought: usize,
    index: u64,
    over: bool,
}

impl Items {
    /// The items of one attempt.
    pub fn new(events: EventSink, call_id: &str, attempt: u32, secrets: Arc<Secrets>) -> Self {
        let call_id = call_id.to_owned();
        Self { events, call_id, attempt, secrets, passed: 0, sought: 0, index: 0, over: false }
    }

    /// Passes on what has become whole of `text`, which is everything since the start.
    pub fn look(&mut self, text: &[u8]) {
        let Some(end) = text[self.sought..].iter().rposition(|byte| *byte == b'\n') else {
            self.sought = text.len();
            return;
        };
        let end = self.sought + end + 1;
        self.sought = text.len();
        // What may yet become a secret waits for what follows.
        if !self.secrets.may_go_on(&text[..end]) {
            self.pass(text, end);
        }
    }

    /// Passes on the rest; nothing follows it.
    pub fn finish(&mut self, text: &[u8]) {
        self.pass(text, text.len());
    }

    fn pass(&mut self, text: &[u8], end: usize) {
        let before = self.passed.saturating_sub(self.secrets.longest());
        if self.over || self.secrets.found_in(&text[before..]) {
            self.over = true;
            return;
        }
        for line in text[self.passed..end].split(|byte| *byte == b'\n') {
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let sent = json::raw(line).is_ok_and(|item| self.send(item));
            if !sent {
                self.over = true;
                return;
            }
        }
        self.passed = end;
    }

    fn send(&mut self, item: Box<RawValue>) -> bool {
        let (call_id, attempt, index) = (self.call_id.clone(), self.attempt, self.index);
        self.index += 1;
        self.events.send(Event { schema: SCHEMA, call_id, attempt, kind: EventKind::Item, index, item }).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc::unbounded_channel;

    fn shown(secret: Option<&str>, texts: &[&str]) -> Vec<String> {
        let (events, mut received) = unbounded_channel();
        let secrets = Secrets::of(secret.map(|value| ("KEY", value)));
        let mut items = Items::new(events, "id", 1, Arc::new(secrets));
        let mut all = Vec::new();
        for text in texts {
            all.extend_from_slice(text.as_bytes());
            items.look(&all);
        }
        items.finish(&all);
        drop(items);
        std::iter::from_fn(|| received.blocking_recv()).map(|event| event.item.get().to_owned()).collect()
    }

    #[test]
    fn a_line_is_shown_once_it_is_whole_and_the_last_one_at_the_end() {
        let (events, mut received) = unbounded_channel();
        let mut items = Items::new(events, "id", 2, Arc::new(Secrets::default()));
        items.look(b"{\"a\":");
        assert!(received.try_recv().is_err());
        items.look(b"{\"a\": 1}\n\n[2");
        let event = received.try_recv().unwrap();
        assert_eq!((event.item.get(), event.index, event.attempt), ("{\"a\": 1}", 0, 2));
        assert!(received.try_recv().is_err());
        items.finish(b"{\"a\": 1}\n\n[2]");
        assert_eq!(received.try_recv().unwrap().index, 1);
    }

    #[test]
    fn the_first_line_that_is_no_json_ends_the_showing() {
        assert_eq!(shown(None, &["1\n2\nx\n", "3\n"]), ["1", "2"]);
        assert_eq!(shown(None, &["{\"a\":1,\"a\":2}\n3\n"]), [""; 0]);
    }

    #[test]
    fn a_secret_is_never_shown_however_it_is_cut() {
        assert_eq!(shown(Some("hunter2"), &["1\n\"hunt", "er2\"\n2\n"]), ["1"]);
        assert_eq!(shown(Some("12\n34"), &["0\n12\n", "34\n5\n"]), [""; 0]);
        assert_eq!(shown(Some("12\n34"), &["0\n12\n", "35\n5\n"]), ["0", "12", "35", "5"]);
        assert_eq!(shown(Some("12\n34"), &["0\n", "12\n"]), ["0", "12"]);
    }
}
