//! What files say, and what is said about them; what stays secret is in `secrecy_tests`.

use super::secrecy_tests::everything_shown;
use super::*;
use crate::diag::Severity;
use crate::world::mem::{MemEnv, MemFiles};

pub(super) const TERRAFORM: Flavor = Flavor::Terraform1_11;
const TOFU: Flavor = Flavor::OpenTofu1_12;

/// A run with files and variables, and what came of it.
pub(super) struct Run {
    pub(super) config: CliConfig,
    pub(super) found: Vec<Diagnostic>,
    pub(super) texts: Texts,
}

pub(super) fn run(flavor: Flavor, vars: &[(&str, &str)], files: &[(&str, &str)]) -> Run {
    let mut env = MemEnv::default();
    for (name, value) in vars {
        env.vars.insert((*name).to_owned(), value.into());
    }
    let mut texts = Texts::default();
    let wanted = ConfigChoice { flavor, file: None };
    // What Windows has of its own is tested in `locate`.
    let place = ConfigPlace {
        files: &MemFiles::with(files),
        env: &env,
        habits: Habits::Unix,
    };
    let (config, found) = read_at(place, &mut texts, wanted);
    Run {
        config,
        found,
        texts,
    }
}

/// Reads one file that a variable names.
pub(super) fn one(flavor: Flavor, text: &str) -> Run {
    run(flavor, &[("TF_CLI_CONFIG_FILE", "rc")], &[("rc", text)])
}

impl Run {
    /// Lists hosts as `host service=url …`, tokens as `host:token`.
    fn summary(&self) -> String {
        let hosts = self.config.hosts.iter().map(|(host, services)| {
            let services = services
                .iter()
                .map(|(name, url)| format!(" {name}={}", url.reveal()));
            format!("{host}{}", services.collect::<String>())
        });
        let tokens = self.config.tokens.iter().map(|(host, token)| {
            let token = token.as_ref().map_or("-", Secret::reveal);
            format!("{host}:{token}")
        });
        hosts.chain(tokens).collect::<Vec<_>>().join("; ")
    }

    /// Lists problems as `severity code @marked-text`.
    pub(super) fn problems(&self, source: &str) -> Vec<String> {
        let marked = |problem: &Diagnostic| {
            let span = problem.primary.as_ref().expect("a place").span;
            source[span.start..span.end].to_owned()
        };
        let word = |problem: &Diagnostic| match problem.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        let problems = self.found.iter();
        problems
            .map(|p| format!("{} {} @{}", word(p), p.code, marked(p)))
            .collect()
    }
}

#[track_caller]
fn check(text: &str, want: &str) {
    let run = one(TERRAFORM, text);
    assert_eq!(run.problems(text), Vec::<String>::new(), "{:?}", run.found);
    assert_eq!(run.summary(), want, "{text}");
}

#[track_caller]
fn check_problem(text: &str, want: &[&str]) {
    assert_eq!(one(TERRAFORM, text).problems(text), want, "{text}");
}

#[test]
fn host_blocks_are_read_in_every_way_to_write_them() {
    for text in [
        "host \"h.example\" {\n  services = {\n    \"providers.v1\" = \"/v1/\"\n  }\n}\n",
        "host \"h.example\" {\n  services {\n    \"providers.v1\" = \"/v1/\"\n  }\n}\n",
        "host \"H.Example:443\" { services { \"providers.v1\" = \"/v1/\" } }",
        "host \"h.example\" { services = { providers.v1 = \"/v1/\" } }",
        "\"host\" \"h.example\" {\n services\n=\n{ providers.v1 = \"/v1/\", }\n}",
        "host = { \"h.example\" = { services = { \"providers.v1\" = \"/v1/\" } } }",
        "host \"h.example\" {\r\n  services = {\r\n \"providers.v1\" = \"/v1/\"\r\n}\r\n}\r\n",
        "# c\nhost \"h.example\" { /* c */ services { \"providers.v1\" = \"/v1/\" } } // c",
    ] {
        check(text, "h.example providers.v1=/v1/");
    }
    let heredoc = "host h.example { services { \"providers.v1\" = <<E\n/v1/\nE\n} }";
    check(heredoc, "h.example providers.v1=/v1/\n");
}

#[test]
fn all_services_are_kept_as_text() {
    check(
        "host \"h\" { services = { \"modules.v1\" = \"a${b}\", \"providers.v1\" = \"https://x\" \"login.v1\" = { client = \"c\" } } }",
        "h modules.v1=a${b} providers.v1=https://x",
    );
    let many: Vec<String> = (0..500).map(|n| format!("\"s{n:03}\" = \"{n}\"")).collect();
    let run = one(
        TERRAFORM,
        &format!("host \"h\" {{ services = {{ {} }} }}", many.join(", ")),
    );
    assert_eq!(
        run.config.hosts.values().next().map(BTreeMap::len),
        Some(500)
    );
    check(
        "host \"h\" { services { a = \"1\" } }\nhost \"h\" { services { b = \"2\" } }",
        "h a=1 b=2",
    );
}

#[test]
fn credentials_are_read_in_every_way_to_write_them() {
    let text = "credentials \"a.example\" {\n  token = \"t\\\"${\"x\"}\"\n}\n";
    check(text, "a.example:t\"${\"x\"}");
    let text = "credentials \"a\" { token = \"\" }\ncredentials \"b\" {}";
    check(text, "a:; b:-");
    for text in [
        "{\"credentials\":{\"a\":{\"token\":\"t\"},\"b\":{\"token\":\"u\"}}}",
        " {\"credentials\":[{\"a\":[{\"token\":\"t\"}]},{\"b\":{\"token\":\"u\"}}]}",
        "{\"credentials\":{\"a\":{\"token\":\"t\"}},\"credentials\":{\"b\":{\"token\":\"u\"}}}",
        "credentials = [{ a = { token = \"t\" } }, { \"b\" = { token = \"u\" } }]",
    ] {
        check(text, "a:t; b:u");
    }
}

#[test]
fn what_is_not_read_yet_is_left_alone() {
    let text = "plugin_cache_dir = \"$HOME/cache\"\ndisable_checkpoint = true\n\
                plugin_cache_may_break_dependency_lock_file = true disable_checkpoint_signature = 1\n\
                providers { a = \"b\" }\nprovisioners { a = \"b\" }\n";
    check(text, "");
    let ours = "registry_protocols {\n  retry_count = 1\n}\noci_credentials \"h/x\" {\n  username = \"u\"\n  password = \"p\"\n}\noci_default_credentials {\n}\n";
    assert!(one(TOFU, ours).found.is_empty());
    let without_effect = "warning cli-configuration-without-effect @";
    let names = [
        "registry_protocols",
        "oci_credentials",
        "oci_default_credentials",
    ];
    let want = names.map(|name| format!("{without_effect}{name}"));
    assert_eq!(one(TERRAFORM, ours).problems(ours), want);
}

/// Returns what `lock` reports about a text, as `severity code @marked-text`.
fn not_followed(flavor: Flavor, text: &str) -> Option<String> {
    let mut run = one(flavor, text);
    assert!(run.found.is_empty(), "{:?}", run.found);
    run.found.extend(run.config.not_followed(flavor));
    run.problems(text).pop()
}

#[test]
fn it_is_reported_that_provider_installation_is_not_followed() {
    let mirrors = "filesystem_mirror { path = \"/dir\" include = [\"example.com/*/*\"] }\n  \
                   network_mirror { url = \"https://host/\" exclude = [] }";
    let direct = format!("provider_installation {{\n  {mirrors}\n  direct {{}}\n}}\n");
    let only = format!("provider_installation {{\n  {mirrors}\n}}\n");
    let rule = "cli-configuration-not-followed";
    let note = Some(format!("note {rule} @provider_installation"));
    let warning = Some(format!("warning {rule} @provider_installation"));
    let json = "{\"provider_installation\": [{\"direct\": [{\"exclude\": [\"a/b\"]}]}]}";
    assert_eq!(not_followed(TERRAFORM, &direct), note);
    assert_eq!(not_followed(TERRAFORM, &only), warning);
    assert_eq!(not_followed(TERRAFORM, "provider_installation {}"), warning);
    let of_json = Some(format!("note {rule} @\"provider_installation\""));
    assert_eq!(not_followed(TERRAFORM, json), of_json);
    for usual in [
        "",
        "provider_installation {\n  direct {}\n}",
        "{\"provider_installation\": [{\"direct\": [{}]}]}",
    ] {
        assert_eq!(not_followed(TERRAFORM, usual), None, "{usual}");
    }

    let both = one(TOFU, &format!("{only}{direct}"));
    let problem = both.config.not_followed(TOFU).expect("two blocks");
    assert_eq!(
        (problem.severity, problem.related.len()),
        (Severity::Note, 1)
    );
}

/// Each row was given to Terraform 1.11.4, which reads the first ones and refuses the others.
#[test]
fn what_is_text_in_hcl_1_is_what_terraform_reads() {
    let read = [
        "a = {}, b = {}",
        "a { b = 1, c = 2 }",
        "a = \"x\" b = \"y\"",
        "a {b {c=\"d\"}}",
        "a{x=1 y=2}",
        "a {b = 1\n c = 2 }",
        "a = [\n1\n,2,]",
        "a = -1",
        "a = <<E\nx\nE\n",
        "é = \"\\u00e9\"",
        "a.b { }",
        "{\"a\": null}",
        "",
        "Host \"h\" { SERVICES = {} }",
        "credentials \"a\" { token = \"x\"\n token = \"y\" }",
    ];
    for text in read {
        let run = one(TERRAFORM, text);
        assert!(
            run.found.iter().all(|p| p.code == "unsupported-item"),
            "{text}"
        );
    }
    let refused = [
        "\u{feff}a = 1",
        "a = foo",
        "a = 1a",
        "a = \"\\q\"",
        "a = [1 2]",
        "a = null",
        "a b = 1",
        "\"host\" \"h\" = {}",
        "a = <<E\nx\nE",
        "1 = 2",
        "[a]",
    ];
    for text in refused {
        assert_eq!(one(TERRAFORM, text).found[0].code, "syntax-error", "{text}");
    }
}

#[test]
fn what_nobody_knows_is_reported() {
    for (text, want) in [
        ("bananas = true\n", "warning unsupported-item @bananas"),
        ("bananas {}\n", "error unsupported-item @bananas"),
        ("{\"bananas\": {}}", "error unsupported-item @\"bananas\""),
        ("{\"x\": 1}", "warning unsupported-item @\"x\""),
        (
            "host \"h\" { service = {} }",
            "warning unsupported-item @service",
        ),
        (
            "credentials \"h\" { tokn = \"x\" }",
            "warning unsupported-item @tokn",
        ),
    ] {
        check_problem(text, &[want]);
    }
    let run = one(TERRAFORM, "credential \"h\" { token = \"x\" }");
    assert_eq!(
        run.found[0].help.as_ref().map(|help| &*help.text),
        Some("did you mean credentials?")
    );
}

#[test]
fn what_cannot_be_meant_is_reported_at_its_place() {
    for (text, marked) in [
        ("host \"a_b\" { services = {} }", "\"a_b\""),
        (
            "{\"credentials\": {\"a\": {\"token\": \"credentials\"}, \"a b\": {}}}",
            "\"a b\"",
        ),
        (
            "credentials \"https://a\" { token = \"x\" }",
            "\"https://a\"",
        ),
        ("host = \"a\"", "host"),
        (
            "credentials_helper \"a\" {}\ncredentials_helper \"b\" {}\n",
            "\"b\"",
        ),
    ] {
        check_problem(
            text,
            &[&format!("error cli-configuration-invalid @{marked}")],
        );
    }
    for (text, want) in [
        (
            "credentials { token = \"x\" }",
            "error label-wrong @credentials",
        ),
        ("host \"a\" { services = { x = 1 } }", "error wrong-type @x"),
        (
            "credentials \"a\" { token = 1 }",
            "warning wrong-type @token",
        ),
    ] {
        check_problem(text, &[want]);
    }
}

#[test]
fn a_wrong_host_block_is_reported_at_its_place() {
    let service = |text: &str| format!("host \"h\" {{ services = {{ {text} }} }}");
    check_problem(
        &service("providers.v1 = 5"),
        &["error wrong-type @providers.v1"],
    );
    for text in [
        "\"providers.v1\" = {}",
        "\"providers.v1\" = [\"/\"]",
        "\"providers.v1\" = true",
    ] {
        check_problem(&service(text), &["error wrong-type @\"providers.v1\""]);
    }
    for url in ["https://u:hunter2@[", "hunter2:x", "https://h:hunter2/"] {
        let text = service(&format!("\"providers.v1\" = \"{url}\""));
        let run = one(TERRAFORM, &text);
        let want = "error cli-configuration-invalid @\"providers.v1\"";
        assert_eq!(run.problems(&text), [want], "{url}");
        assert!(!everything_shown(&run).contains("hunter2"), "{url}");
    }
    let run = one(TERRAFORM, "host \"h\" { servicez = {} }");
    assert_eq!(
        run.found[0].help.as_ref().map(|help| &*help.text),
        Some("did you mean services?")
    );
}

#[test]
fn the_helper_is_remembered() {
    let run = one(
        TOFU,
        "credentials_helper \"vault\" {\n  args = [\"-x\"]\n}\ncredentials \"a\" {}",
    );
    let helper = run.config.helper.as_ref().expect("a helper");
    assert_eq!(
        (&*helper.name, &*helper.args),
        ("vault", &["-x".to_owned()][..])
    );
    let asks = |host: &str| run.config.needs_helper(&host.parse().expect("a host"));
    assert!(asks("b") && !asks("a"));
    assert!(run.found.is_empty());
}

#[test]
fn a_syntax_error_is_an_error_at_its_place_and_drops_the_file() {
    let rows = [
        ("credentials \"a\" { token = \"t\" }\nhost {{\n", "{"),
        ("host \"a\" {", "host \"a\" {"),
        ("a = \n", ""),
        ("a b\n", ""),
        ("}", "}"),
        ("a = [1", "a = ["),
        ("a = \"open\n", "\""),
        ("a = 'x'", "'"),
        ("/* a", "/*"),
        ("{\"a\": }", "}"),
        ("{\"a\": 1} x", "x"),
    ];
    for (text, marked) in rows {
        let run = one(TERRAFORM, text);
        let want = vec![format!("error syntax-error @{marked}")];
        assert_eq!(run.problems(text), want, "{text:?}");
        assert_eq!(run.summary(), "", "{text:?}");
    }
    let parsed = tree::parse(b"a = \"\xff\"");
    assert_eq!(parsed.shown, b"* = \"*\"");
}

#[test]
fn hostile_files_end_soon() {
    let n = 200_000;
    let mut texts = vec![
        "{".repeat(n),
        "[".repeat(n),
        "a {".repeat(n),
        "a = [".repeat(n),
        "a ".repeat(n),
        "\"\" = 1\n".repeat(n / 8),
        "\"".repeat(n),
        "\"${".repeat(n),
        "<<E\n".repeat(n),
        "/*".repeat(n),
        "a = {}\n".repeat(n / 8),
        "host \"a\" {}\n".repeat(n / 12),
        format!("a {{{}}}", " ".repeat(n)),
        format!("{{\"a\":{}", "[".repeat(n)),
        format!("{}{}", "{\"a\":".repeat(n / 8), "}".repeat(n / 8)),
        "\u{1}".to_owned(),
        "\0".to_owned(),
    ];
    texts.push(format!("{}{}", "a {".repeat(32), "}".repeat(32)));
    for text in texts {
        let run = one(TERRAFORM, &text);
        assert!(run.config.tokens.is_empty());
    }
    let large = " ".repeat(usize::try_from(MAX_FILE_BYTES).expect("small") + 1);
    assert_eq!(one(TERRAFORM, &large).found[0].code, "file-unreadable");
}

#[test]
fn files_are_merged_in_their_order() {
    let home = ("HOME", "/h");
    let host = |url: &str| format!("host \"h\" {{ services = {{ \"{url}\" = \"{url}\" }} }}");
    let (bad, good) = (host("bad"), host("good"));
    let merged = |files: &[(&str, &str)]| run(TERRAFORM, &[home], files).summary();
    // cfg-directory, cfg-directory-reverse, cfg-directory-over-main
    let a = "/h/.terraform.d/a.tfrc";
    let b = "/h/.terraform.d/b.tfrc";
    assert_eq!(merged(&[(a, &bad), (b, &good)]), "h good=good");
    assert_eq!(merged(&[(b, &bad), (a, &good)]), "h bad=bad");
    assert_eq!(
        merged(&[("/h/.terraformrc", &bad), (a, &good)]),
        "h good=good"
    );
    let unread = [
        ("/h/.terraform.d/a.tf", "x"),
        ("/h/.terraform.d/a.json", "x"),
        (a, &good),
    ];
    assert_eq!(merged(&unread), "h good=good");
    // A later block without a token hides that of an earlier file.
    let tokens = [
        (a, "credentials \"x\" { token = \"t\" }"),
        (b, "credentials \"x\" {}"),
    ];
    assert_eq!(merged(&tokens), "x:-");
    let many: Vec<String> = (0..=MAX_DIRECTORY_FILES)
        .map(|n| format!("/h/.terraform.d/{n}.tfrc"))
        .collect();
    let many: Vec<(&str, &str)> = many.iter().map(|name| (name.as_str(), "")).collect();
    assert_eq!(
        run(TERRAFORM, &[home], &many).found[0].code,
        "file-unreadable"
    );
}

#[test]
fn recorded_cases_about_tokens_hold() {
    let recorded = |id: &str, run: &Run, want: &str| {
        assert!(run.found.is_empty(), "{id}: {:?}", run.found);
        assert_eq!(run.summary(), want, "{id}");
    };
    let home = ("HOME", "/h");
    let named = ("TF_CLI_CONFIG_FILE", "/rc");
    let good = "localhost:1:good";
    let rc = ("/rc", "credentials \"localhost:1\" { token = \"good\" }");
    let bad = ("/rc", "credentials \"localhost:1\" { token = \"bad\" }");
    recorded("cfg-credentials-block", &run(TOFU, &[named], &[rc]), good);
    let variable = [named, ("TF_TOKEN_localhost:1", "good")];
    recorded("cfg-token-beats-file", &run(TOFU, &variable, &[bad]), good);
    let empty = run(TERRAFORM, &[named, ("TF_TOKEN_localhost:1", "")], &[rc]);
    recorded("cfg-token-empty", &empty, "localhost:1:");
    let host = "localhost:1".parse().expect("a host");
    assert_eq!(empty.config.token(&host).map(Secret::reveal), Some(""));
    let json = (
        "/h/.terraform.d/credentials.tfrc.json",
        "{\"credentials\":{\"localhost:1\":{\"token\":\"good\"}}}",
    );
    let beside = run(TERRAFORM, &[home, named], &[json, ("/rc", "")]);
    recorded("cfg-credentials-json-file", &beside, "");
    for flavor in [TERRAFORM, TOFU] {
        let default = run(flavor, &[home], &[json]);
        recorded("cfg-credentials-json-file-default", &default, good);
    }
}

#[test]
fn a_missing_file_is_reported_by_how_it_was_named() {
    // cfg-missing-file
    let run = run(TERRAFORM, &[("TF_CLI_CONFIG_FILE", "nowhere")], &[]);
    assert_eq!(run.problems(""), ["warning cli-configuration-missing @"]);
    let wanted = ConfigChoice {
        flavor: TERRAFORM,
        file: Some(Path::new("nowhere")),
    };
    let mut texts = Texts::default();
    let (_, found) = read(&MemFiles::default(), &MemEnv::default(), &mut texts, wanted);
    assert_eq!(
        (found[0].code, found[0].severity),
        ("file-unreadable", Severity::Error)
    );
}

#[test]
fn the_null_device_is_no_configuration() {
    let variables = [("HOME", "/h"), ("TF_CLI_CONFIG_FILE", "/dev/null")];
    let token = "credentials \"a\" { token = \"t\" }";
    let none = run(TERRAFORM, &variables, &[("/h/.terraformrc", token)]);
    assert!(none.found.is_empty() && none.config.files.is_empty());
    assert_eq!(none.summary(), "");
}
