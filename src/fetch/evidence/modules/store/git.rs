//! Packages of repositories: which commit, and its files once and for all.

use super::failure;
use super::{ModuleAccess, ModulePackage, ModuleStore};
use crate::addr::module::{Query, RemoteModule};
use crate::flavor::Flavor;
use crate::modules::git::{AddressOrigin, GitFiles, GitLimits, GitRequest, GitSession};
use crate::remote_module::ModuleFailure;
use crate::store::answers::AnswerKind;

/// Numbers of digits in the ids of commits, by the two kinds of repositories.
const ID_DIGITS: [usize; 2] = [40, 64];

impl ModuleStore<'_> {
    /// Finds the package of a repository: the one of its commit if that is kept, else by git.
    pub(super) fn fetch_git(
        &self,
        module: &RemoteModule,
        origin: AddressOrigin,
        flavor: Flavor,
    ) -> Result<ModulePackage, ModuleFailure> {
        let address = KeptAddress::read(module)?;
        let ref_question = format!("{flavor} {}", address.reference);
        let known = match (&address.commit, self.access) {
            // A whole id never changes its meaning, so that no request is needed (rules 8.7).
            (Some(commit), _) => Some(commit.clone()),
            // A branch may have moved, so that its former commit counts only where nothing may be asked.
            (None, ModuleAccess::Cached) => self
                .cache
                .and_then(|cache| cache.find(AnswerKind::Refs, &ref_question))
                .and_then(|cached| String::from_utf8(cached.answer).ok()),
            (None, ModuleAccess::Fetched) => None,
        };
        if let Some(package) = known.and_then(|commit| self.kept(&address.question(&commit))) {
            return Ok(package);
        }
        if self.access == ModuleAccess::Cached {
            return Err(failure::not_fetched());
        }
        let request = GitRequest {
            package: &module.package,
            origin,
            flavor,
            files: GitFiles::Small,
        };
        let failed = |error| failure::git(&error);
        let session = GitSession::open(self.world, &request, GitLimits::MODULE).map_err(failed)?;
        let resolved = session.resolve().map_err(failed)?;
        let commit = resolved.commit.as_deref();
        if let Some(package) = commit.and_then(|commit| self.kept(&address.question(commit))) {
            self.keep_commit(&ref_question, commit);
            return Ok(package);
        }
        let fetched = session.fetch(&resolved).map_err(failed)?;
        let package = ModulePackage {
            commit: fetched.commit,
            ..ModulePackage::of(fetched.tree)
        };
        self.keep_commit(&ref_question, package.commit.as_deref());
        if let Some(commit) = &package.commit {
            self.keep(&address.question(commit), &package);
        }
        Ok(package)
    }

    fn keep_commit(&self, question: &str, commit: Option<&str>) {
        if let (Some(cache), Some(commit)) = (self.cache, commit) {
            cache.keep(AnswerKind::Refs, question, commit.as_bytes());
        }
    }
}

/// The address of a repository as the cache knows it: without anything secret.
pub(super) struct KeptAddress {
    /// The URL, without its query.
    url: String,
    /// The whole address with its ref.
    reference: String,
    /// The commit, if the address states its whole id: no request is needed to know it.
    commit: Option<String>,
}

impl KeptAddress {
    pub(super) fn read(module: &RemoteModule) -> Result<Self, ModuleFailure> {
        let (url, query) = module
            .package
            .split_once('?')
            .unwrap_or((&module.package, ""));
        let query = Query::parse_readable(query);
        let states = |name: &str| query.get(name).is_some_and(|value| !value.is_empty());
        if states("checksum") || states("archive") {
            let cause = "archive= and checksum= are for archives, not for repositories";
            return Err(failure::missing(cause));
        }
        let whole = RemoteModule {
            package: url.into(),
            sub: "".into(),
        };
        // A full id names the same files for ever. With `depth` a ref has to be the name of a branch or tag
        // (rules 6.6).
        let commit = query.get("ref").filter(|text| {
            let is_id = text.bytes().all(|b| b.is_ascii_hexdigit());
            is_id && ID_DIGITS.contains(&text.len()) && !states("depth")
        });
        Ok(Self {
            url: whole.shown(),
            reference: module.shown(),
            commit: commit.map(str::to_ascii_lowercase),
        })
    }

    /// Returns the cache key for the package of a commit.
    pub(super) fn question(&self, commit: &str) -> String {
        format!("{} {commit}", self.url)
    }
}
