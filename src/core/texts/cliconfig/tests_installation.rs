//! How packages are installed and where they are kept.

use super::tests::{TERRAFORM, one, run};
use super::*;
use crate::world::mem::slashed;

const TOFU: Flavor = Flavor::OpenTofu1_12;

/// Lists mirrors as `dir` or `dir: what of a/b, a/c, b/b they are for`.
fn mirrors(config: &CliConfig) -> Vec<String> {
    let asked = ["a/b", "a/c", "b/b"];
    let describe = |mirror: LocalMirror| {
        let allows = |text: &&str| {
            let addr = crate::addr::ProviderAddr::parse(text, TERRAFORM).expect("an address");
            mirror.providers.allows(&addr)
        };
        let allowed: Vec<&str> = asked.into_iter().filter(allows).collect();
        match allowed.len() {
            3 => slashed(&mirror.dir),
            _ => format!("{}: {}", slashed(&mirror.dir), allowed.join(" ")),
        }
    };
    config.local_mirrors().into_iter().map(describe).collect()
}

#[track_caller]
fn check(text: &str, want: &[&str]) {
    let run = one(TERRAFORM, text);
    assert_eq!(run.problems(text), Vec::<String>::new(), "{:?}", run.found);
    assert_eq!(mirrors(&run.config), want, "{text}");
}

#[test]
fn mirrors_stand_in_the_order_in_which_they_are_asked() {
    check(
        "",
        &[
            "terraform.d/plugins",
            "/usr/local/share/terraform/plugins",
            "/usr/share/terraform/plugins",
        ],
    );
    check("provider_installation {}", &[]);
    check("provider_installation {\n  direct {}\n}", &[]);
    check(
        "provider_installation {\n  filesystem_mirror { path = \"/2\" include = [\"a/*\"] }\n  \
         direct { include = [\"b/b\"] }\n  filesystem_mirror { path = \"$X/1\" exclude = [\"a/b\"] }\n}",
        &["/2: a/b a/c", "$X/1: a/c b/b"],
    );
    check(
        "{\"provider_installation\": [{\"filesystem_mirror\": [{\"path\": \"m\"}, {\"path\": \"n\", \
         \"include\": [\"a/*\"], \"exclude\": [\"a/c\"]}]}]}",
        &["m", "n: a/b"],
    );
}

#[track_caller]
fn check_problem(flavor: Flavor, method: &str, want: &str, left: &[&str]) {
    let text = format!("provider_installation {{\n  {method}\n}}\n");
    let run = one(flavor, &text);
    assert_eq!(run.problems(&text), [want], "{method}");
    assert_eq!(mirrors(&run.config), left, "{method}");
}

#[test]
fn what_cannot_be_meant_is_dropped_and_reported() {
    let invalid = |at: &str| format!("error cli-configuration-invalid @{at}");
    for (method, at) in [
        ("filesystem_mirror {}", "filesystem_mirror"),
        ("filesystem_mirror { path = \"\" }", "filesystem_mirror"),
        ("filesystem_mirror { path = 5 }", "filesystem_mirror"),
        ("filesystem_mirror = \"/m\"", "filesystem_mirror"),
        ("network_mirror {}", "network_mirror"),
        ("network_mirror { url = \"http://m/\" }", "network_mirror"),
        ("network_mirror { url = \"m\" }", "network_mirror"),
        ("filesystem_miror { path = \"/m\" }", "filesystem_miror"),
        ("oci_mirror { repository_template = \"x\" }", "oci_mirror"),
        (
            "filesystem_mirror { path = \"/m\" include = [\"*/a\"] }",
            "include",
        ),
        (
            "filesystem_mirror { path = \"/m\" exclude = \"a/b\" }",
            "exclude",
        ),
        ("direct { include = [1] }", "include"),
    ] {
        check_problem(TERRAFORM, method, &invalid(at), &[]);
    }
    let without_effect = "warning cli-configuration-without-effect @trust_all_hashes";
    let unsupported = "warning unsupported-item @trust_all_hashes";
    for (method, want, left) in [
        (
            "filesystem_mirror { path = \"/m\" trust_all_hashes = true }",
            unsupported,
            &["/m"][..],
        ),
        (
            "network_mirror { url = \"https://m/\" trust_all_hashes = true }",
            without_effect,
            &[],
        ),
        ("direct { trust_all_hashes = true }", unsupported, &[]),
    ] {
        check_problem(TERRAFORM, method, want, left);
    }
    let number = "error cli-configuration-invalid @download_retry_count";
    check_problem(TOFU, "direct { download_retry_count = \"x\" }", number, &[]);
    let tofu = one(
        TOFU,
        "provider_installation {\n  oci_mirror { repository_template = \"r/${hostname}/${namespace}/${type}\" }\n  network_mirror { url \
         = \"https://m/\" trust_all_hashes = true download_retry_count = 0 }\n}",
    );
    assert!(tofu.found.is_empty(), "{:?}", tofu.found);
    let [_, mirror] = &*tofu.config.installations[0].methods else {
        panic!("two methods");
    };
    assert_eq!(mirror.download_retries, Some(0));
    let MethodKind::NetworkMirror {
        trusts_all_hashes, ..
    } = &mirror.kind
    else {
        panic!("a network mirror");
    };
    assert!(trusts_all_hashes);
}

#[test]
fn overridden_providers_have_a_directory() {
    let text = "provider_installation {\n  dev_overrides {\n    \"acme/demo\" = \"/dev\"\n    \
                \"example.com/t/x\" = \"$X\"\n  }\n  direct {}\n}";
    let run = one(TERRAFORM, text);
    assert!(run.found.is_empty(), "{:?}", run.found);
    let overridden = run.config.overridden();
    let overridden: Vec<String> = overridden.iter().map(ToString::to_string).collect();
    assert_eq!(
        overridden,
        ["example.com/t/x", "registry.terraform.io/acme/demo"]
    );
    let invalid = |at: &str| format!("error cli-configuration-invalid @{at}");
    let bad_name = "dev_overrides { \"a/b/c/d\" = \"/\" }";
    check_problem(TERRAFORM, bad_name, &invalid("\"a/b/c/d\""), &[]);
    let late = "direct {}\n  dev_overrides {}";
    check_problem(TERRAFORM, late, &invalid("dev_overrides"), &[]);
}

#[test]
fn numbers_of_registry_protocols_are_read_in_either_syntax() {
    let stated = |text: &str| {
        let run = one(TOFU, text);
        assert!(run.found.is_empty(), "{:?}", run.found);
        let protocols = run.config.protocols;
        (protocols.retries, protocols.timeout_seconds)
    };
    let native = "registry_protocols {\n  retry_count = 0\n  request_timeout_seconds = \"7\"\n}";
    assert_eq!(stated(native), (Some(0), Some(7)));
    let json = "{\"registry_protocols\": [{\"retry_count\": 3}]}";
    assert_eq!(stated(json), (Some(3), None));
    let wrong = "registry_protocols { retry_count = true }";
    let run = one(TOFU, wrong);
    assert_eq!(run.problems(wrong), ["error wrong-type @retry_count"]);
    assert_eq!(one(TERRAFORM, native).config.protocols.retries, None);
}

#[test]
fn only_one_block_may_be_followed() {
    let text = "provider_installation {\n  direct {}\n}\n";
    assert!(one(TERRAFORM, text).config.installed_twice().is_none());
    let twice = text.repeat(2);
    let problem = one(TERRAFORM, &twice).config.installed_twice();
    assert_eq!(problem.expect("two blocks").related.len(), 1);
}

#[test]
fn the_cache_directory_is_that_of_the_program() {
    let rc = ("TF_CLI_CONFIG_FILE", "rc");
    let text = "plugin_cache_dir = \"$C/cache\"\n";
    let dir = |vars: &[(&str, &str)], text: &str| {
        let cache = run(TERRAFORM, vars, &[("rc", text)]).config.cache_dir;
        cache.map(|dir| dir.display().to_string())
    };
    assert_eq!(dir(&[rc, ("C", "/c")], text).as_deref(), Some("/c/cache"));
    let own = ("TF_PLUGIN_CACHE_DIR", "$C/own");
    assert_eq!(dir(&[rc, own], text).as_deref(), Some("$C/own"));
    assert_eq!(dir(&[rc], "plugin_cache_dir = \"\""), None);
    assert_eq!(dir(&[rc], ""), None);
    let wrong = "plugin_cache_dir = 5";
    assert_eq!(
        one(TERRAFORM, wrong).problems(wrong),
        ["error wrong-type @plugin_cache_dir"]
    );

    let files = [
        ("/h/.terraformrc", "plugin_cache_dir = \"\""),
        ("/h/.terraform.d/1.tfrc", "plugin_cache_dir = \"first\""),
        ("/h/.terraform.d/2.tfrc", "plugin_cache_dir = \"second\""),
    ];
    let config = run(TERRAFORM, &[("HOME", "/h")], &files).config;
    assert_eq!(config.cache_dir, Some("first".into()));
}

/// The first rows of each kind were tried with Terraform 1.11.4.
#[test]
fn the_cache_may_break_the_lock_file_if_the_program_lets_it() {
    const NAME: &str = "plugin_cache_may_break_dependency_lock_file";
    let rc = ("TF_CLI_CONFIG_FILE", "rc");
    let variable = |value| ("TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE", value);
    let may = |vars: &[(&str, &str)], text: &str| {
        let config = run(TERRAFORM, vars, &[("rc", text)]).config;
        config.cache_may_break
    };
    let on = format!("{NAME} = true\n");
    let off = format!("{NAME} = false\n");
    assert!(may(&[rc], &on));
    assert!(may(&[rc], &format!("{{ \"{NAME}\": true }}")));
    assert!(!may(&[rc], &off));
    assert!(!may(&[rc], ""));
    assert!(may(&[rc, variable("false")], ""));
    assert!(may(&[rc, variable("1")], &off));
    assert!(!may(&[rc, variable("0")], ""));
    assert!(!may(&[rc, variable("")], ""));
    assert!(may(&[rc, variable("0")], &on));
    for wrong in ["\"true\"", "1"] {
        let text = format!("{NAME} = {wrong}");
        let want = format!("error wrong-type @{NAME}");
        assert_eq!(one(TERRAFORM, &text).problems(&text), [want]);
    }
}
