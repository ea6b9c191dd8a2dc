//! The blocks of one file, decoded.

use std::collections::BTreeMap;

use super::RegistryProtocols;
use super::installation::{self, Installation};
use super::language::{Findings, MAX_NAMED, TOPS};
use super::node::{ConfigEntry, ConfigValue};
use super::oci_blocks::{self, OciCredentials, OciDefaults};
use crate::addr::{Hostname, Url, UrlError};
use crate::diag::{Diagnostic, FileId, Span, did_you_mean, rules};
use crate::flavor::Flavor;
use crate::world::Secret;

/// Services whose value is always a URL.
const VERSIONED: [&str; 2] = ["providers.v1", "modules.v1"];

/// The settings of one file.
pub(super) struct FileContents {
    pub(super) hosts: BTreeMap<Hostname, BTreeMap<String, Secret>>,
    pub(super) tokens: BTreeMap<Hostname, Option<Secret>>,
    pub(super) helpers: Vec<NamedHelper>,
    pub(super) installations: Vec<Installation>,
    pub(super) oci_credentials: Vec<OciCredentials>,
    pub(super) oci_defaults: Vec<OciDefaults>,
    /// As written; an empty text counts as none.
    pub(super) cache_dir: Option<String>,
    pub(super) cache_may_break: bool,
    pub(super) protocols: RegistryProtocols,
    pub(super) findings: Findings,
}

/// A credentials helper with its arguments.
pub(super) struct NamedHelper {
    pub(super) name: String,
    pub(super) args: Vec<String>,
    pub(super) span: Span,
}

/// Reads the tree of one file.
pub(super) fn read(file: FileId, flavor: Flavor, entries: &[ConfigEntry]) -> FileContents {
    let mut contents = FileContents {
        hosts: BTreeMap::new(),
        tokens: BTreeMap::new(),
        helpers: Vec::new(),
        installations: Vec::new(),
        oci_credentials: Vec::new(),
        oci_defaults: Vec::new(),
        cache_dir: None,
        cache_may_break: false,
        protocols: RegistryProtocols::default(),
        findings: Findings {
            file,
            list: Vec::new(),
        },
    };
    for entry in entries {
        // HCL 1 looks for these names without regard to case, in JSON too.
        let top = entry.key.text.to_ascii_lowercase();
        let findings = &mut contents.findings;
        match top.as_str() {
            "oci_credentials" | "oci_default_credentials" | "registry_protocols"
                if !flavor.is_opentofu() =>
            {
                findings.opentofu_only(&entry.key, "block");
            }
            "host" => contents.each_host(entry, FileContents::host),
            "credentials" => contents.each_host(entry, FileContents::credentials),
            "credentials_helper" => contents.helpers(entry),
            "provider_installation" if entry.value.is_block() => {
                // Several blocks are an error of the whole configuration, not of this file (rules 1.5).
                let block = installation::read(findings, flavor, entry);
                contents.installations.push(block);
            }
            "plugin_cache_dir" => contents.cache_dir(entry),
            "plugin_cache_may_break_dependency_lock_file" => contents.cache_may_break(entry),
            "registry_protocols" => contents.protocols(entry),
            "oci_credentials" => {
                let read = oci_blocks::credentials(findings, entry);
                contents.oci_credentials.extend(read);
            }
            "oci_default_credentials" => {
                let read = oci_blocks::defaults(findings, entry);
                contents.oci_defaults.extend(read);
            }
            // The others are of no concern here.
            known if TOPS.contains(&known) => {}
            _ => contents.unknown_top(entry),
        }
    }
    contents
}

impl FileContents {
    /// Reads the blocks of a kind that has a host as its label. Both programs check these names.
    fn each_host(&mut self, entry: &ConfigEntry, read: fn(&mut Self, Hostname, &ConfigValue)) {
        let kind = &entry.key.text;
        if !entry.value.is_block() {
            let title = format!("Invalid {kind} block");
            let error = Diagnostic::error(rules::CLI_CONFIGURATION_INVALID, title)
                .help(format!("write {kind} \"example.com\" {{ … }}"));
            let note = "a host name and braces must follow";
            self.findings.push(error, entry.key.span, note);
        }
        for named in entry.value.entries() {
            let name = &named.key;
            // Without a label, the arguments of the block look like hosts.
            if !named.value.is_block() && !matches!(&named.value, ConfigValue::List(_)) {
                let title = format!("Missing host name for {kind}");
                let error = Diagnostic::error(rules::LABEL_WRONG, title)
                    .help(format!("write {kind} \"example.com\" {{ … }}"));
                let note = "one label is needed";
                return self.findings.push(error, entry.key.span, note);
            }
            match name.text.parse::<Hostname>() {
                Ok(host) => read(self, host, &named.value),
                Err(error) => {
                    let title = format!("The {kind} block has an invalid hostname");
                    let note = match name.text.len() {
                        // The message quotes the name, which may be a token in the wrong place.
                        0..=MAX_NAMED => error.to_string(),
                        _ => "this is no hostname".to_owned(),
                    };
                    let error = Diagnostic::error(rules::CLI_CONFIGURATION_INVALID, title)
                        .help("write the name as a browser shows it, without scheme or path");
                    self.findings.push(error, name.span, note);
                }
            }
        }
    }

    /// Reads a `host` block (rules 1.5, 3.1). The second one for a host in one file adds to the
    /// first, which is how HCL 1 fills a map; between files the later one wins as a whole.
    fn host(&mut self, host: Hostname, block: &ConfigValue) {
        let mut services = BTreeMap::new();
        for argument in block.entries() {
            match argument.key.text.to_ascii_lowercase().as_str() {
                "services" => services.append(&mut self.services(&host, &argument.value)),
                _ => self.findings.unknown_argument(&argument.key, &["services"]),
            }
        }
        self.hosts.entry(host).or_default().append(&mut services);
    }

    fn services(&mut self, host: &Hostname, value: &ConfigValue) -> BTreeMap<String, Secret> {
        let mut services = BTreeMap::new();
        for service in value.entries() {
            let name = &service.key;
            let fault = match &service.value {
                ConfigValue::Text(url) => {
                    services.insert(name.text.clone(), url.clone());
                    // The programs resolve it as a link on the discovery document. The reason shows nothing of
                    // the text, which may hold a password.
                    let document = Url::discovery(host);
                    let reason = match document.and_then(|document| document.join(url.reveal())) {
                        Ok(_) => continue,
                        Err(UrlError::Malformed { reason, .. }) => {
                            format!("this is no URL: {reason}")
                        }
                        Err(UrlError::Scheme { .. }) => "the URL must use http or https".to_owned(),
                    };
                    (rules::CLI_CONFIGURATION_INVALID, reason)
                }
                // `login.v1` is an object, which no request of ours needs.
                ConfigValue::Object(_) | ConfigValue::List(_)
                    if !VERSIONED.contains(&&*name.text) =>
                {
                    continue;
                }
                _ => (rules::WRONG_TYPE, "a URL in quotes must follow".to_owned()),
            };
            let error = Diagnostic::error(fault.0, "Invalid service URL")
                .help("write a URL in quotes, as in \"https://example.com/v1/providers/\"");
            self.findings.push(error, name.span, fault.1);
        }
        services
    }

    /// Reads a `credentials` block (rules 4.1). One without a token still hides the
    /// credentials helper.
    fn credentials(&mut self, host: Hostname, block: &ConfigValue) {
        let mut token = None;
        for argument in block.entries() {
            let name = &argument.key;
            match (name.text.as_str(), &argument.value) {
                ("token", ConfigValue::Text(text)) => token = Some(text.clone()),
                ("token", _) => {
                    let warning = Diagnostic::warning(rules::WRONG_TYPE, "Invalid token");
                    let note = "text in quotes must follow; no token is sent";
                    self.findings.push(warning, name.span, note);
                }
                _ => self.findings.unknown_argument(name, &["token"]),
            }
        }
        // Within one file a second block of a host adds to the first (rules 1.5), so one without a token does not
        // remove the token of the other.
        let of_host = self.tokens.entry(host).or_default();
        *of_host = token.or_else(|| of_host.take());
    }

    /// Reads the credentials helpers; arguments that are no text are left out.
    fn helpers(&mut self, entry: &ConfigEntry) {
        for helper in entry.value.entries() {
            let mut args = Vec::new();
            for argument in helper.value.entries() {
                if let ("args", ConfigValue::List(nodes)) = (&*argument.key.text, &argument.value) {
                    args.extend(
                        nodes
                            .iter()
                            .filter_map(ConfigValue::scalar)
                            .map(str::to_owned),
                    );
                }
            }
            self.helpers.push(NamedHelper {
                name: helper.key.text.clone(),
                args,
                span: helper.key.span,
            });
        }
    }

    fn cache_dir(&mut self, entry: &ConfigEntry) {
        match &entry.value {
            // The first path that is not empty counts, of all files (rules 2.1).
            ConfigValue::Text(dir) if dir.reveal().is_empty() => {}
            ConfigValue::Text(dir) => self.cache_dir = Some(dir.reveal().to_owned()),
            _ => {
                let note = "a path in quotes must follow";
                let title = "Invalid plugin_cache_dir";
                self.findings.wrong_type(title, entry.key.span, note);
            }
        }
    }

    fn cache_may_break(&mut self, entry: &ConfigEntry) {
        let written = match &entry.value {
            ConfigValue::Scalar(text) => text.reveal(),
            _ => "",
        };
        match written {
            "true" => self.cache_may_break = true,
            // It does not turn off what another file has turned on (rules 2.2).
            "false" => {}
            _ => {
                let title = format!("Invalid {}", entry.key.text);
                let note = "`true` or `false` must follow, without quotes";
                self.findings.wrong_type(title, entry.key.span, note);
            }
        }
    }

    /// Reports an unknown block or argument at the top.
    fn unknown_top(&mut self, entry: &ConfigEntry) {
        if !entry.value.is_block() {
            return self.findings.unknown_argument(&entry.key, &TOPS);
        }
        // The programs ignore unknown names (rules 1.6). A block was meant to have an effect, so it is an
        // error; an argument may be a leftover.
        let error = Diagnostic::error(rules::UNSUPPORTED_ITEM, "Unsupported block type");
        let note = "neither Terraform nor OpenTofu has such a block; they ignore it silently";
        let help =
            did_you_mean(&entry.key.text, &TOPS).unwrap_or_else(|| "delete the block".to_owned());
        self.findings.push(error.help(help), entry.key.span, note);
    }

    /// Reads retries and time limits of requests to registries (`sources` rules 4.7).
    fn protocols(&mut self, entry: &ConfigEntry) {
        for argument in entry.value.entries() {
            let names = ["retry_count", "request_timeout_seconds"];
            let number = argument.value.scalar().and_then(|text| text.parse().ok());
            match (&*argument.key.text, number) {
                (name, None) if names.contains(&name) => {
                    let title = format!("Invalid {name}");
                    let note = "a whole number must follow";
                    self.findings.wrong_type(title, argument.key.span, note);
                }
                ("retry_count", retries) => self.protocols.retries = retries,
                ("request_timeout_seconds", seconds) => self.protocols.timeout_seconds = seconds,
                _ => self.findings.unknown_argument(&argument.key, &names),
            }
        }
    }
}
