//! One file (and an override file) at a time: titles and lines, by flavor.
//!
//! What Terraform 1.11 says was tried with it; the others are recorded cases or follow from them.

use std::path::Path;

use crate::config::Settings;
use crate::config::load;
use crate::diag::{Severity, Texts};
use crate::flavor::Flavor::{self, *};
use crate::world::mem::MemFiles;

const ALL: &[Flavor] = &[Terraform1_11, Terraform1_15, Terraform1_16, OpenTofu1_12];
const TERRAFORM: &[Flavor] = &[Terraform1_11, Terraform1_15, Terraform1_16];
const OPENTOFU: &[Flavor] = &[OpenTofu1_12];
const SINCE_1_15: &[Flavor] = &[Terraform1_15, Terraform1_16];

/// Says what is wrong with some files, as `LINE title`.
fn faults(files: &[(&str, &str)], flavor: Flavor) -> Vec<String> {
    let mut texts = Texts::default();
    let files = MemFiles::with(files);
    let loaded = load(&files, &mut texts, Path::new(""), &Settings::new(flavor));
    let errors = loaded.diagnostics.iter();
    let errors = errors.filter(|error| error.severity == Severity::Error);
    let reported = errors.map(|error| {
        let label = error.primary.as_ref().expect("every error has a place");
        let line = texts.position(label.file, label.span.start).line;
        format!("{line} {}", error.title)
    });
    reported.collect()
}

#[track_caller]
fn check(flavors: &[Flavor], text: &str, expected: &[&str]) {
    for flavor in flavors {
        let files = [("main.tf", text), ("m/m.tf", "")];
        assert_eq!(faults(&files, *flavor), expected, "{flavor:?}: {text}");
    }
}

#[track_caller]
fn check_override(flavors: &[Flavor], base: &str, over: &str, expected: &[&str]) {
    for flavor in flavors {
        let files = [("main.tf", base), ("x_override.tf", over), ("m/m.tf", "")];
        assert_eq!(faults(&files, *flavor), expected, "{flavor:?}: {over}");
    }
}

/// Checks what stands in a resource from its second line on.
#[track_caller]
fn check_resource(flavors: &[Flavor], inside: &str, expected: &[&str]) {
    let text = format!("resource \"a_x\" \"x\" {{\n{inside}\n}}\n");
    check(flavors, &text, expected);
}

/// Checks what stands in the `lifecycle` block of a resource from its third line on.
#[track_caller]
fn check_lifecycle(flavors: &[Flavor], inside: &str, expected: &[&str]) {
    check_resource(flavors, &format!("lifecycle {{\n{inside}\n}}"), expected);
}

/// Checks what stands in a call from its third line on.
#[track_caller]
fn check_call(flavors: &[Flavor], inside: &str, expected: &[&str]) {
    let text = format!("module \"m\" {{\nsource = \"./m\"\n{inside}\n}}\n");
    check(flavors, &text, expected);
}

#[test]
fn names_are_names() {
    let resource = ["1 Invalid resource type name", "1 Invalid resource name"];
    check(ALL, r#"resource "a b" "0x" {}"#, &resource);
    let data = ["1 Invalid data source name", "1 Invalid data resource name"];
    check(ALL, r#"data "a b" "0x" {}"#, &data);
    let name = "1 Invalid ephemeral resource name";
    let ephemeral = r#"ephemeral "a b" "0x" {}"#;
    check(
        TERRAFORM,
        ephemeral,
        &["1 Invalid ephemeral resource type", name],
    );
    check(
        OPENTOFU,
        ephemeral,
        &["1 Invalid ephemeral resource type name", name],
    );
    let action = ["1 Invalid action type name", "1 Invalid action name"];
    check(SINCE_1_15, r#"action "a b" "0x" {}"#, &action);
    check(ALL, r#"resource "a-b" "_x-1" {}"#, &[]);
}

#[test]
fn nested_blocks_are_counted_and_some_names_are_kept() {
    for (kind, name) in [
        ("lifecycle", "lifecycle"),
        ("connection", "connection"),
        ("_", "escaping"),
    ] {
        let expected = format!("3 Duplicate {name} block");
        check_resource(ALL, &format!("{kind} {{}}\n{kind} {{}}"), &[&*expected]);
    }
    check_resource(
        ALL,
        "locals {}",
        &["2 Reserved block type name in resource block"],
    );
    check_resource(ALL, "provisioner {}", &["2 Missing type for provisioner"]);
    check_resource(
        ALL,
        "lifecycle \"x\" {}",
        &["2 Extraneous label for lifecycle"],
    );
    check_resource(ALL, "nope {}\nnope \"x\" {}\nlifecycle = 1", &[]);
    let inside = "connection {}\nconnection {}\nprovisioner \"x\" {}\nlocals {}";
    let data = format!("data \"a_x\" \"x\" {{\n{inside}\n}}");
    check(ALL, &data, &["5 Reserved block type name in data block"]);
    let ephemeral = format!("ephemeral \"a_x\" \"x\" {{\n{inside}\n}}");
    let reserved = "5 Reserved block type name in ephemeral block";
    check(TERRAFORM, &ephemeral, &[reserved]);
    let refused = |line| format!("{line} Invalid configuration block for ephemeral resource");
    let [a, b, c] = [2, 3, 4].map(refused);
    check(OPENTOFU, &ephemeral, &[&a, &b, &c, reserved]);
    let provider = "provider \"a\" {\n_ {}\n_ {}\nlifecycle {}\nlocals {}\nnope {}\n}";
    let reserved = "Reserved block type name in provider block";
    let [a, b] = [4, 5].map(|line| format!("{line} {reserved}"));
    check(ALL, provider, &["3 Duplicate escaping block", &a, &b]);
}

#[test]
fn a_block_says_once_how_often_it_counts() {
    let both = "count = 1\nfor_each = {}";
    let title = "Invalid combination of \"count\" and \"for_each\"";
    let [first, second] = [2, 3].map(|line| format!("{line} {title}"));
    check_resource(TERRAFORM, both, &[&*second]);
    check_resource(OPENTOFU, both, &[&*first]);
    let three = "for_each = {}\ncount = 1\nlifecycle {\nenabled = true\n}";
    check_resource(
        OPENTOFU,
        three,
        &["2 Invalid combination of \"count\", \"enabled\", and \"for_each\""],
    );
    let [first, second] = [2, 3].map(|line| format!("{line} {title}"));
    let action = format!("action \"a_x\" \"x\" {{\n{both}\n}}");
    check(SINCE_1_15, &action, &[&*second]);
    check_call(OPENTOFU, both, &[&*first.replace('2', "3")]);
    let nested = format!(
        "check \"c\" {{\ndata \"a_x\" \"x\" {{\n{both}\nlifecycle {{}}\n}}\nassert {{\n\
         condition = var.x\nerror_message = \"x\"\n}}\n}}\nvariable \"x\" {{}}\n"
    );
    check(
        ALL,
        &nested,
        &[
            "3 Invalid \"count\" attribute",
            "4 Invalid \"for_each\" attribute",
            "5 Invalid lifecycle block",
        ],
    );
}

#[test]
fn lifecycle_arguments_are_those_of_kind_and_flavor() {
    let unknown: &[&str] = &["3 Unsupported argument"];
    check_lifecycle(&[Terraform1_11, Terraform1_15], "destroy = true", unknown);
    check_lifecycle(&[Terraform1_16, OpenTofu1_12], "destroy = true", &[]);
    check_lifecycle(TERRAFORM, "enabled = true", unknown);
    check_lifecycle(OPENTOFU, "enabled = var.x", &[]);
    check_lifecycle(ALL, "nope {}", &["3 Unsupported block type"]);
    let data = "data \"a_x\" \"x\" {\nlifecycle {\nignore_changes = all\n}\n}";
    check(ALL, data, &["3 Invalid data resource lifecycle argument"]);
    let ephemeral = data.replacen("data", "ephemeral", 1);
    let title = "3 Invalid ephemeral resource lifecycle argument";
    check(TERRAFORM, &ephemeral, &[title]);
    let title = "2 Invalid lifecycle configuration for ephemeral resource";
    check(OPENTOFU, &ephemeral, &[title]);
    let wrong: &[&str] = &["3 Unsuitable value type"];
    for value in ["null", "1", "\"yes\"", "[]"] {
        check_lifecycle(ALL, &format!("create_before_destroy = {value}"), wrong);
    }
    check_lifecycle(ALL, "create_before_destroy = \"true\"", &[]);
    check_lifecycle(
        TERRAFORM,
        "prevent_destroy = var.x",
        &["3 Variables not allowed"],
    );
    check_lifecycle(OPENTOFU, "prevent_destroy = var.x", &[]);
}

#[test]
fn ignored_changes_are_all_or_names() {
    let check = |value: &str, expected: &[&str]| {
        check_lifecycle(ALL, &format!("ignore_changes = {value}"), expected);
    };
    check("all", &[]);
    check("[a[0].b, c[\"k\"], d.0.e, null, \"f\"]", &[]);
    check("[\n\"*\"]", &["3 Invalid ignore_changes wildcard"]);
    check(
        "[\n\"*\", a]",
        &[
            "3 Invalid ignore_changes wildcard",
            "4 Invalid ignore_changes ruleset",
        ],
    );
    for value in [
        "null",
        "\"all\"",
        "(all)",
        "[a.*.b]",
        "[a[b]]",
        "[(a)]",
        "[\"${a}\"]",
    ] {
        check(value, &["3 Invalid expression"]);
    }
}

#[test]
fn replacement_is_triggered_by_single_resources() {
    let check = |flavors: &[Flavor], item: &str, expected: &[&str]| {
        let text = format!("replace_triggered_by = [\n{item}\n]");
        check_lifecycle(flavors, &text, expected);
    };
    for item in [
        "a_y.y",
        "data.a.b",
        "a_z.z[0].q",
        "a_y.y[each.key]",
        "a_y.y[count.index].id",
        "lower(a_y.y.id)",
        "[for x in [1] : a_y.y[x]]",
    ] {
        check(ALL, item, &[]);
    }
    let expression = "4 Invalid replace_triggered_by expression";
    let reference = "4 Invalid reference in replace_triggered_by expression";
    check(ALL, "var.v", &[reference, expression]);
    check(ALL, "\"a_y.y\"", &[expression]);
    check(ALL, "a_y.y.id == a_z.z.id", &[expression]);
    let each = "4 Invalid each reference in replace_triggered_by expression";
    check(ALL, "a_y.y[each.value]", &[each]);
    let count = "4 Invalid count reference in replace_triggered_by expression";
    check(ALL, "a_y.y[count.nope]", &[count]);
    for item in ["a_y", "a_y[0]", "data.x", "each"] {
        check(ALL, item, &["4 Invalid reference"]);
    }
    check(ALL, "template.x", &["4 Reserved symbol name"]);
    check_lifecycle(
        ALL,
        "replace_triggered_by = a_y.y",
        &["3 Invalid expression"],
    );
}

#[test]
fn conditions_check_something_else_than_their_resource() {
    let missing = "3 Missing required argument";
    check_lifecycle(ALL, "precondition {}", &[missing, missing]);
    let good = "condition = var.x\nerror_message = \"x\"";
    check_lifecycle(ALL, &format!("postcondition {{\n{good}\n}}"), &[]);
    let constant = "precondition {\ncondition = 1 == 1\nerror_message = \"x\"\n}";
    check_lifecycle(ALL, constant, &["4 Invalid precondition expression"]);
    let own =
        "postcondition {\ncondition = a_x.x.id != \"\"\nerror_message = \"${a_x.x[0].id}\"\n}";
    check_lifecycle(
        ALL,
        own,
        &[
            "4 Invalid reference in postcondition",
            "5 Invalid reference in postcondition",
        ],
    );
    let more = format!("precondition {{\n{good}\nnope = 1\ninner {{}}\n}}");
    check_lifecycle(
        ALL,
        &more,
        &["6 Unsupported argument", "7 Unsupported block type"],
    );
}

#[test]
fn provisioners_have_few_words_of_their_own() {
    let check = |inside: &str, expected: &[&str]| {
        check_resource(
            ALL,
            &format!("provisioner \"local-exec\" {{\n{inside}\n}}"),
            expected,
        );
    };
    check(
        "when = \"destroy\"\non_failure = continue\ncommand = self.x",
        &[],
    );
    for word in ["never", "true", "(destroy)", "a.b", "\"${a}\""] {
        check(&format!("when = {word}"), &["3 Invalid \"when\" keyword"]);
    }
    check("on_failure = ignore", &["3 Invalid \"on_failure\" keyword"]);
    check(
        "lifecycle {}",
        &["3 Reserved block type name in provisioner block"],
    );
    check(
        "connection {}\nconnection {}\n_ {}\n_ {}",
        &["4 Duplicate connection block", "6 Duplicate escaping block"],
    );
    let chef = "provisioner \"chef\" {\nwhen = never\n}";
    check_resource(ALL, chef, &["2 The \"chef\" provisioner has been removed"]);
}

#[test]
fn at_destroy_a_resource_knows_only_itself() {
    let refused = "4 Invalid reference from destroy provisioner";
    let check = |flavors: &[Flavor], value: &str, expected: &[&str]| {
        let text = format!("provisioner \"x\" {{\nwhen = destroy\na = {value}\n}}");
        check_resource(flavors, &text, expected);
    };
    for value in [
        "self",
        "path.module",
        "terraform.workspace",
        "count.index",
        "each.key",
        "[for s in [1] : s]",
    ] {
        check(ALL, value, &[]);
    }
    for value in [
        "each.value",
        "each.key.x",
        "count",
        "var.x",
        "\"${local.x}\"",
    ] {
        check(ALL, value, &[refused]);
    }
    check(TERRAFORM, "tofu.workspace", &[refused]);
    check(OPENTOFU, "tofu.workspace", &[]);
    let connections = "connection {\na = var.a\n}\nprovisioner \"x\" {\nwhen = destroy\n\
                       connection {\na = var.a\n}\n}\nprovisioner \"y\" {\na = var.a\n}";
    let [shared, own] = [3, 8].map(|line| format!("{line} {}", &refused[2..]));
    check_resource(ALL, connections, &[&shared, &own]);
}

#[test]
fn dependencies_are_references() {
    let check = |flavors: &[Flavor], value: &str, expected: &[&str]| {
        for kind in ["resource", "data", "ephemeral"] {
            let text = format!("{kind} \"a_x\" \"x\" {{\ndepends_on = {value}\n}}");
            check_one(flavors, &text, expected);
        }
        let text = format!("module \"m\" {{\ndepends_on = {value}\nsource = \"./m\"\n}}");
        check_one(flavors, &text, expected);
    };
    check(
        ALL,
        "[a.b, a.b[1], module.m, true, null.a, \"a.y-z\", \" a.y \", \"a.y[\\\"k\\\"]\"]",
        &[],
    );
    for value in [
        "\"x\"",
        "[(a.b)]",
        "[a.b[count.index]]",
        "[a.*.b]",
        "[1]",
        "[\"${a.b}\"]",
    ] {
        check(ALL, value, &["2 Invalid expression"]);
    }
    for (text, title) in [
        ("a y", "2 Invalid character"),
        ("1x", "2 Variable name required"),
        ("a..y", "2 Attribute name required"),
        ("a.y[x]", "2 Index value required"),
        ("a.y[0", "2 Unclosed index brackets"),
    ] {
        check(ALL, &format!("[{text:?}]"), &[title]);
    }
    check(
        SINCE_1_15,
        "[action.a.b]",
        &["2 Invalid depends_on Action Reference"],
    );
    check(OPENTOFU, "[action.a.b]", &[]);
}

#[track_caller]
fn check_one(flavors: &[Flavor], text: &str, expected: &[&str]) {
    check(flavors, text, expected);
}

#[test]
fn calls_keep_few_words_from_their_module() {
    let reserved = "Reserved block type name in module block";
    let [lifecycle, again, locals, provider] =
        [3, 4, 5, 6].map(|line| format!("{line} {reserved}"));
    let inside = "lifecycle {}\nlifecycle {}\nlocals {}\nprovider \"a\" {}\nnope {}";
    check_call(TERRAFORM, inside, &[&lifecycle, &again, &locals, &provider]);
    check_call(
        OPENTOFU,
        inside,
        &["4 Duplicate lifecycle block", &locals, &provider],
    );
    check_call(ALL, "_ {}\n_ {}", &["4 Duplicate escaping block"]);
    let enabled = "count = 1\nlifecycle {\nenabled = true\n}";
    let combined = "3 Invalid combination of \"count\" and \"enabled\"";
    check_call(OPENTOFU, enabled, &[combined]);
    let other = "lifecycle {\nprevent_destroy = true\n}";
    check_call(OPENTOFU, other, &["4 Unsupported argument"]);
    let named = "ignore_nested_deprecations = ";
    let title = "3 Invalid value for ignore_nested_deprecations";
    check_call(SINCE_1_15, &format!("{named}var.x"), &[title]);
    let title = "3 Invalid type for ignore_nested_deprecations";
    check_call(SINCE_1_15, &format!("{named}\"true\""), &[title]);
    check_call(OPENTOFU, &format!("{named}\"true\""), &[]);
    let version = "module \"m\" {\nsource = \"a/b/c\"\nversion = \"one\"\n}";
    check(ALL, version, &["3 Invalid version constraint"]);
}

#[test]
fn configurations_are_passed_once_each() {
    let check = |value: &str, expected: &[&str]| {
        check_call(ALL, &format!("providers = {value}"), expected);
    };
    check("{\na = a\na.b = a\n\"a.c\" = \"a.b\"\n}", &[]);
    for value in ["[a]", "a", "{ for a in [] : a => a }"] {
        check(value, &["3 Invalid expression"]);
    }
    check("{\na = a\na = a.b\n}", &["5 Duplicate provider address"]);
    check(
        "{\na.b = a\n\"a.b\" = a\n}",
        &["5 Duplicate provider address"],
    );
    check(
        "{\na_b = a\nc = A\n}",
        &[
            "4 Invalid provider local name",
            "5 Invalid provider local name",
        ],
    );
    check(
        "{\n(a) = a\nb = a[0]\n}",
        &[
            "4 Invalid provider configuration reference",
            "5 Invalid provider configuration reference",
        ],
    );
}

#[test]
fn actions_and_their_triggers_are_checked_where_they_exist() {
    let action = "action \"a_x\" \"x\" {\ndepends_on = []\nconfig {}\nconfig {}\nnope {}\n}";
    let expected = [
        "2 Unsupported argument",
        "4 Duplicate config block",
        "5 Unsupported block type",
    ];
    check(SINCE_1_15, action, &expected);
    let trigger = |inside: &str| format!("action_trigger {{\n{inside}\n}}");
    let good = trigger("events = [after_create]\nactions = [action.a_x.x]");
    check_lifecycle(SINCE_1_15, &good, &[]);
    check_lifecycle(
        &[Terraform1_11, OpenTofu1_12],
        &good,
        &["3 Unsupported block type"],
    );
    let of = |events: &str, actions: &str| {
        trigger(&format!("events = [{events}]\nactions = [{actions}]"))
    };
    let destroy = of("after_destroy, after_create", "action.a.b[0]");
    check_lifecycle(&[Terraform1_16], &destroy, &[]);
    let event = "4 Invalid \"event\" value after_destroy";
    check_lifecycle(&[Terraform1_15], &destroy, &[event]);
    let twice = of("after_create, after_create", "action.a.b");
    check_lifecycle(SINCE_1_15, &twice, &["4 Duplicate \"after_create\" event"]);
    for (actions, title) in [
        (
            "module.m.x",
            "5 Invalid reference to action outside this module",
        ),
        ("a_x.x", "5 Invalid action argument inside action_triggers"),
        ("action.a.b.c", "5 Unexpected attribute in action reference"),
        ("action.a", "5 Invalid reference"),
        ("1", "5 No actions specified"),
        ("[action.a.b, action.a.c]", "5 Invalid action expression"),
    ] {
        check_lifecycle(SINCE_1_15, &of("after_create", actions), &[title]);
    }
    check_lifecycle(
        SINCE_1_15,
        &of("", ""),
        &["3 No actions specified", "3 No events specified"],
    );
    let data = format!("data \"a_x\" \"x\" {{\nlifecycle {{\n{good}\n}}\n}}");
    let title = "3 Invalid data resource lifecycle nested block";
    check(SINCE_1_15, &data, &[title]);
}

#[test]
fn providers_have_names_before_anything_else() {
    check(
        ALL,
        "provider \"a_b\" {\ncount = 1\n}",
        &["1 Invalid provider local name"],
    );
    let reserved = "2 Reserved argument name in provider block";
    check(ALL, "provider \"a\" {\ncount = 1\n}", &[reserved]);
    let each = "provider \"a\" {\nfor_each = {}\n}";
    check(TERRAFORM, each, &[reserved]);
    check(
        OPENTOFU,
        each,
        &["2 Alias required when using \"for_each\""],
    );
}

#[test]
fn overrides_have_neither_dependencies_nor_conditions() {
    let conditions = "4 Can't override precondition blocks";
    for kind in ["resource", "data", "ephemeral"] {
        let base = format!("{kind} \"a_x\" \"x\" {{}}");
        let over = |inside: &str| format!("{kind} \"a_x\" \"x\" {{\n{inside}\n}}");
        let condition = over("lifecycle {\n\nprecondition {}\n}");
        check_override(ALL, &base, &condition, &[conditions]);
        let dependency = over("depends_on = [\na.b]");
        check_override(OPENTOFU, &base, &dependency, &["3 Unsupported override"]);
        let expected: &[&str] = match kind {
            "ephemeral" => &[],
            _ => &["3 Unsupported override"],
        };
        check_override(TERRAFORM, &base, &dependency, expected);
        let bad = over("depends_on = [1]");
        check_override(ALL, &base, &bad, &["2 Invalid expression"]);
    }
    let call = "module \"m\" {
source = \"./m\"
}";
    let title = "2 Reserved block type name in module block";
    check_override(
        ALL,
        call,
        "module \"m\" {
locals {}
}",
        &[title],
    );
}

#[test]
fn a_key_that_stands_twice_hides_nothing() {
    let output = "output \"o\" {\ndepends_on = [{ a = 1, a = 2 }]\n}";
    let refused = ["1 Missing required argument", "2 Invalid expression"];
    check(ALL, output, &refused);
    let broken = "output \"o\" {\ndepends_on = [a_x.b]\nvalue =\n}";
    check(ALL, broken, &["3 Invalid expression"]);
    let twice = "providers = {\na = a\na = a\n}";
    check_call(ALL, twice, &["5 Duplicate provider address"]);
}
