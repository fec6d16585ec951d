//! The target `capability` of docs/fuzzing.md.

#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| toolcell::fuzzing::capability(data));
