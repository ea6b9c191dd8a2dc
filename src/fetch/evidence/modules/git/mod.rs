//! Packages from git repositories, by the program `git`.
//!
//! The objects of one commit are fetched into a bare repository in a private directory, which goes with the
//! value, and read from there. Nothing is ever checked out, so no hook, filter or attribute of a repository
//! counts; no text of a repository or an address is ever where git looks for an option (rules 5).

mod address;
mod command;
mod error;
mod objects;
mod refs;
mod submodules;

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub use address::AddressOrigin;
use address::GitAddress;
use command::{GitPlace, MAX_LINE_BYTES, unreachable};
pub use error::GitFailure;
use objects::CommitFiles;
use refs::{RefChoice, RemoteRefs, is_id};
use submodules::{MAX_NESTING, MAX_SETTINGS_BYTES, MAX_SUBMODULES, read_settings, submodule_url};

use super::package::{FileContent, MAX_KEPT_FILE_BYTES, PackageBuilder, PackageTree};
use crate::flavor::Flavor;
use crate::world::{Disk, Ended, Env, Run};

/// The parts of the outside that git needs.
#[derive(Clone, Copy)]
pub struct GitWorld<'a> {
    pub run: &'a dyn Run,
    pub disk: &'a dyn Disk,
    /// The environment; git gets nearly all of it.
    pub env: &'a dyn Env,
}

/// A commit of a repository that is wanted.
#[derive(Clone, Copy, Debug)]
pub struct GitRequest<'a> {
    /// The address of the package, perhaps behind `git::`, with its query.
    pub package: &'a str,
    pub origin: AddressOrigin,
    pub flavor: Flavor,
    pub files: GitFiles,
}

/// The files of a commit whose contents are fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitFiles {
    /// Those that configuration may read; large ones are left to the server.
    Small,
    /// All; large ones are hashed, and not kept.
    All,
}

/// Limits on time and size for one package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GitLimits {
    /// Maximum time until the refs of a repository are listed.
    pub list_time: Duration,
    /// Maximum time of any other run of git.
    pub fetch_time: Duration,
    /// Maximum size of the repositories of one package on the disk, in bytes.
    pub bytes: u64,
}

impl GitLimits {
    /// The limits for modules: a server has a minute for its refs and a quarter of an hour for one commit;
    /// that of the largest public repositories of modules has some 300 MB.
    pub const MODULE: Self = Self {
        list_time: Duration::from_secs(60),
        fetch_time: Duration::from_secs(15 * 60),
        bytes: 2 << 30,
    };
}

/// The package of a repository.
#[derive(Clone, Debug)]
pub struct GitPackage {
    pub tree: PackageTree,
    /// The commit; `None` for a repository without commits, which is an empty package.
    pub commit: Option<Arc<str>>,
}

/// The commit that the ref of an address points to now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedRef {
    /// The commit; `None` for a repository without commits.
    pub commit: Option<Arc<str>>,
    /// The name in the repository that the commit can be fetched by.
    name: Option<String>,
}

/// The filter that leaves large contents to the server, where it can.
const FILTER: &str = "--filter=blob:limit=262144";
const _: () = assert!(MAX_KEPT_FILE_BYTES == 262_144, "the filter says so");

/// Ref that holds a commit once it is fetched, so that git does not drop it.
const WANTED: &str = "refs/lockctl/wanted";

/// Resolves the ref of an address and fetches its package.
///
/// # Errors
/// If the repository cannot be read, has no such ref, or exceeds the limits; if anything about it is unsafe.
pub fn fetch_package(
    world: GitWorld<'_>,
    request: &GitRequest<'_>,
    limits: GitLimits,
) -> Result<GitPackage, GitFailure> {
    let session = GitSession::open(world, request, limits)?;
    let resolved = session.resolve()?;
    session.fetch(&resolved)
}

/// The work on one address. All repositories that it fetches are removed with the value.
pub struct GitSession<'a> {
    place: GitPlace<'a>,
    address: GitAddress,
    flavor: Flavor,
    files: GitFiles,
    /// The number of repositories that were made, each with a name of its own.
    made: Cell<usize>,
    submodules: Cell<usize>,
    /// The commit that was fetched last, and its repository.
    fetched: RefCell<Option<(String, PathBuf)>>,
}

impl<'a> GitSession<'a> {
    /// Checks an address, and makes a place for its repositories.
    ///
    /// # Errors
    /// If something about the address is unsafe, or there is no place.
    pub fn open(
        world: GitWorld<'a>,
        request: &GitRequest<'_>,
        limits: GitLimits,
    ) -> Result<Self, GitFailure> {
        let address = GitAddress::parse(request.package, request.origin)?;
        Ok(Self {
            place: GitPlace::new(world, limits)?,
            address,
            flavor: request.flavor,
            files: request.files,
            made: Cell::default(),
            submodules: Cell::default(),
            fetched: RefCell::default(),
        })
    }

    /// Resolves the ref of the address to a commit; no request is made for the whole id of one.
    ///
    /// # Errors
    /// If the repository cannot be read, or has no such ref.
    pub fn resolve(&self) -> Result<ResolvedRef, GitFailure> {
        let text = self.address.reference.as_deref();
        if let Some(text) = text.filter(|text| is_id(text) && !self.address.is_shallow) {
            return Ok(ResolvedRef {
                commit: Some(text.to_ascii_lowercase().into()),
                name: None,
            });
        }
        let refs = self.list()?;
        let resolved = |commit: Option<String>, name| ResolvedRef {
            commit: commit.map(Arc::from),
            name,
        };
        // Without a ref it is HEAD; without commits an empty package (rules 6.1).
        let Some(text) = text else {
            return Ok(match refs.head() {
                RefChoice::Named { name, id } => resolved(Some(id), Some(name)),
                _ => resolved(None, None),
            });
        };
        let choice = if self.address.is_shallow {
            // A shallow fetch can ask for a branch or tag only (rules 6.6).
            refs.choose_by_name(text)
        } else {
            refs.choose(text, self.flavor)
        };
        match choice {
            RefChoice::Id(id) => Ok(resolved(Some(id), None)),
            RefChoice::Named { name, id } => Ok(resolved(Some(id), Some(name))),
            RefChoice::Abbreviated(digits) => {
                // The commits of all branches and tags are enough to find an id by its first digits; trees and files
                // are fetched for the one that is found.
                let repository = self
                    .try_fetch(
                        &self.address,
                        refs.id_digits(),
                        &["--filter=tree:0"],
                        &EVERYTHING,
                    )?
                    .map_err(|ended| unreachable(&self.address, &ended))?;
                let commit = self
                    .revision(&repository, &digits)?
                    .ok_or_else(|| self.no_ref())?;
                Ok(resolved(Some(commit), None))
            }
            RefChoice::Unknown => self.name_of_file(&refs, text),
        }
    }

    /// Fetches the commit that was resolved, with all its submodules, and reads its files.
    ///
    /// If a branch was moved meanwhile, it is the newer commit.
    ///
    /// # Errors
    /// If it cannot be fetched, or exceeds the limits; if a submodule fails.
    pub fn fetch(&self, resolved: &ResolvedRef) -> Result<GitPackage, GitFailure> {
        let mut tree = PackageBuilder::new();
        let mut commit = None;
        if let Some(wanted) = &resolved.commit {
            let fetched = self.commit(&self.address, wanted, resolved.name.as_deref())?;
            tree = self.files(&self.address, &fetched, 0)?;
            commit = Some(Arc::from(fetched.0));
        }
        // Of no use to a module, but patterns match it (rules 2.7).
        tree.directory(b".git")?;
        Ok(GitPackage {
            tree: tree.finish(),
            commit,
        })
    }

    /// Returns options whose last is a filter, without it if all files are wanted.
    fn filtered<'o>(&self, options: &'o [&'static str]) -> &'o [&'static str] {
        match self.files {
            GitFiles::Small => options,
            GitFiles::All => &options[..options.len() - 1],
        }
    }

    fn list(&self) -> Result<RemoteRefs, GitFailure> {
        let url = self.address.secret_url();
        // `--` ends the options: an address could begin with a dash.
        let args = ["ls-remote", "--symref", "--", url];
        let ended = self.place.ask(&self.address, None, &args, b"")?;
        if ended.code != Some(0) {
            return Err(unreachable(&self.address, &ended));
        }
        RemoteRefs::parse(&ended.stdout).ok_or(GitFailure::Unexpected {
            command: "ls-remote",
        })
    }

    fn no_ref(&self) -> GitFailure {
        GitFailure::NoRef {
            text: self.address.reference.clone().unwrap_or_default(),
            is_shallow: self.address.is_shallow,
        }
    }

    /// Takes a ref for the name of a file of the default branch, where the program does (rules 6.7).
    fn name_of_file(&self, refs: &RemoteRefs, text: &str) -> Result<ResolvedRef, GitFailure> {
        let RefChoice::Named { name, id } = refs.head() else {
            return Err(self.no_ref());
        };
        // Terraform runs `git checkout REF`, which takes a path where no ref has that name (rules 6.7).
        // Patterns and magic paths are left out.
        let is_plain = !text.contains(['*', '?', '[', ':', '\\']) && !text.starts_with(['/', '.']);
        if self.flavor.verifies_module_refs() || self.address.is_shallow || !is_plain {
            return Err(self.no_ref());
        }
        let (commit, repository) = self.commit(&self.address, &id, Some(&name))?;
        let files = CommitFiles::list(&self.place, &repository, &commit, &self.address)?;
        if !files.has(text.trim_end_matches('/').as_bytes()) {
            return Err(self.no_ref());
        }
        self.fetched.replace(Some((commit.clone(), repository)));
        Ok(ResolvedRef {
            commit: Some(commit.into()),
            name: None,
        })
    }

    /// Fetches a commit of a repository: by its name, by its id, or with everything else. Servers may refuse the
    /// second.
    fn commit(
        &self,
        address: &GitAddress,
        wanted: &str,
        name: Option<&str>,
    ) -> Result<(String, PathBuf), GitFailure> {
        if let Some(fetched) = self.fetched.take().filter(|(commit, _)| commit == wanted) {
            return Ok(fetched);
        }
        let mut refusal = None;
        // Every server gives a name; whether it gives an id depends on its settings
        // (`uploadpack.allowReachableSHA1InWant`).
        for from in name.into_iter().chain([wanted]) {
            let spec = format!("+{from}:{WANTED}");
            let options = ["--depth=1", FILTER];
            match self.try_fetch(address, wanted.len(), self.filtered(&options), &[&spec])? {
                Ok(repository) => {
                    if let Some(commit) = self.revision(&repository, WANTED)? {
                        return Ok((commit, repository));
                    }
                }
                Err(ended) => refusal = Some(ended),
            }
        }
        // The commit may be one that no server names but that a branch leads to (rules 5.7).
        let options = self.filtered(&[FILTER]).to_vec();
        let repository = match self.try_fetch(address, wanted.len(), &options, &EVERYTHING)? {
            Ok(repository) => repository,
            // The first answer of the server is about the commit, not about everything.
            Err(ended) => return Err(unreachable(address, &refusal.unwrap_or(ended))),
        };
        match self.revision(&repository, wanted)? {
            Some(commit) => Ok((commit, repository)),
            None => Err(GitFailure::NoRef {
                text: wanted.to_owned(),
                is_shallow: false,
            }),
        }
    }

    /// Fetches into a new repository; the inner error is the output of a git that failed.
    fn try_fetch(
        &self,
        address: &GitAddress,
        digits: usize,
        options: &[&str],
        specs: &[&str],
    ) -> Result<Result<PathBuf, Ended>, GitFailure> {
        self.made.update(|made| made + 1);
        let name = format!("repository-{}", self.made.get());
        let repository = self.place.repository(&name, digits)?;
        // Tags that point to fetched commits are of no use here.
        let mut args = vec!["fetch", "--quiet", "--no-tags"];
        args.extend(options);
        args.extend(["--", address.secret_url()]);
        args.extend(specs);
        let ended = self.place.ask(address, Some(&repository), &args, b"")?;
        if ended.code != Some(0) {
            return Ok(Err(ended));
        }
        // A fetch with a filter makes git ask the server for missing objects later (promisor remotes);
        // reading must not.
        self.place.forget_remotes(&repository, digits)?;
        Ok(Ok(repository))
    }

    /// Resolves a revision in a repository; `None` if it names no commit.
    fn revision(&self, repository: &Path, text: &str) -> Result<Option<String>, GitFailure> {
        const COMMAND: &str = "rev-parse";
        let text = format!("{text}^{{commit}}");
        // The text begins with `refs/` or a digit of an id, so git cannot take it for an option.
        let args = [COMMAND, "--verify", "--quiet", &text];
        let ended = self
            .place
            .read(repository, &self.address, &args, b"", MAX_LINE_BYTES)?;
        let printed = String::from_utf8_lossy(&ended.stdout);
        let commit = printed.trim();
        match ended.code {
            Some(0) if is_id(commit) => Ok(Some(commit.to_owned())),
            Some(0) => Err(GitFailure::Unexpected { command: COMMAND }),
            _ => Ok(None),
        }
    }

    /// Reads the files of a commit that was fetched, and fetches the repositories in it.
    fn files(
        &self,
        address: &GitAddress,
        (commit, repository): &(String, PathBuf),
        nesting: usize,
    ) -> Result<PackageBuilder, GitFailure> {
        let files = CommitFiles::list(&self.place, repository, commit, address)?;
        let mut builder = files.package(&self.place, repository, address, self.files)?;
        let links = files.gitlinks();
        if links.is_empty() {
            return Ok(builder);
        }
        // A link in the place of this file is not followed, as by git: it could lead to another file of the
        // repository.
        let listed = match files.file(b".gitmodules") {
            Some(object) => self.settings(repository, object, address)?,
            None => Vec::new(),
        };
        let settings = read_settings(&listed);
        for link in links {
            let tree = submodule_url(&settings, &link, address.secret_url())
                .and_then(|url| match url {
                    Some(url) => self.submodule(url, &link.commit, address, nesting + 1),
                    None => Ok(PackageTree::default()),
                })
                // As in the programs a submodule that fails is a failure of the module (rules 7.1), even if no
                // call needs its files.
                .map_err(|cause| GitFailure::Submodule {
                    path: String::from_utf8_lossy(&link.path).into_owned(),
                    cause: Box::new(cause),
                })?;
            builder.join(&link.path, &tree)?;
        }
        Ok(builder)
    }

    fn submodule(
        &self,
        url: String,
        commit: &str,
        parent: &GitAddress,
        nesting: usize,
    ) -> Result<PackageTree, GitFailure> {
        // A repository may name itself as a submodule, at another commit each time (rules 7.5).
        self.submodules.update(|count| count + 1);
        for (count, limit, how) in [
            (self.submodules.get(), MAX_SUBMODULES, ""),
            (nesting, MAX_NESTING, " in each other"),
        ] {
            if count > limit {
                let fault = format!("the package has more than {limit} submodules{how}");
                return Err(GitFailure::Unusable(fault));
            }
        }
        let address = GitAddress::of_submodule(url, parent.key.clone())?;
        // The repository states the commit, so that no branch of the submodule counts (rules 7.1).
        let fetched = self.commit(&address, commit, None)?;
        let mut builder = self.files(&address, &fetched, nesting)?;
        // In a checkout it is a file.
        builder.file(b".git", FileContent::Kept(Arc::from(&b""[..])))?;
        Ok(builder.finish())
    }

    /// Lists the settings of `.gitmodules`; files that it includes are not read.
    fn settings(
        &self,
        repository: &Path,
        object: &str,
        address: &GitAddress,
    ) -> Result<Vec<u8>, GitFailure> {
        const COMMAND: &str = "config";
        let blob = format!("--blob={object}");
        // Without this option a repository could name files of this machine to be read.
        let args = [COMMAND, "--no-includes", &blob, "--list", "-z"];
        let ended = self
            .place
            .read(repository, address, &args, b"", MAX_SETTINGS_BYTES)?;
        match ended.code {
            Some(0) => Ok(ended.stdout),
            _ => Err(GitFailure::Unusable(
                ".gitmodules cannot be read by git".to_owned(),
            )),
        }
    }
}

/// Refs that a clone fetches.
const EVERYTHING: [&str; 2] = [
    "+refs/heads/*:refs/remotes/origin/*",
    "+refs/tags/*:refs/tags/*",
];
