//! Argument templates, against a second reading of the rules.

use crate::json::{self, pointer_get};
use crate::reason::Reason;
use crate::resolve::argv_build;
use crate::tool::{self, Element};
use serde_json::Value;
use std::path::Path;

/// The first line is `command` as it stands in tool.toml, the rest the input.
pub fn argv(data: &[u8]) {
    let Some(cut) = data.iter().position(|byte| *byte == b'\n') else { return };
    let (line, input) = (std::str::from_utf8(&data[..cut]), json::value(&data[cut + 1..]));
    let (Ok(line), Ok(input)) = (line, input) else { return };
    let Ok(file) = tool::parse(&format!("schema = 1\ncommand = {line}\n"), Path::new("tool.toml")) else { return };
    let command = file.value.command;
    let mut model = Model { input: &input, after_dashes: false, arguments: Vec::new() };
    let expected = model.elements(&command, false, true);
    match argv_build(&command, &input, Path::new("/tool")) {
        Ok(argv) => {
            assert!(expected.is_ok(), "{command:?} with {input} has to be refused");
            let found: Vec<&[u8]> = argv.iter().map(crate::text::Text::as_bytes).collect();
            let wanted: Vec<&[u8]> = model.arguments.iter().map(|one| one.text.as_bytes()).collect();
            assert_eq!(found, wanted, "{command:?} with {input}");
            options(&model.arguments, &input);
        }
        Err(refusal) => {
            assert!(expected.is_err() || model.is_long(), "{command:?} with {input}: {refusal:?}");
            assert_eq!(refusal.reason, Reason::RejectedInput);
            assert!(!refusal.message.is_empty() && refusal.hint.is_some_and(|hint| !hint.is_empty()));
        }
    }
}

/// One argument, and where it comes from.
struct Argument {
    text: String,
    /// From the input, and not to be taken for an option by whoever reads the arguments from the left.
    guarded: bool,
    /// From the input.
    value: bool,
}

/// The rules of DESIGN, section 5, written a second time.
struct Model<'a> {
    input: &'a Value,
    after_dashes: bool,
    arguments: Vec<Argument>,
}

/// What the rules refuse.
struct Refused;

impl Model<'_> {
    fn elements(&mut self, elements: &[Element], flag: bool, outermost: bool) -> Result<(), Refused> {
        for (index, element) in elements.iter().enumerate() {
            match element {
                Element::Literal(text) => self.literal(text, outermost && index == 0),
                Element::One { pointer } => {
                    if let Some(value) = pointer_get(self.input, pointer) {
                        self.value(value, flag)?;
                    }
                }
                Element::Each { pointer } => match pointer_get(self.input, pointer) {
                    None | Some(Value::Null) => {}
                    Some(Value::Array(items)) => items.iter().try_for_each(|item| self.value(item, flag))?,
                    Some(_) => return Err(Refused),
                },
                Element::Group(group) if self.is_whole(group) => {
                    let flag = matches!(&group[0], Element::Literal(text) if text.starts_with('-'));
                    self.elements(group, flag, false)?;
                }
                Element::Group(_) => {}
            }
        }
        Ok(())
    }

    fn is_whole(&self, group: &[Element]) -> bool {
        group.iter().all(|element| match element {
            Element::One { pointer } | Element::Each { pointer } => {
                pointer_get(self.input, pointer).is_some_and(|value| !value.is_null())
            }
            Element::Literal(_) | Element::Group(_) => true,
        })
    }

    fn literal(&mut self, text: &str, program: bool) {
        self.after_dashes |= text == "--" && !program;
        let relative = program && text.contains('/') && !text.starts_with('/');
        let text = match text.strip_prefix("./") {
            Some(rest) => Path::new("/tool").join(rest).to_string_lossy().into_owned(),
            None if relative => format!("/tool/{text}"),
            None => text.to_owned(),
        };
        self.arguments.push(Argument { text, guarded: false, value: false });
    }

    fn value(&mut self, value: &Value, flag: bool) -> Result<(), Refused> {
        let text = match value {
            Value::Null => return Ok(()),
            Value::String(text) => text.clone(),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            Value::Array(_) | Value::Object(_) => return Err(Refused),
        };
        let guarded = !flag && !self.after_dashes;
        if text.contains('\0') || (guarded && text.starts_with('-')) {
            return Err(Refused);
        }
        self.arguments.push(Argument { text, guarded, value: true });
        Ok(())
    }

    /// Whether the arguments go beyond a limit of the kernel's; what a fuzzer feeds in is far below.
    fn is_long(&self) -> bool {
        self.arguments.iter().map(|one| one.text.len() + 9).sum::<usize>() > 100_000
    }
}

/// No value is read as an option, and each is a scalar of the input, whole.
fn options(arguments: &[Argument], input: &Value) {
    let mut scalars = Vec::new();
    collect(input, &mut scalars);
    for argument in arguments.iter().filter(|argument| argument.value) {
        assert!(!(argument.guarded && argument.text.starts_with('-')), "{} passes for an option", argument.text);
        assert!(scalars.contains(&argument.text), "{} is no value of {input}", argument.text);
    }
}

fn collect(value: &Value, scalars: &mut Vec<String>) {
    match value {
        Value::Null => {}
        Value::String(text) => scalars.push(text.clone()),
        Value::Bool(_) | Value::Number(_) => scalars.push(value.to_string()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, scalars)),
        Value::Object(members) => members.values().for_each(|member| collect(member, scalars)),
    }
}
