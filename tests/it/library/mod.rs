//! Programs that use the library, each as short as its job: what other tools would write.

mod diff_two_files;
mod parse_and_list;
mod verify_in_ci;
