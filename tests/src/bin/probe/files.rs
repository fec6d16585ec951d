//! Acts on files.

use crate::{Act, Found, errno, outcome};
use nix::errno::Errno;
use nix::sys::stat::{Mode, SFlag, makedev, mknod};
use serde_json::{Map, Value, json};
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

pub fn attempt(name: &str, act: &Act) -> Option<Found> {
    let path = || Path::new(act.text("path"));
    Some(match name {
        "read" => read(path()),
        "list" => list(path()),
        "stat" => fs::metadata(path()).map(|_| Value::Null).map_err(|error| errno(&error)),
        "write" => write(path()).map(|()| Value::Null),
        "write_many" => Ok(by_path(act, write)),
        "open_to_write" => open_to_write(path()),
        "make_device" => make(path(), SFlag::S_IFCHR),
        "make_fifo" => make(path(), SFlag::S_IFIFO),
        "make_set_uid" => make_set_uid(path()).map(|mode| json!({"mode": mode})),
        "rename" => rename(path()).map(|()| Value::Null),
        "devices" => Ok(devices()),
        _ => return None,
    })
}

fn by_path(act: &Act, what: impl Fn(&Path) -> Result<(), Errno>) -> Value {
    let paths = act.list("paths").iter().filter_map(Value::as_str);
    Value::Object(paths.map(|path| (path.to_owned(), outcome(what(Path::new(path))))).collect())
}

fn read(path: &Path) -> Found {
    let mut text = Vec::new();
    File::open(path).and_then(|file| file.take(4096).read_to_end(&mut text)).map_err(|error| errno(&error))?;
    Ok(json!({"text": String::from_utf8_lossy(&text)}))
}

fn list(path: &Path) -> Found {
    let entries = fs::read_dir(path).map_err(|error| errno(&error))?;
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(json!({"names": names}))
}

/// Makes a file with something in it, and removes it again.
fn write(path: &Path) -> Result<(), Errno> {
    let made = OpenOptions::new().write(true).create_new(true).open(path).and_then(|mut file| file.write_all(b"x"));
    made.and_then(|()| fs::remove_file(path)).map_err(|error| errno(&error))
}

/// Opens what is there for writing, and writes nothing.
fn open_to_write(path: &Path) -> Found {
    OpenOptions::new().write(true).open(path).map(|_| Value::Null).map_err(|error| errno(&error))
}

/// A device with the numbers of /dev/null, or a FIFO; removed again.
fn make(path: &Path, kind: SFlag) -> Found {
    mknod(path, kind, Mode::from_bits_truncate(0o600), makedev(1, 3))?;
    fs::remove_file(path).map(|()| Value::Null).map_err(|error| errno(&error))
}

/// A file whose execution would give its owner's rights; it stays. Answers the mode that it has got.
fn make_set_uid(path: &Path) -> Result<u32, Errno> {
    let steps = || -> std::io::Result<u32> {
        fs::write(path, "x")?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o6755))?;
        Ok(fs::metadata(path)?.permissions().mode() & 0o7777)
    };
    steps().map_err(|error| errno(&error))
}

/// A file and a folder change folders below `base`, and a second name is given across them.
fn rename(base: &Path) -> Result<(), Errno> {
    let steps = || -> std::io::Result<()> {
        fs::create_dir_all(base.join("a"))?;
        fs::create_dir_all(base.join("b"))?;
        fs::write(base.join("a/file"), "x")?;
        fs::rename(base.join("a/file"), base.join("b/file"))?;
        fs::hard_link(base.join("b/file"), base.join("a/second"))?;
        fs::create_dir(base.join("c"))?;
        fs::rename(base.join("c"), base.join("a/c"))
    };
    steps().map_err(|error| errno(&error))
}

/// What the devices that every program expects do.
fn devices() -> Value {
    let sixteen = |path: &str| {
        let mut bytes = [1u8; 16];
        File::open(path).and_then(|mut file| file.read_exact(&mut bytes)).map(|()| bytes).map_err(|error| errno(&error))
    };
    let write = |path: &str| {
        let file = OpenOptions::new().write(true).open(path);
        file.and_then(|mut file| file.write_all(b"x")).map_err(|error| errno(&error))
    };
    let end = |path: &str| File::open(path).and_then(|mut file| file.read(&mut [0])).map_err(|error| errno(&error));
    let mut found = Map::new();
    found.insert("null write".into(), outcome(write("/dev/null")));
    found.insert("null read".into(), json!(end("/dev/null").ok()));
    found.insert("zero".into(), json!(sixteen("/dev/zero").map(|bytes| bytes == [0; 16]).ok()));
    found.insert("full".into(), outcome(write("/dev/full")));
    found.insert("random".into(), outcome(sixteen("/dev/random")));
    found.insert("urandom".into(), json!(sixteen("/dev/urandom").map(|bytes| bytes != [1; 16]).ok()));
    found.insert("tty".into(), outcome(end("/dev/tty")));
    Value::Object(found)
}
