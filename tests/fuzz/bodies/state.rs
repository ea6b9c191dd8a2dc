//! States: only addresses are taken from them, and no message shows a line.

use lockctl::world::Disk;
use lockctl::world::mem::MemFiles;
use std::path::Path;

use super::configuration;

pub fn run(data: &[u8]) {
    let files = MemFiles::with(&[("/top/root/main.tf", "locals {\n  a = 1\n}\n")]);
    let objects = files.objects(Path::new("/top/root"));
    objects.put("terraform.tfstate", data).expect("memory");
    configuration::check(&files, data);
}
