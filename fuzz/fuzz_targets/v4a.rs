#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| incise_fuzz::v4a(data));
