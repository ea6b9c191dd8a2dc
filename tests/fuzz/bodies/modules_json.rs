//! The manifest of installed modules: it leads nowhere outside, and no fault of it stops a run.

use std::path::Path;

use lockctl::world::Disk;
use lockctl::world::mem::MemFiles;

use super::configuration;

const ROOT: &str = "module \"a\" {\n  source  = \"acme/a/x\"\n  version = \"1.0.0\"\n}\nmodule \"b\" {\n  source = \"./b\"\n}\n";

pub fn run(data: &[u8]) {
    let files = MemFiles::with(&[
        ("/top/root/main.tf", ROOT),
        (
            "/top/root/b/main.tf",
            "module \"c\" {\n  source = \"git::https://example.com/c.git\"\n}\n",
        ),
        (
            "/top/root/.terraform/modules/a/main.tf",
            "resource \"null_resource\" \"x\" {}\n",
        ),
        (
            "/top/root/.terraform/modules/b.c/main.tf",
            "module \"d\" {\n  source = \"../d\"\n}\n",
        ),
    ]);
    let objects = files.objects(Path::new("/top/root/.terraform/modules"));
    objects.put("modules.json", data).expect("memory");
    configuration::check(&files, data);
}
