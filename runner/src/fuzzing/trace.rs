//! The trace context of a caller.

use crate::trace::TraceContext;

/// The first line is the traceparent, the rest the tracestate.
pub fn trace(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (parent, state) = match text.split_once('\n') {
        Some((parent, state)) => (parent, Some(state)),
        None => (text, None),
    };
    let found = TraceContext::parse(parent, state);
    assert_eq!(found.is_some(), well_formed(parent), "{parent:?}");
    let Some(context) = found else { return };
    let variables = context.variables();
    let value = |name: &str| variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let sent = value("TRACEPARENT").expect("a context has a parent");
    assert_eq!(value("OTEL_TRACEPARENT"), Some(sent));
    // What is sent on is version 00, with the one flag that version 00 defines.
    assert!(parent[3..52] == sent[3..52] && sent.starts_with("00-") && sent.len() == 55, "{parent:?} {sent:?}");
    let odd = |text: &str| u8::from_str_radix(&text[53..55], 16).is_ok_and(|flags| flags & 1 == 1);
    assert_eq!(odd(parent), odd(sent));
    let passed = value("TRACESTATE");
    assert!(passed.is_none() || passed == state, "the state is passed on as it came or not at all");
    assert!(passed.is_none_or(|state| state.len() <= 512 && state.bytes().all(|byte| (0x20..0x7f).contains(&byte))));
    let again = TraceContext::parse(sent, passed).expect("what is sent on is a context");
    assert_eq!(again.variables(), variables);
    let (child, ids) = (context.child(), context.ids());
    assert_eq!(child.ids().trace_id, ids.trace_id);
    assert_ne!(child.ids().span_id, ids.span_id);
    assert!(well_formed(&child.variables()[0].1));
}

/// W3C trace context, 3.2.2, place by place.
fn well_formed(parent: &str) -> bool {
    let bytes = parent.as_bytes();
    let known = bytes.len() == 55 || (bytes.len() > 55 && bytes[55] == b'-' && !parent.starts_with("00"));
    if !known || parent.starts_with("ff") {
        return false;
    }
    let dash = |at: &usize| [2, 35, 52].contains(at);
    let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let formed = (0..55).all(|at| if dash(&at) { bytes[at] == b'-' } else { digit(bytes[at]) });
    formed && bytes[3..35].iter().any(|byte| *byte != b'0') && bytes[36..52].iter().any(|byte| *byte != b'0')
}
