//! Configuration in both syntaxes, values of variables, states and manifests.

use super::{Case, Reader, case, nested, numbered, repeated, within};

const ENTRY: (&str, &str) = (
    ".terraform.lock.hcl",
    "provider \"registry.terraform.io/hashicorp/aws\" {\n  version = \"1.0.0\"\n}\n",
);

const USED: (&str, &str) = (
    "main.tf",
    "terraform {\n  required_providers {\n    aws = { source = \"hashicorp/aws\" }\n  }\n}\n",
);

const VARIABLE: (&str, &str) = (
    "main.tf",
    "variable \"v\" {\n  default = \"./m\"\n}\nmodule \"m\" {\n  source = var.v\n}\n",
);

const CALL: (&str, &str) = (
    "main.tf",
    "module \"a\" {\n  source  = \"acme/a/x\"\n  version = \"1.0.0\"\n}\n",
);

const NATIVE: &[Case] = &[
    case("many", "resources", |bytes| {
        numbered(bytes, |n| format!("resource \"alpha_x\" \"r{n}\" {{}}\n")).into()
    }),
    case("many", "types", |bytes| {
        numbered(bytes, |n| format!("resource \"a{n}_x\" \"r\" {{}}\n")).into()
    }),
    case("many", "variables", |bytes| {
        numbered(bytes, |n| format!("variable \"v{n}\" {{}}\n")).into()
    }),
    case("many", "values that depend on each other", |bytes| {
        let values = numbered(bytes, |n| format!("a{} = local.a{n}\n", n + 1));
        let call = "}\nmodule \"m\" {\n  source = local.a1\n}\n";
        within("locals {\n", &values, call)
    }),
    case("many", "calls of nothing", |bytes| {
        numbered(bytes, |n| {
            format!("module \"m{n}\" {{\n source = \"./m{n}\"\n}}\n")
        })
        .into()
    }),
    case("many", "remote calls", |bytes| {
        numbered(bytes, |n| {
            format!("module \"m{n}\" {{\n source = \"a/b/c{n}\"\n}}\n")
        })
        .into()
    }),
    case("many", "calls of git repositories", |bytes| {
        numbered(bytes, |n| {
            format!(
                "module \"m{n}\" {{\n source = \"git::https://h.example/{n}.git?ref=v{n}\"\n}}\n"
            )
        })
        .into()
    }),
    case("many", "aliases", |bytes| {
        numbered(bytes, |n| {
            format!("provider \"a\" {{\n alias = \"a{n}\"\n}}\n")
        })
        .into()
    }),
    case("many", "moves", |bytes| {
        numbered(bytes, |n| {
            format!("moved {{\n from = a_x.a{n}\n to = a_x.b{n}\n}}\n")
        })
        .into()
    }),
    case("many", "required versions", |bytes| {
        numbered(bytes, |n| {
            format!("terraform {{\n required_version = \">= 1.{n}\"\n}}\n")
        })
        .into()
    }),
    case("wide", "required providers", |bytes| {
        let entries = numbered(bytes, |n| {
            format!("a{n} = {{ source = \"x/a{n}\", version = \"1.{n}\" }}\n")
        });
        within("terraform {\nrequired_providers {\n", &entries, "}\n}\n")
    }),
    case("wide", "entries of one address", |bytes| {
        let entries = numbered(bytes, |n| format!("a{n} = {{ source = \"x/a\" }}\n"));
        within("terraform {\nrequired_providers {\n", &entries, "}\n}\n")
    }),
    case("wide", "conditions", |bytes| {
        let terms = numbered(bytes, |n| format!(">= 1.{n}, "));
        let head = "terraform {\nrequired_providers {\na = { source = \"x/a\", version = \"";
        within(head, &terms, "< 9\" }\n}\n}\n")
    }),
    case("wide", "conditions that exclude each other", |bytes| {
        numbered(bytes, |n| {
            format!("provider \"aws\" {{\n alias = \"a{n}\"\n version = \"1.{n}\"\n}}\n")
        })
        .into()
    }),
    case("wide", "configuration aliases", |bytes| {
        let aliases = numbered(bytes, |n| format!("a.b{n},"));
        let head = "terraform {\nrequired_providers {\na = { configuration_aliases = [";
        within(head, &aliases, "] }\n}\n}\n")
    }),
    case("wide", "arguments", |bytes| {
        within(
            "locals {\n",
            &numbered(bytes, |n| format!("a{n} = 1\n")),
            "}\n",
        )
    }),
    case("wide", "items of an object", |bytes| {
        within(
            "locals {\na = {\n",
            &numbered(bytes, |n| format!("a{n} = 1\n")),
            "}\n}\n",
        )
    }),
    case("wide", "elements of a list", |bytes| {
        within("locals {\na = [", &"1,".repeat(bytes / 2), "]\n}\n")
    }),
    case("wide", "interpolations", |bytes| {
        within("locals {\na = \"", &"${b}".repeat(bytes / 4), "\"\n}\n")
    }),
    case("wide", "labels", |bytes| {
        within("resource ", &"\"a\" ".repeat(bytes / 4), "{}\n")
    }),
    case("wide", "steps", |bytes| {
        within("locals {\na = a", &".b".repeat(bytes / 2), "\n}\n")
    }),
    case("wide", "sums", |bytes| {
        within("locals {\na = 1", &" + 1".repeat(bytes / 4), "\n}\n")
    }),
    case("wide", "dependencies", |bytes| {
        let all = numbered(bytes, |n| format!("a_x.b{n}, "));
        within("resource \"a_x\" \"r\" {\n depends_on = [", &all, "]\n}\n")
    }),
    case("repetitive", "one resource", |bytes| {
        repeated(bytes, "resource \"alpha_x\" \"r\" {}\n")
    }),
    case("repetitive", "one key", |bytes| {
        within("locals {\na = {\n", &"a = 1\n".repeat(bytes / 6), "}\n}\n")
    }),
    case("repetitive", "signs of equality", |bytes| {
        repeated(bytes, "=\n")
    }),
    case("repetitive", "names", |bytes| repeated(bytes, "x=\n")),
    case("repetitive", "blocks", |bytes| repeated(bytes, "a{}\n")),
    case("repetitive", "blocks in a line", |bytes| {
        repeated(bytes, "a{}")
    }),
    case("repetitive", "numbers", |bytes| repeated(bytes, "1\n")),
    case("repetitive", "quotes", |bytes| repeated(bytes, "\"")),
    case("repetitive", "line ends", |bytes| repeated(bytes, "\n")),
    case("repetitive", "no UTF-8", |bytes| vec![0xff; bytes]),
    case("deep", "blocks", |bytes| {
        nested(bytes, "a {\n", "", "}\n").into()
    }),
    case("deep", "open blocks", |bytes| repeated(bytes, "a {\n")),
    case("deep", "closed braces", |bytes| repeated(bytes, "}\n")),
    case("deep", "lists", |bytes| {
        within("locals {\na = ", &nested(bytes, "[", "", "]"), "\n}\n")
    }),
    case("deep", "parentheses", |bytes| {
        within("locals {\na = ", &nested(bytes, "(", "1", ")"), "\n}\n")
    }),
    case("deep", "choices", |bytes| {
        within("locals {\na = ", &"x ? 1 : ".repeat(bytes / 8), "1\n}\n")
    }),
    case("deep", "templates", |bytes| {
        within(
            "locals {\na = ",
            &nested(bytes, "\"${", "1", "}\""),
            "\n}\n",
        )
    }),
    case("deep", "directives", |bytes| {
        let text = nested(bytes, "%{if true}", "x", "%{endif}");
        within("locals {\na = \"", &text, "\"\n}\n")
    }),
    case("deep", "heredocs", |bytes| {
        within(
            "locals {\na = ",
            &numbered(bytes, |n| format!("<<E{n}\n${{")),
            "",
        )
    }),
    case("deep", "comments", |bytes| repeated(bytes, "/*")),
    case("long", "name", |bytes| repeated(bytes, "a")),
    case("long", "string", |bytes| {
        within("locals {\na = \"", &"x".repeat(bytes), "\"\n}\n")
    }),
    case("long", "heredoc", |bytes| {
        within("locals {\na = <<-E\n", &"  x\n".repeat(bytes / 4), "E\n}\n")
    }),
    case("long", "line of a heredoc", |bytes| {
        within("locals {\na = <<E\n", &"${b}".repeat(bytes / 4), "\nE\n}\n")
    }),
    case("long", "source", |bytes| {
        within(
            "module \"m\" {\n source = \"./",
            &"a/".repeat(bytes / 2),
            "\"\n}\n",
        )
    }),
    case("long", "source of a provider", |bytes| {
        let head = "terraform {\nrequired_providers {\na = { source = \"";
        within(head, &"a/".repeat(bytes / 2), "\" }\n}\n}\n")
    }),
    case("long", "number", |bytes| {
        within("locals {\na = ", &"9".repeat(bytes), "\n}\n")
    }),
    case("almost right", "quotes that are not closed", |bytes| {
        repeated(bytes, "resource \"a\n")
    }),
    case("almost right", "arguments without a value", |bytes| {
        repeated(bytes, "a = \n")
    }),
    case("almost right", "blocks in a line", |bytes| {
        repeated(bytes, "resource \"a_x\" \"r\" { a = 1, b = 2 }\n")
    }),
    case("almost right", "escapes", |bytes| {
        within("locals {\na = \"", &"\\z".repeat(bytes / 2), "\"\n}\n")
    }),
    case("almost right", "heredocs that are not closed", |bytes| {
        numbered(bytes, |n| format!("a = <<E{n}\n")).into()
    }),
    case("almost right", "required providers", |bytes| {
        let entries = numbered(bytes, |n| {
            format!("a{n} = {{ source = \"_\", version = \"x\" }}\n")
        });
        within("terraform {\nrequired_providers {\n", &entries, "}\n}\n")
    }),
    case("almost right", "unknown blocks", |bytes| {
        numbered(bytes, |n| format!("resourc{n} \"a\" {{}}\n")).into()
    }),
];

const EXPRESSIONS: &[Case] = &[
    case("wide", "a product of lists", |bytes| {
        let list = "[0,1,2,3,4,5,6,7,8,9],".repeat(bytes / 22);
        value(&format!("join(\"\", setproduct({list})...)"))
    }),
    case("wide", "a union of ranges", |bytes| {
        let ranges = numbered(bytes, |n| format!("range({n}, {}),", n + 1000));
        value(&format!("join(\"\", setunion({ranges}))"))
    }),
    case("wide", "a merge of objects", |bytes| {
        let objects = numbered(bytes, |n| format!("{{ a{n} = {n} }},"));
        value(&format!("jsonencode(merge({objects}))"))
    }),
    case("wide", "a flat list", |bytes| {
        value(&format!(
            "jsonencode(flatten([{}]))",
            "[[1]],".repeat(bytes / 6)
        ))
    }),
    case("wide", "distinct elements", |bytes| {
        let list = numbered(bytes, |n| format!("\"{n}\","));
        value(&format!("join(\"\", distinct([{list}]))"))
    }),
    case("repetitive", "doubled text", |bytes| {
        let doubled = numbered(bytes, |n| {
            format!("a{} = \"${{local.a{n}}}${{local.a{n}}}\"\n", n + 1)
        });
        let last = doubled.lines().count();
        let tail = format!("}}\nmodule \"m\" {{\n  source = local.a{last}\n}}\n");
        within("locals {\na0 = \"x\"\n", &doubled, &tail)
    }),
    case("repetitive", "doubled lists", |bytes| {
        let doubled = numbered(bytes, |n| {
            format!("a{} = [local.a{n}, local.a{n}]\n", n + 1)
        });
        let last = doubled.lines().count();
        let tail = format!("}}\nmodule \"m\" {{\n  source = jsonencode(local.a{last})\n}}\n");
        within("locals {\na0 = \"x\"\n", &doubled, &tail)
    }),
    case("repetitive", "replaced text", |bytes| {
        let text = "ab".repeat(bytes / 4);
        value(&format!("replace(\"{text}\", \"/(a*)*b/\", \"{text}\")"))
    }),
    case("repetitive", "a pattern with counts", |bytes| {
        let pattern = "(a{1,100}){1,9}".repeat(bytes / 30);
        value(&format!(
            "regex(\"{pattern}\", \"{}\")",
            "a".repeat(bytes / 2)
        ))
    }),
    case("deep", "loops", |bytes| {
        let text = nested(bytes, "[for x in range(9) : ", "1", "]");
        value(&format!("jsonencode({text})"))
    }),
    case("deep", "loops of a few levels", |bytes| {
        let text = nested(150, "[for x in range(99) : ", "1", "]");
        value(&format!(
            "jsonencode([{}])",
            format!("{text},").repeat(bytes.div_ceil(text.len()))
        ))
    }),
    case("deep", "JSON", |bytes| {
        value(&format!("jsondecode(\"{}\")", "[".repeat(bytes)))
    }),
    case("deep", "YAML", |bytes| {
        value(&format!("yamldecode(\"{}\")", "[".repeat(bytes)))
    }),
    case("long", "YAML of many anchors", |bytes| {
        let text = numbered(bytes, |n| {
            format!("a{}: &a{} [*a{n},*a{n}]\\n", n + 1, n + 1)
        });
        value(&format!("jsonencode(yamldecode(\"a0: &a0 x\\n{text}\"))"))
    }),
    case("long", "text in base 64", |bytes| {
        value(&format!(
            "base64gzip(base64decode(\"{}\"))",
            "QUFB".repeat(bytes / 4)
        ))
    }),
    case("almost right", "a format", |bytes| {
        value(&format!("format(\"{}\")", "%1000d".repeat(bytes / 6)))
    }),
    case("many", "calls of functions", |bytes| {
        value(&format!(
            "join(\"\", [{}])",
            "upper(\"a\"),".repeat(bytes / 11)
        ))
    }),
    case("many", "ranges", |bytes| {
        value(&format!(
            "jsonencode([{}])",
            "range(1024),".repeat(bytes / 12)
        ))
    }),
];

const JSON: &[Case] = &[
    case("many", "resources", |bytes| {
        let all = numbered(bytes, |n| format!("\"a{n}\":{{}},"));
        within("{\"resource\":{\"a_x\":{", &all, "\"b\":{}}}}")
    }),
    case("many", "blocks", |bytes| {
        let all = "{},".repeat(bytes / 3);
        within("{\"resource\":{\"a_x\":{\"a\":[", &all, "{}]}}}")
    }),
    case("many", "calls", |bytes| {
        let all = numbered(bytes, |n| format!("\"a{n}\":{{\"source\":\"./a\"}},"));
        within("{\"module\":{", &all, "\"b\":{}}}")
    }),
    case("wide", "required providers", |bytes| {
        let all = numbered(bytes, |n| format!("\"a{n}\":{{\"source\":\"x/a{n}\"}},"));
        within(
            "{\"terraform\":{\"required_providers\":{",
            &all,
            "\"b\":{}}}}",
        )
    }),
    case("wide", "names", |bytes| {
        let all = numbered(bytes, |n| format!("\"a{n}\":1,"));
        within("{\"locals\":{", &all, "\"b\":1}}")
    }),
    case("wide", "names at the top", |bytes| {
        within(
            "{",
            &numbered(bytes, |n| format!("\"a{n}\":1,")),
            "\"b\":1}",
        )
    }),
    case("wide", "numbers", |bytes| {
        within("{\"locals\":{\"a\":[", &"0,".repeat(bytes / 2), "0]}}")
    }),
    case("wide", "empty names", |bytes| {
        within("{\"a\":[", &"{\"\":0},".repeat(bytes / 7), "0]}")
    }),
    case("wide", "templates", |bytes| {
        within("{\"locals\":{\"a\":\"", &"${a}".repeat(bytes / 4), "\"}}")
    }),
    case("wide", "strings of templates", |bytes| {
        within(
            "{\"locals\":{\"a\":[",
            &"\"${a}\",".repeat(bytes / 7),
            "0]}}",
        )
    }),
    case("repetitive", "one name", |bytes| {
        within("{\"locals\":{", &"\"a\":1,".repeat(bytes / 6), "\"b\":1}}")
    }),
    case("repetitive", "commas", |bytes| repeated(bytes, "+,")),
    case("repetitive", "white space", |bytes| repeated(bytes, " \n")),
    case("repetitive", "no UTF-8", |bytes| vec![0xff; bytes]),
    case("deep", "open lists", |bytes| repeated(bytes, "[")),
    case("deep", "open objects", |bytes| repeated(bytes, "{\"\":")),
    case("deep", "lists", |bytes| {
        within("{\"locals\":{\"a\":", &nested(bytes, "[", "", "]"), "}}")
    }),
    case("deep", "lists of the deepest kind", |bytes| {
        let deep = nested(240, "[", "", "],").replace("],]", "]]");
        let deep = deep.trim_end_matches(',').to_owned() + ",";
        within(
            "{\"locals\":{\"a\":[",
            &deep.repeat(bytes.div_ceil(deep.len())),
            "0]}}",
        )
    }),
    case("long", "string", |bytes| {
        within("{\"a\":\"", &"x".repeat(bytes), "\"}")
    }),
    case("long", "escapes", |bytes| {
        within(
            "{\"locals\":{\"a\":\"",
            &"\\u0061".repeat(bytes / 6),
            "\"}}",
        )
    }),
    case("long", "number", |bytes| {
        within("{\"a\":", &"9".repeat(bytes), "}")
    }),
    case("almost right", "smart quotes", |bytes| {
        within("{", &"\u{201c}a\u{201d}:1,".repeat(bytes / 10), "}")
    }),
    case("almost right", "missing commas", |bytes| {
        within("{\"a\":[", &"1 ".repeat(bytes / 2), "]}")
    }),
    case("almost right", "single quotes", |bytes| {
        within("{", &"'a':1,".repeat(bytes / 6), "}")
    }),
];

const VALUES: &[Case] = &[
    case("many", "values of nothing", |bytes| {
        numbered(bytes, |n| format!("a{n} = 1\n")).into()
    }),
    case("repetitive", "one value", |bytes| {
        repeated(bytes, "v = \"./m\"\n")
    }),
    case("wide", "list", |bytes| {
        within("v = [", &"1,".repeat(bytes / 2), "]\n")
    }),
    case("wide", "object", |bytes| {
        within(
            "v = {\n",
            &numbered(bytes, |n| format!("a{n} = 1\n")),
            "}\n",
        )
    }),
    case("long", "string", |bytes| {
        within("v = \"./", &"a/".repeat(bytes / 2), "\"\n")
    }),
    case("deep", "lists", |bytes| {
        within("v = ", &nested(bytes, "[", "", "]"), "\n")
    }),
    case("almost right", "blocks", |bytes| repeated(bytes, "v {}\n")),
];

const STATES: &[Case] = &[
    case("many", "resources", |bytes| {
        let all = numbered(bytes, |n| {
            format!("{{\"provider\":\"provider[\\\"a.b/c/d{n}\\\"]\"}},")
        });
        within("{\"version\":4,\"resources\":[", &all, "{}]}")
    }),
    case("many", "empty resources", |bytes| {
        within(
            "{\"version\":4,\"resources\":[",
            &"{},".repeat(bytes / 3),
            "{}]}",
        )
    }),
    case("almost right", "resources", |bytes| {
        let all = "{\"provider\":\"x\"},".repeat(bytes / 17);
        within("{\"version\":4,\"resources\":[", &all, "{}]}")
    }),
    case("wide", "instances", |bytes| {
        let all = "{\"provider\":\"x\"},".repeat(bytes / 17);
        within(
            "{\"version\":4,\"resources\":[{\"instances\":[",
            &all,
            "{}]}]}",
        )
    }),
    case("wide", "names", |bytes| {
        within(
            "{\"version\":4,",
            &numbered(bytes, |n| format!("\"a{n}\":1,")),
            "\"b\":1}",
        )
    }),
    case("repetitive", "one name", |bytes| {
        within("{", &"\"version\":4,".repeat(bytes / 12), "\"b\":1}")
    }),
    case("deep", "lists", |bytes| {
        within("{\"version\":4,\"x\":", &nested(bytes, "[", "", "]"), "}")
    }),
    case("long", "string", |bytes| {
        within("{\"version\":4,\"x\":\"", &"x".repeat(bytes), "\"}")
    }),
    case("long", "address", |bytes| {
        let all = format!(
            "{{\"provider\":\"provider[\\\"{}\\\"]\"}}",
            "a/".repeat(bytes / 2)
        );
        within("{\"version\":4,\"resources\":[", &all, "]}")
    }),
];

const MANIFESTS: &[Case] = &[
    case("many", "records", |bytes| {
        let all = numbered(bytes, |n| {
            format!("{{\"Key\":\"a{n}\",\"Source\":\"./m\",\"Dir\":\"m\"}},")
        });
        within("{\"Modules\":[", &all, "{}]}")
    }),
    case("many", "empty records", |bytes| {
        within("{\"Modules\":[", &"{},".repeat(bytes / 3), "{}]}")
    }),
    case("repetitive", "one record", |bytes| {
        let record = "{\"Key\":\"a\",\"Source\":\"registry.terraform.io/acme/a/x\",\"Version\":\"1.0.0\",\"Dir\":\"m\"},";
        within(
            "{\"Modules\":[",
            &record.repeat(bytes.div_ceil(record.len())),
            "{}]}",
        )
    }),
    case("deep", "keys", |bytes| {
        let record = format!("{{\"Key\":\"{}\",\"Dir\":\"m\"}}", "a.".repeat(bytes / 2));
        within("{\"Modules\":[", &record, "]}")
    }),
    case("deep", "lists", |bytes| {
        within("{\"Modules\":", &nested(bytes, "[", "", "]"), "}")
    }),
    case("long", "directory", |bytes| {
        let record = format!(
            "{{\"Key\":\"a\",\"Source\":\"registry.terraform.io/acme/a/x\",\"Version\":\"1.0.0\",\"Dir\":\"{}\"}}",
            "a/".repeat(bytes / 2)
        );
        within("{\"Modules\":[", &record, "]}")
    }),
];

pub(super) fn readers() -> Vec<Reader> {
    const VERIFY: &[&str] = &["verify"];
    vec![
        Reader::beside("configuration", "main.tf", VERIFY, &[ENTRY], NATIVE),
        Reader::beside(
            "configuration, JSON",
            "main.tf.json",
            VERIFY,
            &[ENTRY],
            JSON,
        ),
        Reader::beside(
            "configuration, expressions",
            "main.tf",
            &["verify", "--flavor", "opentofu"],
            &[ENTRY],
            EXPRESSIONS,
        ),
        super::overrides::reader(),
        Reader::beside(
            "values of variables",
            "terraform.tfvars",
            &["verify", "--flavor", "opentofu"],
            &[ENTRY, VARIABLE],
            VALUES,
        ),
        Reader::beside("state", "terraform.tfstate", VERIFY, &[ENTRY, USED], STATES),
        Reader::beside(
            "manifest of modules",
            ".terraform/modules/modules.json",
            VERIFY,
            &[ENTRY, CALL],
            MANIFESTS,
        ),
    ]
}

/// A module whose source is computed, because only such values are.
fn value(text: &str) -> Vec<u8> {
    within("module \"m\" {\n  source = ", text, "\n}\n")
}
