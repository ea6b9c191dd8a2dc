//! Project files, CLI configuration, units of Terragrunt, exported facts, output of the programs.

use lockctl::store::import;

use super::{Case, Reader, Work, case, nested, numbered, repeated, within};

const LOCK: (&str, &str) = (
    ".terraform.lock.hcl",
    "provider \"registry.terraform.io/hashicorp/aws\" {\n  version = \"1.0.0\"\n}\n",
);

const USED: (&str, &str) = (
    "main.tf",
    "terraform {\n  required_providers {\n    aws = { source = \"hashicorp/aws\" }\n  }\n}\n",
);

const GIT: (&str, &str) = (".git/HEAD", "ref: refs/heads/main\n");

/// Native syntax that no schema has.
macro_rules! syntax {
    ($($more:expr),* $(,)?) => {
        &[
            case("repetitive", "signs of equality", |bytes| repeated(bytes, "=\n")),
            case("repetitive", "names", |bytes| repeated(bytes, "x=\n")),
            case("repetitive", "blocks", |bytes| repeated(bytes, "a{}\n")),
            case("repetitive", "no UTF-8", |bytes| vec![0xff; bytes]),
            case("deep", "blocks", |bytes| nested(bytes, "a {\n", "", "}\n").into()),
            case("deep", "open lists", |bytes| repeated(bytes, "[")),
            case("many", "arguments", |bytes| {
                numbered(bytes, |n| format!("a{n} = 1\n")).into()
            }),
            case("long", "line", |bytes| repeated(bytes, "x")),
            $($more),*
        ]
    };
}

const PROJECT: &[Case] = syntax![
    case("wide", "platforms", |bytes| {
        within(
            "platforms = [",
            &numbered(bytes, |n| format!("\"os{n}_a\",")),
            "]\n",
        )
    }),
    case("wide", "roots", |bytes| {
        within(
            "roots = [",
            &numbered(bytes, |n| format!("\"**/a{n}/**\",")),
            "]\n",
        )
    }),
    case("wide", "nested patterns", |bytes| {
        let pattern = format!("\"{}\",", nested(400, "{", "a,b", "}"));
        within(
            "roots = [",
            &pattern.repeat(bytes.div_ceil(pattern.len())),
            "]\n",
        )
    }),
    case("long", "pattern", |bytes| within(
        "roots = [\"",
        &"**/".repeat(bytes / 3),
        "\"]\n"
    )),
    case("many", "rules", |bytes| {
        numbered(bytes, |n| {
            format!(
                "rule \"missing-provider\" {{\n  level = \"off\"\n  provider = \"acme/x{n}\"\n}}\n"
            )
        })
        .into()
    }),
    case("many", "providers", |bytes| {
        numbered(bytes, |n| {
            format!("provider \"acme/x{n}\" {{\n platforms = [\"a_b\"]\n}}\n")
        })
        .into()
    }),
    case("many", "allowed addresses", |bytes| {
        within(
            "policy {\n allow = [",
            &numbered(bytes, |n| format!("\"acme/x{n}\",")),
            "]\n}\n",
        )
    }),
    case("almost right", "rules", |bytes| {
        numbered(bytes, |n| format!("rule \"missing-provide{n}\" {{\n}}\n")).into()
    }),
];

const CLI: &[Case] = syntax![
    case("many", "credentials", |bytes| {
        numbered(bytes, |n| {
            format!("credentials \"h{n}.example\" {{\n token = \"t\"\n}}\n")
        })
        .into()
    }),
    case("many", "hosts", |bytes| {
        numbered(bytes, |n| {
            format!("host \"h{n}.example\" {{\n services = {{}}\n}}\n")
        })
        .into()
    }),
    case("many", "methods", |bytes| {
        let all = "direct {\n include = [\"acme/*\"]\n}\n".repeat(bytes / 32);
        within("provider_installation {\n", &all, "}\n")
    }),
    case("wide", "patterns", |bytes| {
        let all = numbered(bytes, |n| format!("\"acme/x{n}\","));
        within(
            "provider_installation {\n direct {\n  exclude = [",
            &all,
            "]\n }\n}\n",
        )
    }),
    case("repetitive", "variables", |bytes| {
        within("plugin_cache_dir = \"", &"$HOME".repeat(bytes / 5), "\"\n")
    }),
    case("deep", "templates", |bytes| {
        within("plugin_cache_dir = \"", &"${".repeat(bytes / 2), "\"\n")
    }),
    case("almost right", "JSON", |bytes| within(
        "{\"credentials\":{",
        &"\"a\":{},".repeat(bytes / 7),
        "}"
    )),
];

const UNIT: &[Case] = syntax![
    case("many", "includes", |bytes| {
        numbered(bytes, |n| {
            format!("include \"i{n}\" {{\n path = \"i{n}.hcl\"\n}}\n")
        })
        .into()
    }),
    case("many", "dependencies", |bytes| {
        numbered(bytes, |n| {
            format!("dependency \"d{n}\" {{\n config_path = \"../d{n}\"\n}}\n")
        })
        .into()
    }),
    case("many", "generated files", |bytes| {
        numbered(bytes, |n| {
            format!("generate \"g{n}\" {{\n path = \"g{n}.tf\"\n if_exists = \"overwrite\"\n contents = \"\"\n}}\n")
        })
        .into()
    }),
    case("many", "generated configuration", |bytes| {
        numbered(bytes, |n| {
            format!("generate \"g{n}\" {{\n path = \"g{n}.tf\"\n if_exists = \"overwrite\"\n contents = \"resource \\\"a{n}_x\\\" \\\"x\\\" {{}}\\n\"\n}}\n")
        })
        .into()
    }),
    case("many", "values that depend on each other", |bytes| {
        let values = numbered(bytes, |n| format!("a{} = local.a{n}\n", n + 1));
        within(
            "locals {\n",
            &values,
            "}\nterraform {\n source = local.a1\n}\n",
        )
    }),
    case("many", "generated directories", |bytes| {
        numbered(bytes, |n| {
            format!("generate \"g{n}\" {{\n path = \"d{n}/g.tf\"\n if_exists = \"overwrite\"\n contents = \"\"\n}}\n")
        })
        .into()
    }),
    case("repetitive", "all local values", |bytes| {
        let inputs = numbered(bytes / 2, |n| format!("i{n} = local\n"));
        let locals = numbered(bytes / 2, |n| format!("a{n} = 1\n"));
        within(
            "inputs = {\n",
            &format!("{inputs}}}\nlocals {{\n{locals}"),
            "}\n",
        )
    }),
    case("repetitive", "itself", |bytes| {
        let reads = numbered(bytes, |n| {
            format!("a{n} = read_terragrunt_config(\"terragrunt.hcl\")\n")
        });
        within("locals {\n", &reads, "}\n")
    }),
    case("repetitive", "itself under other names", |bytes| {
        let reads = numbered(bytes, |n| {
            format!(
                "a{n} = read_terragrunt_config(\"{}terragrunt.hcl\")\n",
                "./".repeat(n % 20)
            )
        });
        within("locals {\n", &reads, "}\n")
    }),
    case("repetitive", "searches", |bytes| {
        let reads = numbered(bytes, |n| {
            format!("a{n} = find_in_parent_folders(\"x{n}\", \"\")\n")
        });
        within("locals {\n", &reads, "}\n")
    }),
    case("repetitive", "doubled text", |bytes| {
        let doubled = numbered(bytes, |n| {
            format!("a{} = \"${{local.a{n}}}${{local.a{n}}}\"\n", n + 1)
        });
        within("locals {\na0 = \"x\"\n", &doubled, "}\n")
    }),
    case("wide", "inputs", |bytes| {
        within(
            "inputs = {\n",
            &numbered(bytes, |n| format!("a{n} = 1\n")),
            "}\n",
        )
    }),
    case("wide", "inputs of computed values", |bytes| {
        let inputs = numbered(bytes, |n| format!("a{n} = get_env(\"A\", \"b\")\n"));
        within("inputs = {\n", &inputs, "}\n")
    }),
    case("almost right", "includes of nothing", |bytes| {
        repeated(bytes, "include {\n path = find_in_parent_folders()\n}\n")
    }),
];

const IGNORED: &[Case] = &[
    case("many", "patterns", |bytes| {
        numbered(bytes, |n| format!("a{n}*/**\n")).into()
    }),
    case("many", "short patterns", |bytes| {
        numbered(bytes, |n| format!("{n}\n")).into()
    }),
    case("many", "negations", |bytes| {
        numbered(bytes, |n| format!("!a{n}*\n")).into()
    }),
    case("wide", "classes", |bytes| {
        repeated(bytes, &format!("{}\n", "[a-z]".repeat(90)))
    }),
    case("wide", "stars", |bytes| {
        repeated(bytes, &format!("{}b\n", "*a".repeat(200)))
    }),
    case("deep", "choices", |bytes| {
        repeated(bytes, &format!("{}\n", nested(500, "{", "a,b", "}")))
    }),
    case("long", "line", |bytes| repeated(bytes, "a")),
    case("long", "line of stars", |bytes| repeated(bytes, "**/")),
    case("repetitive", "line ends", |bytes| repeated(bytes, "\n")),
    case("repetitive", "no UTF-8", |bytes| vec![0xff; bytes]),
    case("almost right", "classes", |bytes| repeated(bytes, "[a\n")),
];

const SUBMODULES: &[Case] = &[
    case("many", "submodules", |bytes| {
        numbered(bytes, |n| {
            format!("[submodule \"a{n}\"]\n\tpath = a{n}\n\turl = ../a{n}\n")
        })
        .into()
    }),
    case("repetitive", "one submodule", |bytes| {
        repeated(bytes, "[submodule \"a\"]\n\tpath = a\n\turl = ../a\n")
    }),
    case("repetitive", "line ends", |bytes| repeated(bytes, "\n")),
    case("wide", "settings", |bytes| {
        within(
            "[submodule \"a\"]\n",
            &numbered(bytes, |n| format!("path = a{n}\n")),
            "",
        )
    }),
    case("long", "path", |bytes| {
        within("[submodule \"a\"]\npath = ", &"a/".repeat(bytes / 2), "\n")
    }),
    case("almost right", "quotes", |bytes| {
        repeated(bytes, "[submodule \"a\\\n")
    }),
];

const FACTS: &[Case] = &[
    case("many", "facts", |bytes| {
        let lines = numbered(bytes, |n| {
            format!(
                "zh:{n:064x} h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= 123 registry.terraform.io/acme/x{n} 1.0.0 linux_amd64\n"
            )
        });
        within("# lockctl facts 1\n", &lines, "")
    }),
    case("many", "releases", |bytes| {
        let lines = numbered(bytes, |n| {
            format!("release registry.terraform.io/acme/x{n} 1.0.0 whole\n")
        });
        within("# lockctl facts 1\n", &lines, "")
    }),
    case("wide", "statements on a release", |bytes| {
        let lines = numbered(bytes, |n| {
            format!("release registry.terraform.io/acme/x 1.0.0 other zh:{n:064x}\n")
        });
        within("# lockctl facts 1\n", &lines, "")
    }),
    case("wide", "signatures on a release", |bytes| {
        let lines = numbered(bytes, |n| {
            format!("release registry.terraform.io/acme/x 1.0.0 signed {n:032X}\n")
        });
        within("# lockctl facts 1\n", &lines, "")
    }),
    case("repetitive", "one fact", |bytes| {
        let fact = format!(
            "zh:{} h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= 123 registry.terraform.io/acme/x 1.0.0 linux_amd64\n",
            "ab".repeat(32)
        );
        within(
            "# lockctl facts 1\n",
            &fact.repeat(bytes.div_ceil(fact.len())),
            "",
        )
    }),
    case("repetitive", "line ends", |bytes| {
        within("# lockctl facts 1\n", &"\n".repeat(bytes), "")
    }),
    case("long", "line", |bytes| {
        within("# lockctl facts 1\n", &"a".repeat(bytes), "")
    }),
    case("almost right", "comments", |bytes| {
        within("# lockctl facts 1\n", &"# a\n".repeat(bytes / 4), "")
    }),
];

const OUTPUT: &[Case] = &[
    case("many", "errors", |bytes| {
        numbered(bytes, |n| {
            format!("\u{2577}\n\u{2502} Error: Failed to query available provider packages {n}\n\u{2502} \n\u{2502} Could not retrieve x{n}\n\u{2575}\n")
        })
        .into()
    }),
    case("many", "errors without a frame", |bytes| {
        numbered(bytes, |n| format!("Error: x{n}\n\ny\n")).into()
    }),
    case("many", "messages in JSON", |bytes| {
        numbered(bytes, |n| {
            format!("{{\"@level\":\"error\",\"type\":\"diagnostic\",\"diagnostic\":{{\"severity\":\"error\",\"summary\":\"x{n}\",\"detail\":\"y\"}}}}\n")
        })
        .into()
    }),
    case("repetitive", "one error", |bytes| {
        repeated(
            bytes,
            "\u{2577}\n\u{2502} Error: Inconsistent dependency lock file\n\u{2502} \n\u{2502}   - provider x\n\u{2575}\n",
        )
    }),
    case("repetitive", "frames", |bytes| {
        repeated(bytes, "\u{2577}\n")
    }),
    case("repetitive", "bars", |bytes| repeated(bytes, "\u{2502} ")),
    case("repetitive", "colours", |bytes| repeated(bytes, "\x1b[31m")),
    case("repetitive", "line ends", |bytes| repeated(bytes, "\n")),
    case("long", "error", |bytes| {
        within("Error: ", &"word ".repeat(bytes / 5), "\n")
    }),
    case("long", "text of an error", |bytes| {
        within("Error: Unsupported\n\n", &"word ".repeat(bytes / 5), "\n")
    }),
    case("deep", "JSON", |bytes| repeated(bytes, "{\"diagnostic\":")),
    case("almost right", "colours", |bytes| repeated(bytes, "\x1b[")),
];

const GLOBAL: &[&str] = &["verify", "--cli-config", "rc"];

pub(super) fn readers() -> Vec<Reader> {
    vec![
        Reader::beside(
            "project file",
            ".lockctl.hcl",
            &["verify"],
            &[LOCK, USED],
            PROJECT,
        )
        .up_to(250_000),
        Reader::beside(
            "gitignore",
            ".gitignore",
            &["verify", "-r"],
            &[LOCK, USED, GIT],
            IGNORED,
        ),
        Reader::beside(
            "gitmodules",
            ".gitmodules",
            &["verify", "-r"],
            &[LOCK, USED, GIT],
            SUBMODULES,
        ),
        Reader::beside("CLI configuration", "rc", GLOBAL, &[LOCK, USED], CLI),
        Reader::beside(
            "Terragrunt unit",
            "terragrunt.hcl",
            &["verify"],
            &[LOCK],
            UNIT,
        ),
        Reader::library("exported facts", facts, FACTS),
        Reader::command("output of the programs", "", &["explain", "-"], OUTPUT),
    ]
}

fn facts(input: Vec<u8>) -> Work {
    Box::new(move || drop(std::str::from_utf8(&input).map(import)))
}
