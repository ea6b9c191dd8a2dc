//! `lockctl show --build`: the builds of locked packages as rows, and as cells of a table.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use super::ShowArgs;
use crate::advice;
use crate::advice::required::Required;
use crate::contents::{BuildInfo, BuiltModule, PackageBuild, ReleaseBuilds};
use crate::diag::{Texts, counted};
use crate::hash::Hash;
use crate::package::{AttestedBuild, AttestedBuilds};
use crate::packages::PackagePlace;
use crate::report::json::{
    ContentsKnowledge, GoBuildRow, PackageBuildRow, ReleaseBuildRow, ShownProvider,
};
use crate::report::shared::range;
use crate::report::{Column, Failure, RootResult, Sentence};
use crate::run::builds::{BuildReader, ReadBuilds};
use crate::run::provider::or_dash;
use crate::run::root::{LockText, Root};
use crate::run::session::Session;
use crate::run::user::sources::Sources;

/// The columns of a table about builds.
pub(super) const COLUMNS: &[Column] = &[
    Column::Key("PROVIDER"),
    Column::Key("VERSION"),
    Column::Key("GO"),
    Column::Long("MAIN MODULE"),
    Column::Key("COMMIT"),
    Column::Key("TIME"),
    Column::Key("SOURCE"),
    Column::Key("ATTESTED"),
    Column::Key("MODULES"),
    Column::Key("PLATFORMS"),
];

/// Number of digits of a commit that are shown, as git shows them.
const COMMIT_DIGITS: usize = 12;

/// The builds of locked packages, read and made into rows.
pub(super) struct ShownBuilds<'a> {
    session: Rc<Session<'a>>,
    reader: BuildReader<'a>,
    rows: BuildRows,
}

impl<'a> ShownBuilds<'a> {
    pub(super) fn new(args: &ShowArgs, session: &Rc<Session<'a>>) -> Self {
        let named = args
            .fs_mirrors
            .iter()
            .map(|dir| PackagePlace::named_mirror(session.options.below(dir)))
            .collect();
        let sources = args
            .contents
            .then(|| Sources::new(Rc::clone(session), None));
        Self {
            session: Rc::clone(session),
            reader: BuildReader::new(Rc::clone(session), named, sources),
            rows: BuildRows::default(),
        }
    }

    /// Adds the builds of a root's packages to its rows.
    ///
    /// # Errors
    /// If the mirror that the project file names cannot be used.
    pub(super) fn add(
        &mut self,
        shown: &mut [ShownProvider],
        root: &Root,
        lock: &LockText,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<(), Failure> {
        let ReadBuilds { mut builds, errors } = self.reader.of_root(root, lock, texts, result)?;
        let (session, document) = (&self.session, &lock.document);
        let releases = session.facts.releases(root, &document.lock, session.world);
        let none = AttestedBuilds::new();
        for provider in shown {
            let builds = builds.remove(&provider.provider).unwrap_or_default();
            let attested = releases.attested(&provider.provider).unwrap_or(&none);
            provider.build = Some(self.rows.release(builds, attested));
        }
        // Failed downloads are reported, and the known builds are still shown.
        if !errors.is_empty() {
            advice::lock::errors(
                result,
                &errors,
                root.flavor,
                &Required::of(root, None, texts),
            );
        }
        Ok(())
    }
}

/// Rows that packages of several roots share: without sharing, thousands of roots would each hold the modules of a
/// large provider.
#[derive(Default)]
struct BuildRows {
    rows: BTreeMap<Hash, Arc<GoBuildRow>>,
}

impl BuildRows {
    /// Makes the row of a release.
    fn release(&mut self, builds: ReleaseBuilds, attested: &AttestedBuilds) -> ReleaseBuildRow {
        let is_known = builds.known().next().is_some();
        let commits = builds.commits().len();
        let packages: Vec<PackageBuildRow> = builds
            .packages
            .iter()
            .map(|package| self.package(package, attested))
            .collect();
        let compared: Vec<bool> = packages
            .iter()
            .filter_map(|row| Some((row.build.as_ref()?.commit.as_ref()?, row.attested.as_ref()?)))
            .map(|(commit, attested)| *commit == attested.commit)
            .collect();
        ReleaseBuildRow {
            attested_commit: (!compared.is_empty()).then(|| compared.iter().all(|same| *same)),
            same_commit: (commits > 0).then_some(commits == 1),
            same_modules: is_known.then(|| {
                // Sets, because programs for different platforms may list the same modules in different orders.
                let modules = |info: &BuildInfo| {
                    let text = |module: &BuiltModule| format!("{module:?}");
                    Some(info.deps.iter().map(text).collect::<BTreeSet<String>>())
                };
                builds.platforms_by(modules).len() == 1
            }),
            packages,
            builds,
        }
    }

    fn package(&mut self, package: &PackageBuild, attested: &AttestedBuilds) -> PackageBuildRow {
        let key = package.zh.as_ref().or(package.h1.as_ref());
        // Another root may trust facts that this one does not: so a row is shared only where both know the contents.
        let build = package.info().map(|info| {
            // Contents depend on the package only, so equal hashes have equal rows.
            let make = || Arc::new(GoBuildRow::from(info));
            match key {
                Some(key) => Arc::clone(self.rows.entry(key.clone()).or_insert_with(make)),
                None => make(),
            }
        });
        PackageBuildRow {
            platform: package.platform.clone(),
            zh: package.zh.clone(),
            h1: package.h1.clone(),
            contents: match (&package.contents, &build) {
                (None, _) => ContentsKnowledge::NotRead,
                (Some(_), None) => ContentsKnowledge::Unknown,
                (Some(_), Some(_)) => ContentsKnowledge::Known,
            },
            build,
            attested: package.zh.as_ref().and_then(|zh| attested.get(zh)?.clone()),
        }
    }
}

/// Returns the cells about a provider's builds.
pub(super) fn cells(shown: &ShownProvider) -> Vec<String> {
    let Some(row) = &shown.build else {
        return Vec::new();
    };
    let builds = &row.builds;
    // One word explains the dashes, which could be read as results otherwise.
    if builds.known().next().is_none() {
        let was_read = builds
            .packages
            .iter()
            .any(|package| package.contents.is_some());
        let word = if was_read { "unknown" } else { "not read" };
        let mut cells = vec![word.to_owned()];
        cells.resize(COLUMNS.len() - 2, "-".to_owned());
        return cells;
    }
    let all = |text: &dyn Fn(&BuildInfo) -> Option<String>| -> Vec<String> {
        builds.platforms_by(text).into_keys().collect()
    };
    let main = all(&|info| {
        let main = info.main.as_ref()?;
        Some(format!("{} {}", main.path, main.version))
    });
    let commit = match &*builds.commits().into_keys().collect::<Vec<String>>() {
        [] => String::new(),
        [commit] => commit.chars().take(COMMIT_DIGITS).collect(),
        several => counted(several.len(), "commit"),
    };
    let states = builds.platforms_by(BuildInfo::is_dirty);
    let source = match (states.get(&true), states.get(&false)) {
        (None, None) => "-".to_owned(),
        (None, Some(_)) => "clean".to_owned(),
        (Some(_), None) => "dirty".to_owned(),
        (Some(dirty), Some(clean)) => {
            format!("dirty on {} of {}", dirty.len(), dirty.len() + clean.len())
        }
    };
    // Platforms may need different modules, so their number may be a range.
    let counts: Vec<usize> = builds.known().map(|(_, info)| info.deps.len()).collect();
    let modules = if counts.is_empty() {
        String::new()
    } else {
        range(&counts)
    };
    vec![
        all(&|info| Some(info.go_version.clone())).join(", "),
        or_dash(main.join(", ")),
        or_dash(commit),
        or_dash(
            all(&|info| info.time().map(str::to_owned))
                .pop()
                .unwrap_or_default(),
        ),
        source,
        attested(row),
        modules,
        row.coverage(),
    ]
}

/// Says whether the programs name the commit that attestations state.
fn attested(row: &ReleaseBuildRow) -> String {
    match row.attested_commit {
        Some(true) => "same commit".to_owned(),
        Some(false) => "other commit".to_owned(),
        None if row.packages.iter().any(|it| it.attested.is_some()) => "yes".to_owned(),
        None => "-".to_owned(),
    }
}

/// Returns lines about each package of a provider.
pub(super) fn lines(shown: &ShownProvider) -> Vec<String> {
    let mut lines = Vec::new();
    let Some(row) = &shown.build else {
        return lines;
    };
    for (package, shown) in row.builds.packages.iter().zip(&row.packages) {
        match (package.info(), &package.contents) {
            (Some(info), _) => {
                lines.push(format!("{}  {}", package.platform, info.go_version));
                lines.extend(
                    info.to_string()
                        .lines()
                        // Tabs separate columns (`contents` rules 3.1); terminals differ in their widths.
                        .map(|line| line.replace('\t', "  ").trim_end().to_owned())
                        .filter(|line| !line.trim().is_empty()),
                );
            }
            (None, Some(_)) => lines.push(format!("{}  unknown", package.platform)),
            (None, None) => lines.push(format!("{}  not read", package.platform)),
        }
        if let Some(AttestedBuild {
            repository,
            commit,
            git_ref,
            workflow,
        }) = &shown.attested
        {
            lines.push(format!(
                "  attested  {repository}  {commit}  {git_ref}  {workflow}"
            ));
        }
    }
    lines
}

/// Counts the packages that were not read, and names the command that reads them; `None` if all were read.
///
/// `named` are the arguments that name the roots of the run.
pub(super) fn unread(roots: &[RootResult], contents: bool, named: &str) -> Option<Sentence> {
    let mut unread = BTreeSet::new();
    for shown in roots.iter().flat_map(super::text::shown) {
        let Some(row) = &shown.build else { continue };
        let release = (&shown.provider, &shown.version);
        if row.packages.is_empty() {
            unread.insert((release, None));
        }
        for package in &row.packages {
            if package.contents == ContentsKnowledge::NotRead {
                unread.insert((release, Some(&package.platform)));
            }
        }
    }
    // The number of packages of a release is unknown if none of them is known.
    let (releases, packages): (Vec<_>, Vec<_>) = unread
        .into_iter()
        .partition(|(_, platform)| platform.is_none());
    let mut what = Vec::new();
    if !packages.is_empty() {
        what.push(counted(packages.len(), "package"));
    }
    if !releases.is_empty() {
        what.push(format!(
            "all packages of {}",
            counted(releases.len(), "release")
        ));
    }
    let what = what.join(" and ");
    if what.is_empty() {
        None
    } else if contents {
        Some(Sentence::note(format!(
            "the contents of {what} are not known; only packages in a signed list are read"
        )))
    } else {
        Some(Sentence::note(format!(
            "the contents of {what} are not known; `lockctl show --build --contents{named}` downloads and reads them"
        )))
    }
}
