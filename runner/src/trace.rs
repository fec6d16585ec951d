//! W3C trace context: taken from the caller, given to the tool as a child of it.

use crate::envelope::Trace;

/// The longest tracestate that is passed on (W3C trace context, 3.3.1.5).
const STATE_MAX: usize = 512;

/// A span's place in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceContext {
    trace_id: String,
    span_id: String,
    flags: u8,
    state: Option<String>,
}

impl TraceContext {
    /// Reads a traceparent header's value (W3C trace context, 3.2), with the tracestate that belongs to it.
    ///
    /// None when it is malformed, which never fails a call.
    pub fn parse(traceparent: &str, tracestate: Option<&str>) -> Option<Self> {
        let mut parts = traceparent.split('-');
        let (version, trace_id, span_id, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let hex = |text: &str, length: usize| {
            text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        let zero = |text: &str| text.bytes().all(|byte| byte == b'0');
        let whole = hex(version, 2) && hex(trace_id, 32) && hex(span_id, 16) && hex(flags, 2);
        // Version 00 has exactly four parts; later ones may have more.
        let extra = parts.next().is_some();
        if !whole || version == "ff" || (version == "00" && extra) || zero(trace_id) || zero(span_id) {
            return None;
        }
        let state = tracestate.filter(|state| valid_state(state)).map(str::to_owned);
        let flags = u8::from_str_radix(flags, 16).ok()?;
        Some(Self { trace_id: trace_id.to_owned(), span_id: span_id.to_owned(), flags, state })
    }

    /// A new trace, sampled.
    pub fn root() -> Self {
        Self { trace_id: uuid::Uuid::new_v4().simple().to_string(), span_id: new_span_id(), flags: 1, state: None }
    }

    /// A new span in the same trace, with the same sampling decision.
    pub fn child(&self) -> Self {
        Self { span_id: new_span_id(), ..self.clone() }
    }

    /// The ids, for the envelope.
    pub fn ids(&self) -> Trace {
        Trace { trace_id: self.trace_id.clone(), span_id: self.span_id.clone() }
    }

    /// The variables that carry this context into a tool: W3C names, and the alias OTEL_TRACEPARENT.
    pub fn variables(&self) -> Vec<(String, String)> {
        let parent = format!("00-{}-{}-{:02x}", self.trace_id, self.span_id, self.flags & 1);
        let mut variables = vec![("TRACEPARENT".to_owned(), parent.clone()), ("OTEL_TRACEPARENT".to_owned(), parent)];
        variables.extend(self.state.clone().map(|state| ("TRACESTATE".to_owned(), state)));
        variables
    }
}

fn new_span_id() -> String {
    let random = uuid::Uuid::new_v4().as_u128();
    // The last 8 bytes hold the variant bits but are never all zero, which a span id may not be.
    format!("{:016x}", random as u64)
}

fn valid_state(state: &str) -> bool {
    !state.is_empty()
        && state.len() <= STATE_MAX
        && state.split(',').count() <= 32
        && state.bytes().all(|byte| (0x20..0x7f).contains(&byte))
        && state.split(',').all(|member| member.trim().is_empty() || member.contains('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_child_keeps_trace_flags_and_state_and_has_its_own_span() {
        let parent = TraceContext::parse(GOOD, Some("a=b")).unwrap();
        let child = parent.child();
        let variables = child.variables();
        assert!(variables[0].1.starts_with("00-0af7651916cd43dd8448eb211c80319c-"));
        assert!(!variables[0].1.contains("b7ad6b7169203331"));
        assert!(variables.contains(&("TRACESTATE".into(), "a=b".into())));
        let unsampled = TraceContext::parse(&GOOD.replace("-01", "-00"), None).unwrap();
        assert!(unsampled.child().variables()[0].1.ends_with("-00"));
    }

    #[test]
    fn malformed_parents_are_refused_and_later_versions_taken() {
        for bad in [
            "",
            "00",
            "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333é-01",
        ] {
            assert!(TraceContext::parse(bad, None).is_none(), "{bad}");
        }
        assert!(TraceContext::parse(&format!("01{}-more", &GOOD[2..]), None).is_some());
        assert!(TraceContext::parse(&GOOD.replace("-01", "-03"), None).is_some());
    }

    #[test]
    fn a_bad_state_is_dropped_alone() {
        for bad in ["", "no-equals", "a=b\u{7f}"] {
            let context = TraceContext::parse(GOOD, Some(bad)).unwrap();
            assert!(context.variables().iter().all(|(name, _)| name != "TRACESTATE"), "{bad:?}");
        }
    }
}
