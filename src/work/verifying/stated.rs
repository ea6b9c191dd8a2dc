//! `verify --fix`: platforms that a release has no package for are answered in the project file.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::job::VerifiedRoot;
use super::shared_policy::SharedPolicy;
use crate::addr::ProviderAddr;
use crate::diag::{Finding, rules};
use crate::hcl::edit::{BlockName, Expression, HclEditor};
use crate::package::{WantedPlatforms, WantedSet};
use crate::platform::{self, Platform};
use crate::run::edits::edit_project_file;
use crate::run::session::Session;
use crate::verify::fix::Repair;

/// The project files that are to state platforms, by their paths.
type StatedFiles = BTreeMap<PathBuf, StatedFile>;

/// The statements of a project file.
#[derive(Default)]
struct StatedFile {
    /// The places of the roots that it governs.
    roots: Vec<usize>,
    /// Some root asks for a statement.
    is_wanted: bool,
    /// The platforms of each provider and the label of its block; `None` where roots differ.
    providers: BTreeMap<ProviderAddr, Option<(String, Vec<Platform>)>>,
}

/// Writes the statements that answer findings, and takes these findings out of the verdicts. Each project file is
/// written once, whatever number of roots it governs.
///
/// Returns a note where project files are those of a revision: the ones on disk do not govern the run.
pub(super) fn state(
    roots: &mut [VerifiedRoot],
    shared: Option<&SharedPolicy>,
    session: &Session<'_>,
) -> Option<String> {
    let world = session.world;
    let files = files(roots, shared, session);
    if world.project_files.is_some() {
        let note = "no project file was fixed: --config-at reads them from a revision";
        return (!files.is_empty()).then(|| note.to_owned());
    }
    for (path, stated) in files {
        let shown = path.display().to_string();
        let statements: Vec<(&str, &[Platform])> = stated
            .providers
            .values()
            .flatten()
            .map(|(label, platforms)| (&**label, &**platforms))
            .collect();
        let edit = |editor: &mut HclEditor| {
            for (label, platforms) in &statements {
                let block = BlockName {
                    kind: "provider",
                    labels: &[label],
                };
                let platforms: Vec<Expression> = platforms
                    .iter()
                    .map(|platform| platform.to_string().into())
                    .collect();
                editor.set(&[block], "platforms", platforms)?;
            }
            Ok(())
        };
        if !statements.is_empty()
            && let Err(failure) = edit_project_file(world.disk, &path, edit)
        {
            if let Some(first) = stated.roots.first() {
                roots[*first].failures.push(failure);
            }
            continue;
        }
        for index in stated.roots {
            let root = &mut roots[index];
            let Some(fixed) = &mut root.fixed else {
                continue;
            };
            let wanted = &mut root.verdict.platforms;
            root.verdict.findings.retain(|finding| {
                let Some((provider, _)) = statable(finding) else {
                    return true;
                };
                let Some((_, platforms)) = &stated.providers[provider] else {
                    fixed.plan.left.push(format!(
                        "{shown} cannot state the platforms of {provider}: a policy or another of its roots wants others"
                    ));
                    return true;
                };
                if let Some(wanted) = wanted {
                    let own = WantedSet {
                        named: platforms.clone(),
                        ..WantedSet::default()
                    };
                    wanted.own.insert(provider.clone(), own);
                }
                let text = format!(
                    "{shown} states the platforms of {provider}: {}",
                    platform::join(platforms, ", ")
                );
                let repair = Repair::of(rules::PLATFORMS_INCOMPLETE, provider, text);
                fixed.plan.repairs.push(repair);
                false
            });
        }
    }
    None
}

/// Returns what a finding asks to be stated.
fn statable(finding: &Finding) -> Option<(&ProviderAddr, &[Platform])> {
    Some((finding.provider.as_ref()?, finding.statable.as_deref()?))
}

/// Collects the statements of all project files. A statement holds for every root that the file governs, so it is
/// made only where each root with an entry of the provider asks for the same.
fn files(
    roots: &[VerifiedRoot],
    shared: Option<&SharedPolicy>,
    session: &Session<'_>,
) -> StatedFiles {
    let mut files = StatedFiles::new();
    for (index, verified) in roots.iter().enumerate() {
        let path = verified
            .root
            .writable_project_file(session.world, session.options);
        let file = files.entry(path).or_default();
        file.roots.push(index);
        let wanted: BTreeMap<&ProviderAddr, &[Platform]> = verified
            .verdict
            .findings
            .iter()
            .filter_map(statable)
            .filter(|(provider, platforms)| !is_required(verified, shared, provider, platforms))
            .collect();
        file.is_wanted |= !wanted.is_empty();
        // Also providers without a finding: their roots ask for other platforms, or none.
        let root = &verified.root;
        for provider in root.document().lock.providers.keys() {
            // The whole address means the same to both programs.
            let label = root
                .project()
                .providers
                .iter()
                .find(|setting| setting.name.means(provider, root.flavor))
                .map_or_else(
                    || provider.to_string(),
                    |setting| setting.name.text().to_owned(),
                );
            let statement = wanted
                .get(provider)
                .map(|platforms| (label, platforms.to_vec()));
            file.providers
                .entry(provider.clone())
                .and_modify(|known| {
                    if *known != statement {
                        *known = None;
                    }
                })
                .or_insert(statement);
        }
    }
    files.retain(|_, file| file.is_wanted);
    files
}

/// Returns true if a policy wants more platforms of a provider, whatever is stated about it.
fn is_required(
    verified: &VerifiedRoot,
    shared: Option<&SharedPolicy>,
    provider: &ProviderAddr,
    platforms: &[Platform],
) -> bool {
    let mut wanted = WantedPlatforms::every(platforms.to_vec());
    verified.root.project().require_platforms(&mut wanted);
    if let Some((shared, _)) = shared.and_then(SharedPolicy::settings) {
        shared.require_platforms(&mut wanted);
    }
    wanted
        .known(provider)
        .iter()
        .any(|platform| !platforms.contains(platform))
}
