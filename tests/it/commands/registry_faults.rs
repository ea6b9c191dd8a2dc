//! Registries that refuse: the reason that they state is shown.

use serde_json::json;
use snapbox::{assert_data_eq, str};

use super::registry::{DEMO, failing};

#[test]
fn the_reason_that_a_registry_states_is_shown() {
    let refusing = |kind: &str, status: u16| {
        let text = r#"{"errors":["organization acme has no access\u001b[2J"]}"#;
        let rule =
            json!({"kind": kind, "action": "answer", "status": status, "text": text, "times": -1});
        failing(DEMO, &json!({"rules": [rule]}))
    };
    assert_data_eq!(
        refusing("versions", 400),
        str![[r#"
error: the versions of registry.terraform.io/acme/demo could not be fetched
  cause: https://REGISTRY/v1/providers/acme/demo/versions answered 400 Bad Request: organization acme has no access/u{1b}[2J
  help: report it to the operator of the registry

"#]]
    );
    assert_data_eq!(
        refusing("versions", 403),
        str![[r#"
error: the versions of registry.terraform.io/acme/demo could not be fetched
  cause: registry.terraform.io requires credentials: https://REGISTRY/v1/providers/acme/demo/versions answered 403: organization acme has no access/u{1b}[2J
  help: give a token for registry.terraform.io: in TF_TOKEN_registry_terraform_io, or by `terraform login registry.terraform.io`

"#]]
    );
    assert_data_eq!(
        refusing("versions", 503),
        str![[r#"
error: the versions of registry.terraform.io/acme/demo could not be fetched
  cause: https://REGISTRY/v1/providers/acme/demo/versions answered 503 Service Unavailable after 2 attempts: organization acme has no access/u{1b}[2J
  help: try again later

"#]]
    );
    assert_data_eq!(
        refusing("shasums", 410),
        str![[r#"
error: the package of registry.terraform.io/acme/demo 1.0.0 for linux_amd64 could not be fetched
  cause: https://FILES/files/acme/demo/1.0.0/terraform-provider-demo_1.0.0_SHA256SUMS answered 410 Gone: organization acme has no access/u{1b}[2J
  help: report it to the operator of the registry

"#]]
    );
}
