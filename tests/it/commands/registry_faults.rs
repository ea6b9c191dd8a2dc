//! Registries that refuse, and releases that are broken: what is shown, and what leads on.

use super::registry::{DEMO, failing, rule};
use super::*;

#[test]
fn the_reason_that_a_registry_states_is_shown() {
    let refusing = |kind: &str, status: u16| {
        let text = r#"{"errors":["organization acme has no access\u001b[2J"]}"#;
        let rule =
            json!({"kind": kind, "action": "answer", "status": status, "text": text, "times": -1});
        failing(DEMO, &json!({"rules": [rule]}))
    };
    refusing("versions", 400).reads(str![[r#"
error: the versions of registry.terraform.io/acme/demo could not be fetched
  cause: https://REGISTRY/v1/providers/acme/demo/versions answered 400 Bad Request: organization acme has no access/u{1b}[2J
  help: report it to the operator of the registry

"#]]);
    refusing("versions", 403).reads(str![[r#"
error: the versions of registry.terraform.io/acme/demo could not be fetched
  cause: registry.terraform.io requires credentials: https://REGISTRY/v1/providers/acme/demo/versions answered 403: organization acme has no access/u{1b}[2J
  help: give a token for registry.terraform.io: in TF_TOKEN_registry_terraform_io, or by `terraform login registry.terraform.io`

"#]]);
    refusing("versions", 503).reads(str![[r#"
error: the versions of registry.terraform.io/acme/demo could not be fetched
  cause: https://REGISTRY/v1/providers/acme/demo/versions answered 503 Service Unavailable after 2 attempts: organization acme has no access/u{1b}[2J
  help: try again later

"#]]);
    refusing("shasums", 410).reads(str![[r#"
error: the package of registry.terraform.io/acme/demo 1.0.0 for linux_amd64 could not be fetched
  cause: https://FILES/files/acme/demo/1.0.0/terraform-provider-demo_1.0.0_SHA256SUMS answered 410 Gone: organization acme has no access/u{1b}[2J
  help: report it to the operator of the registry

"#]]);
}

/// A release that nobody can install keeps a root from being locked, while an older one may do.
#[test]
fn a_newest_release_that_is_broken_may_be_excluded() {
    let loose = DEMO.replace("~> 1.0.0", ">= 0.1");
    let help = "if an older release will do, add `!= 1.2.0` to the constraint of acme/demo";
    for (kind, action) in [
        ("shasums", "404"),
        ("signature", "garbage_signature"),
        ("package", "404"),
        ("package", "flip"),
    ] {
        let said = failing(&loose, &rule(kind, action));
        assert!(said.contains(help), "{kind} {action}: {said}");
        // No older release meets the constraint.
        let said = failing(DEMO, &rule(kind, action));
        assert!(!said.contains("!= 1."), "{kind} {action}: {said}");
    }
    // An outage is no fault of the release.
    failing(&loose, &rule("shasums", "503")).lacks("!= 1.");
}
