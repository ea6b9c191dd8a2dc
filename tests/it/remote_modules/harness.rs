//! Finding the modules of a case, with a lab that serves what they need.

use std::path::Path;
use std::sync::Arc;

use lockctl::addr::module::{ModuleSource, RegistryModule};
use lockctl::cliconfig::{self, CliConfig, ConfigChoice, Netrc};
use lockctl::diag::Texts;
use lockctl::flavor::Flavor;
use lockctl::modules::store::{ModuleAccess, ModuleNet, ModuleStore};
use lockctl::net::RealHttp;
use lockctl::os::RealDisk;
use lockctl::remote_module::{
    FoundModule, ModuleFailure, ModuleFailureKind, ModuleRequest, PinRequest, RemoteModules,
    RequestedSource,
};
use lockctl::sources::discovery::{Discovery, Hosts};
use lockctl::sources::net::Net;
use lockctl::sources::retry::RetryPolicy;
use lockctl::store::answers::AnswerCache;
use lockctl::version::CoreConstraints;
use lockctl::world::mem::MemClock;
use lockctl::world::{Credentials, Disk as _};
use serde_json::Value;

use crate::module_lab::{ModuleLab, archive};
use crate::registry::sha256_hex;
use crate::remote_modules::packages::PackageCase;

/// A case that is being served.
pub(super) struct Case<'a> {
    lab: &'a ModuleLab,
    pub(super) input: Value,
    flavor: Flavor,
    made: PackageCase,
}

/// A call of a module.
pub(super) struct Call {
    pub(super) name: String,
    source: String,
    version: Option<String>,
}

/// Reads the calls of a configuration in the order of their names.
pub(super) fn calls(input: &Value) -> Vec<Call> {
    let text = input["root"]["main.tf"].as_str().unwrap_or_default();
    let mut found = Vec::new();
    for block in text.split("module \"").skip(1) {
        let argument = |name: &str| {
            let line = block
                .lines()
                .find(|line| line.trim_start().starts_with(name))?;
            let (_, value) = line.split_once('"')?;
            let value = value.rsplit_once('"')?.0;
            Some(value.to_owned())
        };
        found.push(Call {
            name: block.split('"').next().unwrap().to_owned(),
            source: argument("source").unwrap(),
            version: argument("version"),
        });
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

impl<'a> Case<'a> {
    pub(super) fn new(lab: &'a ModuleLab, case: &Value, flavor: Flavor) -> Self {
        let text = case["input"].to_string();
        let text = text.replace("<HOST>", flavor.default_host());
        let mut made = PackageCase::new(lab, &serde_json::from_str(&text).unwrap());
        let ca = lab.ca_file().display().to_string();
        made.env.vars.insert("SSL_CERT_FILE".to_owned(), ca.into());
        made.env.current_dir = made.path("root");
        Self {
            lab,
            input: serde_json::from_str(&made.fill(&text)).unwrap(),
            made,
            flavor,
        }
    }

    fn config(&self) -> CliConfig {
        let file = self.made.path("cli.tfrc");
        std::fs::write(&file, self.input["cli"].as_str().unwrap_or_default()).unwrap();
        let choice = ConfigChoice {
            flavor: self.flavor,
            file: Some(&file),
        };
        cliconfig::read(&RealDisk, &self.made.env, &mut Texts::default(), choice).0
    }

    /// Finds the modules of all calls, one after the other.
    pub(super) fn find(
        &self,
        access: ModuleAccess,
        cache: Option<&Path>,
    ) -> Vec<Result<FoundModule, ModuleFailure>> {
        let env = &self.made.env;
        let config = self.config();
        let (http, clock) = (RealHttp::new(env), MemClock::default());
        let netrc = Arc::new(Netrc::read(&RealDisk, env));
        let nets = |flavor| {
            let netrc = Arc::clone(&netrc);
            let net = Net {
                http: &http,
                clock: &clock,
                policy: RetryPolicy::of(env, flavor),
                package_credentials: Arc::new(move |url| {
                    let may = url.origin().encrypted && !url.has_user();
                    may.then(|| netrc.find(&url.host_and_port()))?
                }),
                observer: &|_| {},
                outages: Arc::default(),
            };
            let config = config.clone();
            let hosts = Hosts {
                services: config.hosts.clone(),
                credentials: Box::new(move |host| {
                    Ok(config.token(host).cloned().map(Credentials::Bearer))
                }),
            };
            let discovery = Arc::new(Discovery::new(net.clone(), hosts));
            Some(ModuleNet { net, discovery })
        };
        let cache = cache.map(|dir| AnswerCache::new(RealDisk.objects(dir), &clock));
        let store = ModuleStore::new(access, self.made.world(), Box::new(nets), cache.as_ref());
        let calls = calls(&self.input);
        let found = calls.iter().map(|call| {
            let wanted = call.version.as_deref();
            let wanted = wanted.map(|text| CoreConstraints::parse(text).unwrap());
            let source = match &wanted {
                Some(_) => {
                    RegistryModule::parse(&call.source, self.flavor).map(ModuleSource::Registry)
                }
                None => ModuleSource::parse(&call.source, self.flavor),
            };
            let source = match source {
                Ok(source) => source,
                Err(error) => {
                    return Err(ModuleFailure {
                        kind: ModuleFailureKind::Missing,
                        title: error.title(),
                        cause: error.to_string(),
                        help: None,
                    });
                }
            };
            let source = match &source {
                ModuleSource::Registry(module) => {
                    RequestedSource::Registry(module, wanted.as_ref())
                }
                ModuleSource::Remote(module) => RequestedSource::Remote(module),
                ModuleSource::Local(_) => panic!("no case of these has one"),
            };
            store.find(&ModuleRequest {
                source,
                flavor: self.flavor,
                pin: PinRequest::Unused,
            })
        });
        found.collect()
    }

    /// Returns the requests in the words of the recorder, without HEAD.
    pub(super) fn requests(&self) -> Vec<String> {
        let requests = self.lab.requests().into_iter();
        let requests = requests.filter(|one| one.method != "HEAD").map(|one| {
            let mut host = one.host;
            for (symbol, value) in self.lab.symbols() {
                if host == value {
                    symbol.clone_into(&mut host);
                }
            }
            let status = one
                .status
                .map_or("late".to_owned(), |status| status.to_string());
            let auth = one
                .auth
                .map_or(String::new(), |auth| format!(" auth={auth}"));
            format!("{} {host} {} {status}{auth}", one.method, one.target)
        });
        requests.collect()
    }
}

/// Returns the SHA-256 of an archive that a lab would serve, in hexadecimal digits.
pub(super) fn sha256_of_archive(described: &Value) -> String {
    sha256_hex(archive(described))
}
