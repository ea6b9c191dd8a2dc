#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| lockctl_fuzz::bodies::build_information::run(data));
