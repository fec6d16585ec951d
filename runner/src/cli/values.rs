//! Values of flags.

use crate::layer::Layer;

/// What `--require` takes.
#[derive(Debug, Clone, Copy)]
pub enum Need {
    /// Every layer the profile asks for.
    All,
    /// One layer.
    One(Layer),
}

pub fn layer(text: &str) -> Result<Need, String> {
    if text == "all" {
        return Ok(Need::All);
    }
    let names: Vec<&str> = Layer::ALL.into_iter().map(Layer::name).collect();
    Layer::by_name(text).map(Need::One).ok_or_else(|| format!("the layers are all, {}", names.join(", ")))
}

pub fn cores(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(cores) if cores.is_finite() && cores >= 0.01 => Ok(cores),
        _ => Err("give a number of cores from 0.01 on, such as 0.5".to_owned()),
    }
}

pub fn processes(text: &str) -> Result<u64, String> {
    let number = text.parse::<u64>().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "give a number of processes from 1 on".to_owned())
}

pub fn level(text: &str) -> Result<u8, String> {
    text.parse::<u8>().ok().filter(|level| *level <= 3).ok_or_else(|| "give a level from 0 to 3".to_owned())
}

/// A JSON Pointer and what is set there.
pub fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((pointer, value)) if pointer.starts_with('/') => Ok((pointer.to_owned(), value.to_owned())),
        _ => Err("write it as /POINTER=VALUE, such as /code=SPY".to_owned()),
    }
}

pub fn call_id(text: &str) -> Result<String, String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if (1..=128).contains(&text.len()) && text.bytes().all(plain) {
        Ok(text.to_owned())
    } else {
        Err("an id has 1 to 128 characters of A-Z a-z 0-9 - _ .".to_owned())
    }
}
