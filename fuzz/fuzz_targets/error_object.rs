//! The target `error_object` of docs/fuzzing.md.

#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| toolcell::fuzzing::error_object(data));
