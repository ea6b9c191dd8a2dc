//! Modules with override files of every kind of block.

use std::fmt::Write as _;

use serde_json::Value;

use crate::lab::Lab;
use crate::lockctl;
use crate::seed::Seed;
use crate::terraform::Terraform;

/// A module that the others call.
const CHILD: &str = r#"
terraform {
  required_providers {
    terraform = { source = "terraform.io/builtin/terraform" }
  }
}
variable "a" {
  default = "child"
}
variable "b" {
  default = null
}
output "a" {
  value = [var.a, var.b]
}
"#;

/// A base, and what override files may set in it. `@` is replaced by a text of its own.
struct Kind {
    base: &'static [&'static str],
    over: &'static [&'static str],
}

const KINDS: &[Kind] = &[
    // Settings.
    Kind {
        base: &[
            "terraform {\n  required_version = \">= 1.0\"\n}",
            "terraform {\n  backend \"local\" {\n    path = \"base@.tfstate\"\n  }\n}",
            "terraform {\n}\nterraform {\n  required_version = \">= 0.13\"\n}",
        ],
        over: &[
            "terraform {\n  required_version = \">= 1.1\"\n}",
            "terraform {\n  backend \"local\" {\n    path = \"over@.tfstate\"\n  }\n}",
            "terraform {\n  required_providers {\n    terraform = { source = \"terraform.io/builtin/terraform\" }\n  }\n}",
            "terraform {\n  required_version = \"~> 1.2\"\n}\nterraform {\n  required_version = \"< 9.0\"\n}",
        ],
    },
    // Variables.
    Kind {
        base: &[
            "variable \"v@\" {\n  default = \"base\"\n}",
            "variable \"v@\" {\n  type    = number\n  default = \"1.50\"\n  description = \"base @\"\n}",
            "variable \"v@\" {\n  type    = bool\n  default = true\n  validation {\n    condition = var.v@ != \"no\"\n    error_message = \"no @.\"\n  }\n}",
        ],
        over: &[
            "variable \"v@\" {\n  default = null\n}",
            "variable \"v@\" {\n  type = string\n}",
            "variable \"v@\" {\n  type = any\n  sensitive = true\n}",
            "variable \"v@\" {\n  description = \"over @\"\n}",
            "variable \"v@\" {\n  description = \"\"\n  nullable = true\n}",
            "variable \"v@\" {\n  validation {\n    condition = true\n    error_message = \"over.\"\n  }\n}",
        ],
    },
    Kind {
        base: &[
            "variable \"v@\" {\n  type    = set(string)\n  default = [\"b\", \"a\", \"b\"]\n  nullable = false\n}",
            "variable \"v@\" {\n  type    = list(any)\n  default = [\"x\", 1, true]\n  ephemeral = false\n}",
            "variable \"v@\" {\n  type    = tuple([string, number])\n  default = [1, \"2.0\"]\n  sensitive = true\n}",
        ],
        over: &[
            "variable \"v@\" {\n  type = list(string)\n}",
            "variable \"v@\" {\n  type = set(string)\n}",
            "variable \"v@\" {\n  default = [3, 4]\n}",
            "variable \"v@\" {\n  sensitive = false\n}",
            "variable \"v@\" {\n  nullable = false\n  description = <<-EOT\n    long\n      text\n  EOT\n}",
        ],
    },
    Kind {
        base: &[
            "variable \"v@\" {\n  type = object({ a = optional(string, \"d\"), b = optional(number) })\n  default = {}\n}",
            "variable \"v@\" {\n  type = map(list(string))\n  default = { x = [1, true] }\n  sensitive = true\n}",
            "variable \"v@\" {\n  type = map(object({\n    a = optional(number, 1) # one\n  }))\n  default = { \"k 1\" = {}, \"$${x}\" = { a = \"2\" } }\n}",
        ],
        over: &[
            "variable \"v@\" {\n  default = {}\n}",
            "variable \"v@\" {\n  type = any\n}",
            "variable \"v@\" {\n  sensitive = false\n}",
            "variable \"v@\" {\n  type = map(any)\n}",
        ],
    },
    // Local values.
    Kind {
        base: &[
            "locals {\n  l@ = \"base\"\n  m@ = [local.l@, 1]\n}",
            "locals {\n  l@ = {\n    a = 1 # one\n    b = \"x\"\n  }\n}\nlocals {\n  m@ = <<-EOT\n    base\n      text $${x}\n  EOT\n}",
        ],
        over: &[
            "locals {\n  l@ = \"over\"\n}",
            "locals {\n  m@ = \"over\"\n}\nlocals {\n  l@ = [for x in [1, 2] : x * 2]\n}",
            "locals {\n  m@ = <<EOT\nover\nEOT\n}",
            "locals {\n  nope@ = 1\n}",
        ],
    },
    // Outputs.
    Kind {
        base: &[
            "output \"o@\" {\n  value = \"base\"\n  description = \"base @\"\n}",
            "output \"o@\" {\n  value = try(local.l@, \"none\")\n}\nlocals {\n  l@ = \"x\"\n}",
            "output \"o@\" {\n  value = \"s\"\n  sensitive = true\n  precondition {\n    condition = path.module != \"\"\n    error_message = \"base.\"\n  }\n}",
        ],
        over: &[
            "output \"o@\" {\n  value = \"over\"\n}",
            "output \"o@\" {\n  description = \"over\"\n}",
            "output \"o@\" {\n  sensitive = false\n}",
            "output \"o@\" {\n  sensitive = true\n  value = [1, \"a\"]\n}",
            "output \"o@\" {\n  depends_on = [terraform_data.none]\n}",
            "output \"o@\" {\n  depends_on = []\n}",
        ],
    },
    // Resources.
    Kind {
        base: &[
            "resource \"terraform_data\" \"r@\" {\n  input = \"base\"\n}",
            "resource \"terraform_data\" \"r@\" {\n  count = 2\n  input = count.index\n  triggers_replace = [\"t\"]\n  lifecycle {\n    create_before_destroy = true\n    ignore_changes        = [input]\n  }\n}",
            "resource \"terraform_data\" \"r@\" {\n  for_each = { a = 1, b = 2 }\n  input    = { key = each.key, value = each.value }\n  provisioner \"local-exec\" {\n    command = \"echo base\"\n  }\n  provisioner \"local-exec\" {\n    when    = destroy\n    command = \"echo base\"\n  }\n}",
            "resource \"terraform_data\" \"r@\" {\n  input = \"base\"\n  connection {\n    type = \"ssh\"\n    host = \"base\"\n  }\n  provisioner \"remote-exec\" {\n    inline = [\"echo base\"]\n    connection {\n      host = \"inner\"\n    }\n  }\n  lifecycle {\n    precondition {\n      condition     = path.root != \"\"\n      error_message = \"base.\"\n    }\n  }\n}",
            "resource \"terraform_data\" \"d@\" {\n}\nresource \"terraform_data\" \"r@\" {\n  depends_on = [terraform_data.d@]\n  lifecycle {\n    replace_triggered_by = [terraform_data.d@]\n  }\n}",
        ],
        over: &[
            "resource \"terraform_data\" \"r@\" {\n  input = \"over\"\n}",
            "resource \"terraform_data\" \"r@\" {\n  triggers_replace = { a = \"over\" }\n}",
            "resource \"terraform_data\" \"r@\" {\n  count = 3\n}",
            "resource \"terraform_data\" \"r@\" {\n  for_each = toset([\"x\"])\n}",
            "resource \"terraform_data\" \"r@\" {\n  lifecycle {\n    prevent_destroy = true\n  }\n}",
            "resource \"terraform_data\" \"r@\" {\n  lifecycle {\n    ignore_changes        = all\n    create_before_destroy = false\n  }\n}",
            "resource \"terraform_data\" \"r@\" {\n  lifecycle {\n    ignore_changes = []\n    replace_triggered_by = [terraform_data.d@]\n  }\n}",
            "resource \"terraform_data\" \"r@\" {\n  provisioner \"local-exec\" {\n    command     = \"echo over\"\n    interpreter = [\"sh\", \"-c\"]\n    environment = { A = \"b\" }\n  }\n}",
            "resource \"terraform_data\" \"r@\" {\n  connection {\n    host = \"over\"\n    user = \"u\"\n  }\n}",
            "resource \"terraform_data\" \"r@\" {\n  lifecycle {\n    precondition {\n      condition     = path.root != \"\"\n      error_message = \"over.\"\n    }\n  }\n}",
            "resource \"terraform_data\" \"r@\" {\n  depends_on = [terraform_data.d@]\n}",
            "resource \"terraform_data\" \"r@\" {\n  provider = terraform.second\n}",
            "resource \"terraform_data\" \"other@\" {\n  input = 1\n}",
        ],
    },
    // Data sources and checks.
    Kind {
        base: &[
            "data \"terraform_remote_state\" \"s@\" {\n  count   = 0\n  backend = \"local\"\n  config  = { path = \"base.tfstate\" }\n}",
            "check \"c@\" {\n  data \"terraform_remote_state\" \"s@\" {\n    backend = \"local\"\n    config  = { path = \"state.json\" }\n  }\n  assert {\n    condition     = path.module != \"\"\n    error_message = \"base.\"\n  }\n}",
        ],
        over: &[
            "data \"terraform_remote_state\" \"s@\" {\n  config = { path = \"state.json\" }\n}",
            "data \"terraform_remote_state\" \"s@\" {\n  defaults = { a = 1 }\n  workspace = \"default\"\n}",
            "check \"c@\" {\n  assert {\n    condition     = path.root != \"\"\n    error_message = \"over.\"\n  }\n}",
        ],
    },
    // Calls.
    Kind {
        base: &[
            "module \"m@\" {\n  source = \"./child\"\n  a      = \"base\"\n}",
            "module \"m@\" {\n  source = \"./child\"\n  count  = 1\n  providers = {\n    terraform = terraform\n  }\n}",
        ],
        over: &[
            "module \"m@\" {\n  source = \"./child\"\n  b      = [1, \"over\"]\n}",
            "module \"m@\" {\n  source   = \"./child\"\n  for_each = { k = 1 }\n}",
            "module \"m@\" {\n  source = \"./child\"\n  a      = null\n  providers = {}\n}",
            "module \"m@\" {\n  source = \"./child\"\n  providers = {\n    terraform = terraform.second\n  }\n}",
            "module \"m@\" {\n  depends_on = [terraform_data.r1]\n}",
        ],
    },
    // Blocks without override.
    Kind {
        base: &[
            "moved {\n  from = terraform_data.old@\n  to   = terraform_data.new@\n}\nresource \"terraform_data\" \"new@\" {\n}",
            "removed {\n  from = terraform_data.gone@\n  lifecycle {\n    destroy = false\n  }\n}",
            "import {\n  to = terraform_data.i@\n  id = \"id@\"\n}\nresource \"terraform_data\" \"i@\" {\n}",
        ],
        over: &[
            "moved {\n  from = terraform_data.a@\n  to   = terraform_data.b@\n}",
            "removed {\n  from = terraform_data.other@\n  lifecycle {\n    destroy = false\n  }\n}",
        ],
    },
    // Provider configurations.
    Kind {
        base: &["provider \"terraform\" {\n}"],
        over: &["provider \"terraform\" {\n}"],
    },
    Kind {
        base: &["provider \"terraform\" {\n  alias = \"p@\"\n}"],
        over: &["provider \"terraform\" {\n  alias = \"p@\"\n}"],
    },
];

/// The same in JSON, by the beginnings of the bases that they override.
const JSON: &[(&str, &str)] = &[
    (
        "locals {\n  l@",
        r#"{"locals": {"l@": {"a": "${1 + 1}", "b": "${\"x\"}-%%{y", "c": [null, true, 1.50]}}}"#,
    ),
    (
        "variable \"v@\" {\n  default = \"base\"",
        r#"{"variable": {"v@": {"default": "${x} %{y"}}}"#,
    ),
    (
        "output \"o@\"",
        r#"{"output": {"o@": {"value": ["${path.module}", "$${x}"], "description": "${d}"}}}"#,
    ),
    (
        "resource \"terraform_data\" \"r@\"",
        r#"{"resource": {"terraform_data": {"r@": {"input": {"a b": "${upper(\"x\")}"}, "lifecycle": {"ignore_changes": ["input"]}, "provisioner": [{"local-exec": {"command": "echo ${self.id}"}}]}}}}"#,
    ),
    (
        "module \"m@\"",
        r#"{"module": {"m@": {"source": "./child", "b": "${[1]}", "providers": {"terraform": "terraform.second"}}}}"#,
    ),
];

/// Provider configurations that override files refer to.
const SECOND: &str = "terraform {\n  required_providers {\n    terraform = { source = \"terraform.io/builtin/terraform\" }\n  }\n}\nprovider \"terraform\" {\n  alias = \"second\"\n}\n";

/// The files of a module.
fn files(number: u64) -> Vec<(String, String)> {
    let mut seed = Seed::new(number);
    let mut main = vec![SECOND.to_owned(), String::new()];
    let mut over = vec![String::new(); 3];
    let mut json: Vec<String> = Vec::new();
    let mut last_settings = 0;
    for (at, kind) in KINDS.iter().enumerate() {
        // Settings may be there once, and most other kinds twice.
        // Names without a mark may be there once.
        let is_single = at == 0 || kind.base.iter().all(|base| !base.contains('@'));
        let count = if is_single { 1 } else { 1 + seed.below(2) };
        for copy in 0..count {
            if seed.below(5) == 0 {
                continue;
            }
            let name = (at * 10 + copy).to_string();
            let file = seed.below(2);
            let base = seed.pick(kind.base).replace('@', &name);
            writeln!(main[file], "{base}\n").unwrap();
            let start = |start: &str| base.starts_with(&start.replace('@', &name));
            let piece = JSON.iter().find(|(of, _)| start(of));
            if let Some((_, piece)) = piece.filter(|_| seed.below(4) == 0) {
                json.push(piece.replace('@', &name));
            }
            for _ in 0..seed.below(3) {
                // Most of what the programs refuse is left out, or every module would be refused.
                let index = seed.below(kind.over.len());
                let text = kind.over[index];
                let is_refused = [
                    "depends_on = [",
                    "validation {",
                    "precondition {",
                    "nope@",
                    "other@\" {\n  input",
                    "assert {",
                    "moved {",
                ];
                if is_refused.iter().any(|part| text.contains(part)) && seed.below(12) > 0 {
                    continue;
                }
                let file = seed.below(3);
                // A backend may be there once in a file.
                if at == 0 && text.contains("backend") {
                    if last_settings & (1 << file) != 0 {
                        continue;
                    }
                    last_settings |= 1 << file;
                }
                writeln!(over[file], "{}\n", text.replace('@', &name)).unwrap();
            }
        }
    }
    let names = ["main.tf", "more.tf"].into_iter().zip(main);
    let overrides = ["a_override.tf", "b_override.tf", "override.tf"]
        .into_iter()
        .zip(over);
    let json = (!json.is_empty()).then(|| ("c_override.tf.json", format!("[{}]", json.join(","))));
    names
        .chain(overrides)
        .chain(json)
        .filter(|(_, text)| !text.is_empty())
        .map(|(name, text)| (name.to_owned(), text))
        .collect()
}

/// How a module ended.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum End {
    /// The plans of both are the same.
    Same,
    /// Both are refused, under this title.
    Refused(String),
    /// The program itself crashes on the original.
    Crashed,
    /// lockctl warns that no text has the meaning of the module.
    Doubtful,
}

/// Compares a module with what `config` prints of it, in a directory of its own.
pub(super) fn compare(program: &Terraform, lab: &Lab, number: u64) -> Result<End, String> {
    let (original, printed) = (format!("m{number}/original"), format!("m{number}/printed"));
    for (name, text) in files(number) {
        // OpenTofu reads the one and not the other.
        let is_twin = program.rules.is_opentofu() && name == "more.tf" && number.is_multiple_of(4);
        if is_twin {
            lab.write(
                &format!("{original}/more.tf"),
                "locals {\n  hidden = 1\n}\n",
            );
        }
        let name = if is_twin {
            "more.tofu".to_owned()
        } else {
            name
        };
        lab.write(&format!("{original}/{name}"), text);
    }
    for dir in [&original, &printed] {
        lab.write(&format!("{dir}/child/main.tf"), CHILD);
        lab.write(&format!("{dir}/state.json"), "{\"version\": 4, \"terraform_version\": \"1.0.0\", \"serial\": 1, \"lineage\": \"x\", \"outputs\": {}, \"resources\": []}");
    }
    let outcome = lockctl(lab, program, &["config", &original]);
    let wanted = plan(program, lab, &original, &original);
    // Terraform 1.11 does so where an override adds `for_each` to `count`.
    if wanted.as_ref().is_err_and(|said| said.contains("CRASH")) {
        return Ok(End::Crashed);
    }
    if outcome.code == 2 {
        return match wanted {
            Err(said) => Ok(refused(&said)),
            Ok(_) => Err(format!("only lockctl refuses it: {}", outcome.stderr)),
        };
    }
    let name = if program.rules.is_opentofu() {
        "main.tofu"
    } else {
        "main.tf"
    };
    lab.write(&format!("{printed}/{name}"), &outcome.stdout);
    let got = plan(program, lab, &printed, &original);
    let text = &outcome.stdout;
    let end = match (wanted, got) {
        (Err(said), Err(_)) => refused(&said),
        (Ok(wanted), Ok(got)) if wanted == got => End::Same,
        _ if !outcome.stderr.is_empty() && outcome.stderr.contains("warning") => {
            return Ok(End::Doubtful);
        }
        (Ok(wanted), Ok(got)) => {
            let lines = super::dynamic::difference("plan", &wanted, &got);
            return Err(format!("{}\n{text}", lines.join("\n")));
        }
        (Err(said), Ok(_)) => return Err(format!("only the original is refused: {said}\n{text}")),
        (Ok(_), Err(said)) => return Err(format!("only the printed is refused: {said}\n{text}")),
    };
    // What is printed stays as it is.
    let (formatted, said) = program.run(lab, &printed, &["fmt", "-check", "-diff"]);
    if !formatted {
        return Err(format!("fmt changes it: {said}"));
    }
    let again = lockctl(lab, program, &["config", "--no-places", &printed]);
    let before = lockctl(lab, program, &["config", "--no-places", &original]);
    if again.stdout != before.stdout {
        return Err(format!(
            "printed again it is\n{}\nand not\n{}",
            again.stdout, before.stdout
        ));
    }
    Ok(end)
}

/// Returns the title of the first error.
fn refused(said: &str) -> End {
    let title = said.lines().find_map(|line| line.strip_prefix("Error: "));
    End::Refused(title.unwrap_or(said).to_owned())
}

/// Plans a module; returns everything but what depends on time.
fn plan(program: &Terraform, lab: &Lab, dir: &str, original: &str) -> Result<Value, String> {
    let (succeeded, said) = program.run(lab, dir, &["init", "-no-color", "-input=false"]);
    if !succeeded {
        return Err(said);
    }
    let (is_valid, said) = program.run(lab, dir, &["validate", "-no-color"]);
    if !is_valid {
        return Err(said);
    }
    let args = ["plan", "-no-color", "-input=false", "-out=plan"];
    let (succeeded, said) = program.run(lab, dir, &args);
    if !succeeded {
        return Err(said);
    }
    let json = program.succeeds(lab, dir, &["show", "-json", "plan"]);
    let mut plan: Value = serde_json::from_str(&json).unwrap();
    for part in ["timestamp", "prior_state", "relevant_attributes"] {
        plan.as_object_mut().unwrap().remove(part);
    }
    if lab.path(&format!("{original}/c_override.tf.json")).exists() {
        without_constants(&mut plan["configuration"]);
    }
    Ok(plan)
}

/// Removes values that the program writes as it finds them: those of JSON files are no templates there.
fn without_constants(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.remove("constant_value");
            members.values_mut().for_each(without_constants);
        }
        Value::Array(items) => items.iter_mut().for_each(without_constants),
        _ => {}
    }
}
