//! Values of variables in files that no one writes in good faith: reading them ends soon, in
//! little memory, with a clear message.

use std::fmt::Write as _;
use std::path::Path;

use lockctl::config::{self, Loaded, Settings};
use lockctl::diag::{Severity, Texts};
use lockctl::flavor::Flavor;
use lockctl::world::Disk as _;
use lockctl::world::mem::{MemFiles, slashed};

/// What reading may take at once, in bytes.
const MAX_MEMORY: u64 = 100 << 20;

/// Reads a root with its files in memory.
fn load(files: &[(&str, &str)]) -> Loaded {
    let disk = MemFiles::default();
    for (name, text) in files {
        let path = Path::new("w").join(name);
        disk.replace(&path, None, text.as_bytes()).unwrap();
    }
    let settings = Settings::new(Flavor::OpenTofu1_12);
    let mut loaded = None;
    let taken = allocation_counter::measure(|| {
        let read = config::load(&disk, &mut Texts::default(), Path::new("w"), &settings);
        loaded = Some(read);
    });
    assert!(taken.bytes_max < MAX_MEMORY, "{} bytes", taken.bytes_max);
    loaded.unwrap()
}

/// Returns the titles of all errors, each once.
fn errors(loaded: &Loaded) -> Vec<&str> {
    let all = loaded.diagnostics.iter();
    let errors = all.filter(|one| one.severity == Severity::Error);
    let mut titles: Vec<&str> = errors.map(|one| one.title.as_str()).collect();
    titles.dedup();
    titles
}

/// Returns why calls could not be computed, each reason once.
fn reasons(loaded: &Loaded) -> Vec<&str> {
    let labels = loaded.diagnostics.iter().flat_map(|one| &one.related);
    let mut reasons: Vec<&str> = labels.map(|label| label.note.as_str()).collect();
    reasons.dedup();
    reasons
}

#[test]
fn text_that_doubles_in_each_step_is_not_computed() {
    let mut text = String::from("locals {\n  l0 = \"0123456789\"\n");
    for at in 1..100 {
        let below = at - 1;
        writeln!(text, "  l{at} = \"${{local.l{below}}}${{local.l{below}}}\"").unwrap();
    }
    text += "}\nmodule \"m\" {\n  source = \"./${local.l99}\"\n}\n";
    let loaded = load(&[("main.tf", &text)]);
    assert_eq!(errors(&loaded), [""; 0]);
    assert_eq!(reasons(&loaded), ["this computes too much"]);
}

#[test]
fn a_value_that_is_copied_again_and_again_is_not_computed_without_end() {
    let mut text = String::from("locals {\n  big = [for x in range(1000) : range(100)]\n");
    for at in 0..5000 {
        writeln!(text, "  l{at} = [local.big]").unwrap();
    }
    text += "  all = [";
    for at in 0..5000 {
        write!(text, "local.l{at},").unwrap();
    }
    text += "]\n}\nmodule \"m\" {\n  source = \"./${length(local.all)}\"\n}\n";
    let loaded = load(&[("main.tf", &text)]);
    assert_eq!(errors(&loaded), [""; 0]);
    assert_eq!(reasons(&loaded), ["this computes too much"]);
}

#[test]
fn a_long_chain_of_values_ends() {
    let mut text = String::from("locals {\n  l0 = \"m\"\n");
    for at in 1..20_000 {
        writeln!(text, "  l{at} = local.l{}", at - 1).unwrap();
    }
    text += "}\nmodule \"m\" {\n  source = \"./${local.l19999}\"\n}\n";
    let loaded = load(&[("main.tf", &text)]);
    assert_eq!(errors(&loaded), [""; 0]);
    assert_eq!(reasons(&loaded), ["too many values need each other"]);
}

#[test]
fn a_recursion_of_a_million_calls_ends() {
    let child = "variable \"n\" {}\nmodule \"x\" {\n  source = var.n > 0 ? \"../m\" : \"../leaf\"\n  n = var.n - 1\n}\n";
    let twice = child.to_owned()
        + &child
            .replace("variable \"n\" {}\n", "")
            .replace("\"x\"", "\"y\"");
    let main = "module \"m\" {\n  source = \"./m\"\n  n = 1000000\n}\n";
    let leaf = ("leaf/main.tf", "variable \"n\" {}\n");
    let loaded = load(&[("main.tf", main), ("m/main.tf", child), leaf]);
    assert_eq!(errors(&loaded), ["Module tree too deep"]);
    let loaded = load(&[("main.tf", main), ("m/main.tf", &twice), leaf]);
    let found = errors(&loaded);
    assert!(found.contains(&"Module tree too large"), "{found:?}");
}

#[test]
fn a_device_and_a_large_file_are_not_read() {
    let main = "module \"m\" {\n  source = file(\"/dev/zero\")\n}\n";
    let loaded = load(&[("main.tf", main)]);
    assert_eq!(errors(&loaded), [""; 0]);
    assert_eq!(
        reasons(&loaded),
        ["values of files outside of the repository are not computed"]
    );
    let large = format!("a = \"{}\"\n", "x".repeat(20 << 20));
    let files = [("main.tf", ""), ("terraform.tfvars", &*large)];
    let loaded = load(&files);
    assert_eq!(errors(&loaded), [""; 0]);
    assert_eq!(loaded.missing_values.files[0].path, "w/terraform.tfvars");
}

/// Returns the directories of the modules below the root.
fn dirs(loaded: &Loaded) -> Vec<String> {
    let below = loaded.modules.iter().skip(1);
    let dirs = below.filter_map(|module| module.dir.as_ref());
    dirs.map(|dir| dir.display().to_string()).collect()
}

#[test]
fn a_large_value_is_handed_to_many_calls() {
    let child = "variable \"all\" { type = any }\nvariable \"at\" { type = number }\nmodule \"x\" {\n  source = \"../leaf/${var.all[var.at].dir}\"\n}\n";
    let mut text = String::from(
        "locals {\n  all = [for x in range(500) : { dir = \"d${x}\", more = range(100) }]\n}\n",
    );
    for at in 0..500 {
        writeln!(
            text,
            "module \"m{at}\" {{\n  source = \"./m\"\n  all = local.all\n  at = {at}\n}}"
        )
        .unwrap();
    }
    let names: Vec<String> = (0..500).map(|at| format!("leaf/d{at}/main.tf")).collect();
    let mut files = vec![("main.tf", &*text), ("m/main.tf", child)];
    files.extend(names.iter().map(|name| (&**name, "")));
    let loaded = load(&files);
    assert_eq!(errors(&loaded), [""; 0]);
    assert_eq!(reasons(&loaded), [""; 0]);
    let found = dirs(&loaded);
    assert_eq!(found.len(), 1000);
    assert_eq!(slashed(&found[999]), "leaf/d499");
}

#[test]
fn a_list_of_a_large_type_costs_no_more_than_its_items() {
    let attributes: String = (0..200).map(|at| format!("a{at} = string\n")).collect();
    let text = format!(
        "variable \"all\" {{\n  type = list(object({{\n{attributes}}}))\n  default = [{}]\n}}\nmodule \"m\" {{\n  source = \"./d${{length([for x in var.all : x if x == null])}}\"\n}}\n",
        "null,".repeat(20_000)
    );
    let loaded = load(&[("main.tf", &text), ("d20000/main.tf", "")]);
    assert_eq!(errors(&loaded), [""; 0]);
    assert_eq!(dirs(&loaded), ["d20000"]);
}

#[test]
fn templates_that_call_themselves_end() {
    let template = "${templatefile(\"t.tpl\", {})}${templatefile(\"t.tpl\", {})}";
    let main = "module \"m\" {\n  source = templatefile(\"t.tpl\", {})\n}\n";
    let loaded = load(&[("main.tf", main), ("t.tpl", template)]);
    assert_eq!(errors(&loaded), [""; 0]);
    assert_eq!(reasons(&loaded), ["the template cannot be computed"]);
}

#[test]
fn deep_nesting_ends() {
    let (open, close) = ("[".repeat(5000), "]".repeat(5000));
    let main = "variable \"v\" {}\nmodule \"m\" {\n  source = var.v\n}\n";
    let values = format!("v = {open}{close}\n");
    let json = format!("{{\"v\": {open}{close}}}");
    for (name, text) in [("terraform.tfvars", values), ("a.auto.tfvars.json", json)] {
        let found = load(&[("main.tf", main), (name, &text)]);
        assert!(!errors(&found).is_empty(), "{name}");
    }
    let decoded = "module \"m\" {\n  source = jsondecode(file(\"v.json\"))\n}\n";
    let text = format!("{open}{close}");
    let found = load(&[("main.tf", decoded), ("v.json", &text)]);
    assert_eq!(dirs(&found), [""; 0]);
    assert!(!errors(&found).is_empty() || !reasons(&found).is_empty());
}

#[test]
fn a_value_that_must_be_known_and_cannot_be_computed_is_noted() {
    let main = "module \"m\" {\n  source = \"./m\"\n  p = bcrypt(\"a\")\n}\n";
    let child = "variable \"p\" {\n  const = true\n}\n";
    let loaded = load(&[("main.tf", main), ("m/main.tf", child)]);
    assert_eq!(errors(&loaded), [""; 0]);
    let notes = loaded.diagnostics.iter();
    let notes: Vec<&str> = notes.map(|one| one.title.as_str()).collect();
    assert_eq!(notes, ["Expression cannot be evaluated here"]);
}
