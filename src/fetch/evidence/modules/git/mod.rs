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

use std::sync::Arc;
use std::time::Duration;

pub use address::AddressOrigin;
use address::GitAddress;
use command::{BareRepository, GitPlace, MAX_LINE_BYTES, Remote, unreachable};
pub use error::GitFailure;
use objects::CommitFiles;
use refs::{RefChoice, RemoteRefs, is_id};
use submodules::{
    MAX_NESTING, MAX_SETTINGS_BYTES, MAX_SUBMODULES, SubmodulePlan, plan, read_settings,
};

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
    let mut session = GitSession::open(world, request, limits)?;
    let resolved = session.resolve()?;
    session.fetch(&resolved)
}

/// The work on one address. All repositories that it fetches are removed with the value.
pub struct GitSession<'a> {
    place: GitPlace<'a>,
    address: GitAddress,
    origin: AddressOrigin,
    flavor: Flavor,
    files: GitFiles,
    /// The number of repositories that were made, each with a name of its own.
    made: usize,
    submodules: usize,
    /// The commit that was fetched last, and where it is.
    fetched: Option<(String, BareRepository)>,
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
            origin: request.origin,
            flavor: request.flavor,
            files: request.files,
            made: 0,
            submodules: 0,
            fetched: None,
        })
    }

    /// Resolves the ref of the address to a commit; no request is made for the whole id of one.
    ///
    /// # Errors
    /// If the repository cannot be read, or has no such ref.
    pub fn resolve(&mut self) -> Result<ResolvedRef, GitFailure> {
        let text = self.address.reference.clone();
        if let Some(text) = text
            .as_ref()
            .filter(|text| is_id(text) && !self.address.is_shallow)
        {
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
            refs.choose_by_name(&text)
        } else {
            refs.choose(&text, self.flavor)
        };
        match choice {
            RefChoice::Id(id) => Ok(resolved(Some(id), None)),
            RefChoice::Named { name, id } => Ok(resolved(Some(id), Some(name))),
            RefChoice::Abbreviated(digits) => {
                let commit = self.find_in_history(&digits, refs.id_digits())?;
                Ok(resolved(Some(commit), None))
            }
            RefChoice::Unknown => self.name_of_file(&refs, &text),
        }
    }

    /// Fetches the commit that was resolved, with all its submodules, and reads its files.
    ///
    /// If a branch was moved meanwhile, it is the newer commit.
    ///
    /// # Errors
    /// If it cannot be fetched, or exceeds the limits; if a submodule fails.
    pub fn fetch(&mut self, resolved: &ResolvedRef) -> Result<GitPackage, GitFailure> {
        let mut tree = PackageBuilder::new();
        let mut commit = None;
        if let Some(wanted) = &resolved.commit {
            let fetched = self.commit(wanted, resolved.name.as_deref())?;
            let remote = Remote {
                address: &self.address.clone(),
                origin: self.origin,
            };
            tree = self.files(remote, &fetched, 0)?;
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
        let ended = self.place.ask(self.remote(), None, &args, b"")?;
        if ended.code != Some(0) {
            return Err(unreachable(&self.address, &ended));
        }
        RemoteRefs::parse(&ended.stdout).ok_or(GitFailure::Unexpected {
            command: "ls-remote",
        })
    }

    fn remote(&self) -> Remote<'_> {
        Remote {
            address: &self.address,
            origin: self.origin,
        }
    }

    fn no_ref(&self) -> GitFailure {
        GitFailure::NoRef {
            text: self.address.reference.clone().unwrap_or_default(),
            is_shallow: self.address.is_shallow,
        }
    }

    /// Finds a commit by the beginning of its id: that takes the commits of all branches and tags.
    fn find_in_history(&mut self, text: &str, digits: usize) -> Result<String, GitFailure> {
        let address = self.address.clone();
        let remote = Remote {
            address: &address,
            origin: self.origin,
        };
        let repository = self
            // Commits are enough to find an id by its first digits; trees and files are fetched for the one
            // that is found.
            .try_fetch(remote, digits, &["--filter=tree:0"], &EVERYTHING)?
            .map_err(|ended| unreachable(&address, &ended))?;
        self.revision(&repository, text)?
            .ok_or_else(|| self.no_ref())
    }

    /// Takes a ref for the name of a file of the default branch, where the program does (rules 6.7).
    fn name_of_file(&mut self, refs: &RemoteRefs, text: &str) -> Result<ResolvedRef, GitFailure> {
        let RefChoice::Named { name, id } = refs.head() else {
            return Err(self.no_ref());
        };
        // Terraform runs `git checkout REF`, which takes a path where no ref has that name (rules 6.7).
        // Patterns and magic paths are left out.
        let is_plain = !text.contains(['*', '?', '[', ':', '\\']) && !text.starts_with(['/', '.']);
        if self.flavor.verifies_module_refs() || self.address.is_shallow || !is_plain {
            return Err(self.no_ref());
        }
        let (commit, repository) = self.commit(&id, Some(&name))?;
        let files = CommitFiles::list(&self.place, &repository, &commit, &self.address)?;
        if !files.has(text.trim_end_matches('/').as_bytes()) {
            return Err(self.no_ref());
        }
        self.fetched = Some((commit.clone(), repository));
        Ok(ResolvedRef {
            commit: Some(commit.into()),
            name: None,
        })
    }

    /// Fetches a commit of the repository of the address.
    fn commit(
        &mut self,
        wanted: &str,
        name: Option<&str>,
    ) -> Result<(String, BareRepository), GitFailure> {
        if let Some(fetched) = self.fetched.take_if(|(commit, _)| commit == wanted) {
            return Ok(fetched);
        }
        let address = self.address.clone();
        let remote = Remote {
            address: &address,
            origin: self.origin,
        };
        self.commit_of(remote, wanted, name)
    }

    /// Fetches a commit of any repository: by its name, by its id, or with everything else. Servers may refuse
    /// the second.
    fn commit_of(
        &mut self,
        remote: Remote<'_>,
        wanted: &str,
        name: Option<&str>,
    ) -> Result<(String, BareRepository), GitFailure> {
        let mut refusal = None;
        // Every server gives a name; whether it gives an id depends on its settings
        // (`uploadpack.allowReachableSHA1InWant`).
        for from in name.into_iter().chain([wanted]) {
            let spec = format!("+{from}:{WANTED}");
            let options = ["--depth=1", FILTER];
            match self.try_fetch(remote, wanted.len(), self.filtered(&options), &[&spec])? {
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
        let repository = match self.try_fetch(remote, wanted.len(), &options, &EVERYTHING)? {
            Ok(repository) => repository,
            // The first answer of the server is about the commit, not about everything.
            Err(ended) => return Err(unreachable(remote.address, &refusal.unwrap_or(ended))),
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
        &mut self,
        remote: Remote<'_>,
        digits: usize,
        options: &[&str],
        specs: &[&str],
    ) -> Result<Result<BareRepository, Ended>, GitFailure> {
        self.made += 1;
        let repository = self
            .place
            .repository(&format!("repository-{}", self.made), digits)?;
        // Tags that point to fetched commits are of no use here.
        let mut args = vec!["fetch", "--quiet", "--no-tags"];
        args.extend(options);
        args.extend(["--", remote.address.secret_url()]);
        args.extend(specs);
        let ended = self.place.ask(remote, Some(&repository), &args, b"")?;
        if ended.code != Some(0) {
            return Ok(Err(ended));
        }
        // A fetch with a filter makes git ask the server for missing objects later (promisor remotes);
        // reading must not.
        self.place.forget_remotes(&repository, digits)?;
        Ok(Ok(repository))
    }

    /// Resolves a revision in a repository; `None` if it names no commit.
    fn revision(
        &self,
        repository: &BareRepository,
        text: &str,
    ) -> Result<Option<String>, GitFailure> {
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
        &mut self,
        remote: Remote<'_>,
        (commit, repository): &(String, BareRepository),
        nesting: usize,
    ) -> Result<PackageBuilder, GitFailure> {
        let files = CommitFiles::list(&self.place, repository, commit, remote.address)?;
        let mut builder = files.package(&self.place, repository, remote, self.files)?;
        let links = files.gitlinks();
        if links.is_empty() {
            return Ok(builder);
        }
        // A link in the place of this file is not followed, as by git: it could lead to another file of the
        // repository.
        let listed = match files.file(b".gitmodules") {
            Some(object) => self.settings(repository, object, remote.address)?,
            None => Vec::new(),
        };
        let settings = read_settings(&listed);
        for link in links {
            let tree = plan(&settings, &link, remote.address.secret_url())
                .and_then(|plan| self.submodule(plan, &link.commit, remote, nesting + 1))
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
        &mut self,
        plan: SubmodulePlan,
        commit: &str,
        parent: Remote<'_>,
        nesting: usize,
    ) -> Result<PackageTree, GitFailure> {
        let SubmodulePlan::Fetch { url } = plan else {
            return Ok(PackageTree::default());
        };
        // A repository may name itself as a submodule, at another commit each time (rules 7.5).
        self.submodules += 1;
        for (count, limit, is_nesting) in [
            (self.submodules, MAX_SUBMODULES, false),
            (nesting, MAX_NESTING, true),
        ] {
            if count > limit {
                return Err(GitFailure::TooManySubmodules { limit, is_nesting });
            }
        }
        let address = GitAddress::of_submodule(url, parent.address.key.clone())?;
        let remote = Remote {
            address: &address,
            origin: AddressOrigin::Repository,
        };
        // The repository states the commit, so that no branch of the submodule counts (rules 7.1).
        let fetched = self.commit_of(remote, commit, None)?;
        let mut builder = self.files(remote, &fetched, nesting)?;
        // In a checkout it is a file.
        builder.file(b".git", FileContent::Kept(Arc::from(&b""[..])))?;
        Ok(builder.finish())
    }

    /// Lists the settings of `.gitmodules`; files that it includes are not read.
    fn settings(
        &self,
        repository: &BareRepository,
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
            _ => Err(GitFailure::BadSubmodule {
                what: "cannot be read by git",
            }),
        }
    }
}

/// Refs that a clone fetches.
const EVERYTHING: [&str; 2] = [
    "+refs/heads/*:refs/remotes/origin/*",
    "+refs/tags/*:refs/tags/*",
];
