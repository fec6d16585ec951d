//! Looking things up on the host.

use crate::call::Owner;
use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The path with every link followed.
pub fn real(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok()
}

/// Who owns a file or folder.
pub fn owner(path: &Path) -> Option<Owner> {
    fs::metadata(path).ok().map(|data| Owner { uid: data.uid(), gid: data.gid() })
}

/// The first bytes of a file.
pub fn head(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Only a regular file: opening a FIFO would wait for a writer.
    if path.is_file()
        && let Ok(file) = fs::File::open(path)
    {
        let _ = file.take(4096).read_to_end(&mut bytes);
    }
    bytes
}

/// The loader a dynamically linked program names (ELF, PT_INTERP), if it stands in the first bytes.
pub fn elf_interpreter(head: &[u8]) -> Option<PathBuf> {
    if !head.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let at = |offset: usize, size: usize| -> Option<usize> {
        let bytes = head.get(offset..offset.checked_add(size)?)?;
        bytes.iter().rev().try_fold(0usize, |all, byte| Some(all << 8 | usize::from(*byte)))
    };
    let (table, entry, count) = (at(32, 8)?, at(54, 2)?, at(56, 2)?);
    (0..count).find_map(|index| {
        let header = table.checked_add(index.checked_mul(entry)?)?;
        if at(header, 4)? != 3 {
            return None;
        }
        let (offset, size) = (at(header.checked_add(8)?, 8)?, at(header.checked_add(32)?, 8)?);
        let text = head.get(offset..offset.checked_add(size)?)?.split(|byte| *byte == 0).next()?;
        Some(PathBuf::from(std::str::from_utf8(text).ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loader_of_a_dynamic_program_is_found_and_garbage_is_none() {
        let own = head(Path::new("/bin/sh"));
        let loader = elf_interpreter(&own);
        assert!(loader.is_none_or(|path| path.is_absolute()));
        assert_eq!(elf_interpreter(b"#!/bin/sh"), None);
        let mut broken = b"\x7fELF\x02\x01".to_vec();
        broken.resize(4096, 0xff);
        assert_eq!(elf_interpreter(&broken), None);
    }
}
