use super::*;
use crate::flavor::{Flavor, Program};
use crate::world::mem::MemFiles;

#[track_caller]
fn check_flavor(files: &[(&str, &str)], wanted: Program) {
    let files = MemFiles::with(files);
    let lock = files.read(Path::new("/r/.terraform.lock.hcl"), 1000).ok();
    let found = flavor_of(FlavorChoice::Auto, &files, Path::new("/r"), lock.as_deref());
    assert_eq!(found, Flavor::newest(wanted));
}

#[test]
fn auto_looks_at_header_then_registries_then_files() {
    let lock = "/r/.terraform.lock.hcl";
    let tofu_block = "provider \"registry.opentofu.org/a/b\" {\n  version = \"1.0.0\"\n}\n";
    let terraform_header = Flavor::Terraform1_11.header();
    check_flavor(&[("/r/main.tf", "")], Program::Terraform);
    check_flavor(&[("/r/main.tofu", "")], Program::OpenTofu);
    check_flavor(
        &[("/r/main.tofu", ""), (lock, terraform_header)],
        Program::Terraform,
    );
    check_flavor(&[("/r/main.tf", ""), (lock, tofu_block)], Program::OpenTofu);
    let both = format!("{terraform_header}{tofu_block}");
    check_flavor(&[("/r/main.tf", ""), (lock, &both)], Program::Terraform);
}
