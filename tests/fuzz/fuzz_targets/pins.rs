#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| lockctl_fuzz::bodies::pins::run(data));
