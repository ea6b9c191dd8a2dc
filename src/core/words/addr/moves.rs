//! Providers of the public registry that have another address now.

use super::ProviderAddr;
use crate::flavor::{Flavor, Program};

/// The namespace of all providers that Terraform 0.12 installed; nothing is published there any more.
const FORMER_NAMESPACE: &str = "terraform-providers";

/// The namespaces of providers that were in `hashicorp` and `terraform-providers`, by type, sorted.
///
/// The list was written from general knowledge, not read from a registry. Most are partners of HashiCorp, some are
/// community maintainers. A move that is not in the list is not named.
const MOVED: &[(&str, &str)] = &[
    ("azuredevops", "microsoft"),
    ("cloudflare", "cloudflare"),
    ("datadog", "datadog"),
    ("digitalocean", "digitalocean"),
    ("dnsimple", "dnsimple"),
    ("docker", "kreuzwerker"),
    ("fastly", "fastly"),
    ("github", "integrations"),
    ("gitlab", "gitlabhq"),
    ("grafana", "grafana"),
    ("hcloud", "hetznercloud"),
    ("heroku", "heroku"),
    ("launchdarkly", "launchdarkly"),
    ("linode", "linode"),
    ("mongodbatlas", "mongodb"),
    ("newrelic", "newrelic"),
    ("okta", "okta"),
    ("openstack", "terraform-provider-openstack"),
    ("opsgenie", "opsgenie"),
    ("ovh", "ovh"),
    ("pagerduty", "pagerduty"),
    ("postgresql", "cyrilgdn"),
    ("rabbitmq", "cyrilgdn"),
    ("rancher2", "rancher"),
    ("rundeck", "rundeck"),
    ("scaleway", "scaleway"),
    ("signalfx", "splunk-terraform"),
    ("spotinst", "spotinst"),
    ("sumologic", "sumologic"),
    ("vultr", "vultr"),
    ("yandex", "yandex-cloud"),
];

/// Types that `hashicorp` publishes and that were in the former namespace, sorted.
const OF_HASHICORP: &[&str] = &[
    "archive",
    "aws",
    "azuread",
    "azurerm",
    "consul",
    "dns",
    "external",
    "google",
    "google-beta",
    "helm",
    "http",
    "kubernetes",
    "local",
    "nomad",
    "null",
    "random",
    "template",
    "tls",
    "vault",
    "vsphere",
];

impl ProviderAddr {
    /// Returns the address in the registry of Terraform that took the place of this one, if a move is known.
    ///
    /// ```
    /// use lockctl_core::{addr::ProviderAddr, flavor::Flavor};
    ///
    /// let old = ProviderAddr::parse("terraform-providers/azuread", Flavor::Terraform1_11)?;
    /// let new = old.successor().map(|new| new.to_string());
    /// assert_eq!(new.as_deref(), Some("registry.terraform.io/hashicorp/azuread"));
    /// # Ok::<(), lockctl_core::addr::AddrError>(())
    /// ```
    #[must_use]
    pub fn successor(&self) -> Option<Self> {
        let flavor = Flavor::newest(Program::Terraform);
        let is_former = self.namespace() == FORMER_NAMESPACE;
        let is_public = self.hostname().to_string() == flavor.default_host();
        if !is_public || !is_former && self.namespace() != "hashicorp" {
            return None;
        }
        let own = self.type_name();
        let moved = MOVED.binary_search_by_key(&own, |(name, _)| name).ok();
        let namespace = match moved {
            Some(at) => MOVED[at].1,
            None if is_former && OF_HASHICORP.contains(&own) => "hashicorp",
            None => return None,
        };
        Self::parse(&format!("{namespace}/{own}"), flavor).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_addresses_of_the_public_registry_moved() {
        assert!(MOVED.is_sorted() && OF_HASHICORP.is_sorted());
        let check = |old: &str, new: Option<&str>| {
            let flavor = Flavor::newest(Program::Terraform);
            let old = ProviderAddr::parse(old, flavor).expect("an address");
            let successor = old.successor().map(|new| new.short(flavor));
            assert_eq!(successor.as_deref(), new, "{old}");
        };
        check("terraform-providers/aws", Some("hashicorp/aws"));
        check("terraform-providers/github", Some("integrations/github"));
        check("hashicorp/github", Some("integrations/github"));
        check("hashicorp/aws", None);
        check("terraform-providers/unheard-of", None);
        check("integrations/github", None);
        check("example.com/hashicorp/github", None);
        for (name, namespace) in MOVED {
            check(
                &format!("hashicorp/{name}"),
                Some(&format!("{namespace}/{name}")),
            );
        }
    }
}
