//! Argument templates: no shell, no splitting; one element is one argument or none.

use crate::file_error::FileError;
use crate::json::type_in_words;
use crate::reason::Reason;
use crate::refusal::Refusal;
use crate::text::Text;
use crate::tool::Element;
use serde_json::{Value, json};
use std::path::Path;

/// Builds the argument vector. `tool_dir`: where the capability's folder stands for the tool.
pub fn build(command: &[Element], input: &Value, tool_dir: &Path) -> Result<Vec<Text>, Refusal> {
    let mut out = Out { argv: Vec::new(), input, tool_dir, after_dashes: false };
    for (index, element) in command.iter().enumerate() {
        match element {
            Element::Literal(text) => out.literal(text, index == 0),
            Element::One { pointer } => out.one(pointer, false)?,
            Element::Each { pointer } => out.each(pointer, false)?,
            Element::Group(group) => out.group(group)?,
        }
    }
    let total: usize = out.argv.iter().map(|text| text.as_bytes().len() + 9).sum();
    if total > MAX_ARGUMENTS {
        let message = format!(
            "the arguments are {} long in all, and {} is the limit",
            crate::human::bytes(total as u64),
            crate::human::bytes(MAX_ARGUMENTS as u64)
        );
        return Err(Refusal::new(Reason::RejectedInput, message)
            .hint("shorten the lists and texts that become arguments of the tool"));
    }
    match out.argv.first() {
        Some(name) if !name.as_bytes().is_empty() => Ok(out.argv),
        _ => Err(Refusal::new(Reason::RejectedInput, "the command is empty for this input")),
    }
}

/// The kernel's limit for one argument (MAX_ARG_STRLEN, 32 pages).
const MAX_ARGUMENT: usize = 128 * 1024;

/// Half of what the kernel gives arguments and variables together, with their pointers, under the usual stack limit.
const MAX_ARGUMENTS: usize = 1 << 20;

struct Out<'a> {
    argv: Vec<Text>,
    input: &'a Value,
    tool_dir: &'a Path,
    after_dashes: bool,
}

impl Out<'_> {
    fn literal(&mut self, text: &str, program: bool) {
        let below = text.strip_prefix("./").or_else(|| {
            let relative = program && text.contains('/') && !text.starts_with('/');
            relative.then_some(text)
        });
        // A program of that name ends no options.
        self.after_dashes |= text == "--" && !program;
        self.argv.push(match below {
            Some(rest) => Text::from(self.tool_dir.join(rest).as_path()),
            None => Text::from(text),
        });
    }

    fn one(&mut self, pointer: &str, after_flag: bool) -> Result<(), Refusal> {
        match self.input.pointer(pointer) {
            Some(value) => self.value(value, pointer, after_flag),
            None => Ok(()),
        }
    }

    fn each(&mut self, pointer: &str, after_flag: bool) -> Result<(), Refusal> {
        match self.input.pointer(pointer) {
            None | Some(Value::Null) => Ok(()),
            Some(Value::Array(items)) => items
                .iter()
                .enumerate()
                .try_for_each(|(index, item)| self.value(item, &format!("{pointer}/{index}"), after_flag)),
            Some(other) => Err(rejected(pointer, format!("is {}, not an array", type_in_words(other)))),
        }
    }

    fn group(&mut self, group: &[Element]) -> Result<(), Refusal> {
        let absent = |element: &Element| match element {
            Element::One { pointer } | Element::Each { pointer } => {
                matches!(self.input.pointer(pointer), None | Some(Value::Null))
            }
            Element::Literal(_) | Element::Group(_) => false,
        };
        if group.iter().any(absent) {
            return Ok(());
        }
        let flag = matches!(group.first(), Some(Element::Literal(text)) if text.starts_with('-'));
        for element in group {
            match element {
                Element::Literal(text) => self.literal(text, false),
                Element::One { pointer } => self.one(pointer, flag)?,
                Element::Each { pointer } => self.each(pointer, flag)?,
                Element::Group(inner) => self.group(inner)?,
            }
        }
        Ok(())
    }

    fn value(&mut self, value: &Value, pointer: &str, after_flag: bool) -> Result<(), Refusal> {
        let text = match value {
            Value::Null => return Ok(()),
            Value::String(text) => text.clone(),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            Value::Array(_) | Value::Object(_) => {
                return Err(rejected(pointer, format!("is {}, which is no argument", type_in_words(value))));
            }
        };
        if text.contains('\0') {
            return Err(rejected(pointer, "holds a NUL character, which no argument can".to_owned()));
        }
        if text.len() >= MAX_ARGUMENT {
            return Err(rejected(
                pointer,
                format!("is longer than the {} an argument may have", crate::human::bytes(MAX_ARGUMENT as u64)),
            ));
        }
        if text.starts_with('-') && !after_flag && !self.after_dashes {
            return Err(rejected(pointer, "begins with `-` and would be read as an option".to_owned()));
        }
        self.argv.push(Text::from(text));
        Ok(())
    }
}

fn rejected(pointer: &str, what: String) -> Refusal {
    Refusal::new(Reason::RejectedInput, format!("{pointer} {what}"))
        .hint("this value becomes a command line argument of the tool: change it")
        .with_details(json!({"instance": pointer}))
}

/// A sensitive value may not become an argument: every process of the host can read those.
pub fn refuse_sensitive(command: &[Element], sensitive: &[String], file: &Path) -> Result<(), Refusal> {
    for element in command {
        match element {
            Element::Literal(_) => {}
            Element::Group(group) => refuse_sensitive(group, sensitive, file)?,
            Element::One { pointer } | Element::Each { pointer } => {
                let within = |one: &String| {
                    one == pointer || one.starts_with(&format!("{pointer}/")) || pointer.starts_with(&format!("{one}/"))
                };
                if sensitive.iter().any(within) {
                    let error = FileError::new(
                        file,
                        format!("{pointer} is sensitive by the input schema and would become an argument"),
                    );
                    return Err(super::broken(
                        error.hint("arguments are readable by every process of the host: pass it on standard input"),
                    ));
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lit(text: &str) -> Element {
        Element::Literal(text.to_owned())
    }

    fn one(pointer: &str) -> Element {
        Element::One { pointer: pointer.to_owned() }
    }

    fn each(pointer: &str) -> Element {
        Element::Each { pointer: pointer.to_owned() }
    }

    fn argv(command: &[Element], input: &Value) -> Result<Vec<String>, Refusal> {
        build(command, input, Path::new("/tool"))
            .map(|argv| argv.iter().map(|text| text.lossy().into_owned()).collect())
    }

    #[test]
    fn each_kind_of_value_becomes_one_argument_or_none() {
        let command = [lit("x"), one("/s"), one("/n"), one("/b"), one("/null"), one("/absent"), each("/list")];
        let input = json!({"s": "a b;$(c)", "n": 1.50, "b": true, "null": null, "list": ["p", 2]});
        assert_eq!(argv(&command, &input).unwrap(), ["x", "a b;$(c)", "1.5", "true", "p", "2"]);
    }

    #[test]
    fn a_group_is_left_out_whole_and_lets_a_dash_through_after_a_flag() {
        let command = [lit("grep"), Element::Group(vec![lit("-m"), one("/max")]), lit("--"), one("/pattern")];
        assert_eq!(argv(&command, &json!({"pattern": "-v"})).unwrap(), ["grep", "--", "-v"]);
        assert_eq!(argv(&command, &json!({"max": -3, "pattern": "a"})).unwrap(), ["grep", "-m", "-3", "--", "a"]);
    }

    #[test]
    fn a_leading_dash_is_refused_before_the_dashes_and_in_a_group_without_flag() {
        let plain = argv(&[lit("x"), one("/v")], &json!({"v": "--evil"})).unwrap_err();
        assert_eq!(plain.reason, Reason::RejectedInput);
        assert!(plain.message.contains("/v begins with `-`"));
        assert!(argv(&[lit("x"), Element::Group(vec![one("/v")])], &json!({"v": "-e"})).is_err());
        assert!(argv(&[lit("x"), one("/v")], &json!({"v": -1})).is_err());
        assert!(argv(&[lit("--"), one("/v")], &json!({"v": "-e"})).is_err(), "the program's name ends no options");
    }

    #[test]
    fn objects_and_nul_are_refused() {
        assert!(argv(&[lit("x"), one("/v")], &json!({"v": {}})).unwrap_err().message.contains("an object"));
        assert!(argv(&[lit("x"), one("/v")], &json!({"v": "a\u{0}b"})).unwrap_err().message.contains("NUL"));
        assert!(argv(&[lit("x"), each("/v")], &json!({"v": "s"})).unwrap_err().message.contains("not an array"));
    }

    #[test]
    fn only_literals_are_taken_below_the_tool_folder() {
        let command = [lit("bin/run"), lit("./data.json"), one("/v"), lit("a/b")];
        let input = json!({"v": "./mine"});
        assert_eq!(argv(&command, &input).unwrap(), ["/tool/bin/run", "/tool/data.json", "./mine", "a/b"]);
    }

    #[test]
    fn a_sensitive_value_never_becomes_an_argument() {
        let command = [lit("x"), Element::Group(vec![lit("-k"), one("/key")])];
        let refusal = refuse_sensitive(&command, &["/key".to_owned()], Path::new("tool.toml")).unwrap_err();
        assert_eq!(refusal.reason, Reason::InvalidContract);
        assert!(refuse_sensitive(&command, &["/keys".to_owned()], Path::new("tool.toml")).is_ok());
    }
}
