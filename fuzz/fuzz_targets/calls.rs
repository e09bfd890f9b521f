#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| slipstitch_fuzz::calls(data));
