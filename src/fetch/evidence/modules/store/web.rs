//! Packages over http: archives, and directories whose server says where the package is.

use std::io::Seek as _;

use super::failure;
use super::{MAX_STEPS, ModulePackage, ModuleStore};
use crate::addr::module::{Query, RemoteModule};
use crate::addr::{Url, UrlError};
use crate::flavor::Flavor;
use crate::hash::{Checksum, ChecksumKind};
use crate::modules::archive::{ArchiveKind, MAX_ARCHIVE_BYTES, NamedArchive, read_archive};
use crate::modules::git::AddressOrigin;
use crate::remote_module::ModuleFailure;
use crate::sources::download::{Check, PackageRequest, Transfer, download};
use crate::sources::modules::{checksum_of, directory};
use crate::sources::net::Net;
use crate::world::Scratch;

/// The value of `checksum=` that names a list.
const LIST_PREFIX: &str = "file:";

/// The address of a package over http, taken apart.
pub(super) struct WebAddress {
    /// The URL to request, without go-getter's parameters.
    pub(super) url: Url,
    /// The kind of archive; a directory has none.
    pub(super) archive: Option<NamedArchive>,
    /// The checksum that the archive must have.
    pub(super) checksum: Option<WantedChecksum>,
}

/// The checksum that an address states.
pub(super) enum WantedChecksum {
    /// A checksum in the address itself.
    Stated(Checksum),
    /// The one of a list, for the name of the archive.
    Listed(Url),
}

impl ModuleStore<'_> {
    /// Fetches a package over http; `rest` is its address without `KIND::`.
    pub(super) fn fetch_web(
        &self,
        module: &RemoteModule,
        rest: &str,
        flavor: Flavor,
        steps: usize,
    ) -> Result<ModulePackage, ModuleFailure> {
        let address = WebAddress::read(rest, flavor)?;
        let Some(kind) = address.archive else {
            if address.checksum.is_some() {
                let cause = "a checksum is stated, but the address is not that of an archive";
                return Err(failure::missing(cause));
            }
            let Some(steps) = steps.checked_sub(1) else {
                return Err(failure::too_many_steps(MAX_STEPS));
            };
            let named = directory(&self.network(flavor)?.net, &address.url)
                .map_err(|error| failure::directory(&error))?;
            // Over plain http anyone on the way could have written the document that names the package.
            let origin = if address.url.origin().encrypted {
                AddressOrigin::Server
            } else {
                AddressOrigin::PlainServer
            };
            return self.step(&named, origin, flavor, steps);
        };
        let NamedArchive::Archive(kind) = kind else {
            return Err(single_file());
        };
        // Only an archive with a checksum stays the same: others are downloaded in each run (rules 4.1, 4.2).
        let kept_as = address.kept_as(kind);
        if let Some(package) = kept_as.as_ref().and_then(|question| self.kept(question)) {
            return Ok(package);
        }
        let network = self.network(flavor)?;
        let checksum = address.wanted_checksum(&network.net)?;
        let request = PackageRequest {
            url: &address.url,
            check: Check::Address,
            headers: &[],
            limit: MAX_ARCHIVE_BYTES,
            bytes: None,
            retries: None,
            // A body that its server says to be compressed is decoded, also where that is wrong, as by the
            // programs (`sources` rules 13.2).
            transfer: Transfer::Encoded,
            allowance: None,
        };
        let mut file = download(&network.net, &|| self.world.disk.scratch(), request)
            .map_err(|error| failure::download(&error))?
            .file;
        check(&mut file, checksum.as_ref(), &module.shown())?;
        // The kind is believed: an archive of another kind under this name is an error (rules 3.3).
        let tree = read_archive(kind, file).map_err(|error| failure::package(&error))?;
        let package = ModulePackage::of(tree);
        if let Some(question) = kept_as {
            self.keep(&question, &package);
        }
        Ok(package)
    }
}

/// Compares an archive with the checksum that its address states.
pub(super) fn check(
    file: &mut Box<dyn Scratch>,
    wanted: Option<&Checksum>,
    shown: &str,
) -> Result<(), ModuleFailure> {
    let Some(wanted) = wanted else { return Ok(()) };
    match file.rewind().and_then(|()| wanted.is_of(&mut *file)) {
        Ok(true) => Ok(()),
        Ok(false) => Err(failure::missing(format!(
            "{shown} does not have the checksum {wanted}"
        ))),
        Err(error) => Err(failure::missing(error.to_string())),
    }
}

pub(super) fn single_file() -> ModuleFailure {
    failure::missing("a single compressed file is no module")
}

/// Takes `archive=` and `checksum=` out of a query (`sources` rules 13.1, 13.3).
pub(super) fn archive_arguments(
    query: &mut Query,
    path: &str,
    flavor: Flavor,
) -> Result<(Option<NamedArchive>, Option<WantedChecksum>), ModuleFailure> {
    /// Values of `archive` that say that there is no archive.
    const NONE: [&str; 6] = ["0", "f", "F", "false", "FALSE", "False"];
    let archive = match query.get("archive").filter(|value| !value.is_empty()) {
        // go-getter reads the value as a Go boolean first: these spellings mean false.
        Some(value) if NONE.contains(&value) => None,
        Some(value) => NamedArchive::of_value(value, flavor),
        None => NamedArchive::of_path(path, flavor),
    };
    let bad = |cause: String| failure::missing(cause);
    let checksum = match query.get("checksum").filter(|value| !value.is_empty()) {
        None => None,
        Some(value) => Some(match value.strip_prefix(LIST_PREFIX) {
            Some(list) => {
                let url = list
                    .parse()
                    .map_err(|error: UrlError| bad(error.to_string()))?;
                WantedChecksum::Listed(url)
            }
            None => {
                let checksum = Checksum::parse(value).map_err(|error| bad(error.to_string()))?;
                WantedChecksum::Stated(checksum)
            }
        }),
    };
    query.remove("archive");
    query.remove("checksum");
    Ok((archive, checksum))
}

impl WebAddress {
    fn read(text: &str, flavor: Flavor) -> Result<Self, ModuleFailure> {
        let url: Url = text
            .parse()
            .map_err(|error: UrlError| failure::missing(error.to_string()))?;
        let mut arguments = Ok((None, None));
        let url = url.map_query(|query| {
            let mut query = Query::parse_readable(query);
            arguments = archive_arguments(&mut query, url.path(), flavor);
            query.encode()
        });
        let (archive, checksum) = arguments?;
        Ok(Self {
            url,
            archive,
            checksum,
        })
    }

    /// Returns the checksum of the archive; one of a list is fetched.
    fn wanted_checksum(&self, net: &Net<'_>) -> Result<Option<Checksum>, ModuleFailure> {
        match &self.checksum {
            None => Ok(None),
            Some(WantedChecksum::Stated(checksum)) => Ok(Some(checksum.clone())),
            Some(WantedChecksum::Listed(list)) => {
                let name = self.url.path().rsplit('/').next().unwrap_or_default();
                let checksum =
                    checksum_of(net, list, name).map_err(|error| failure::download(&error))?;
                if checksum.is_none() {
                    let cause = format!("{list} has no checksum of {name:?}");
                    return Err(failure::missing(cause));
                }
                Ok(checksum)
            }
        }
    }

    /// Returns the cache key of the archive: only a checksum that cannot be forged names one archive for ever
    /// (rules 8.3).
    fn kept_as(&self, kind: ArchiveKind) -> Option<String> {
        let Some(WantedChecksum::Stated(checksum)) = &self.checksum else {
            return None;
        };
        // MD5 and SHA-1 collide: two archives can be made that have the same checksum.
        let is_strong = matches!(checksum.kind(), ChecksumKind::Sha256 | ChecksumKind::Sha512);
        is_strong.then(|| format!("archive {} {checksum}", kind.as_str()))
    }
}
