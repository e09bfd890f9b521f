//! Asks for approval of changes to protected paths: version control, CI, configuration that runs code, credentials.
//!
//! A path is checked as written and as resolved through symlinks, whether or not a file exists there, and in every
//! spelling that some file system treats as the same name (`fold`). Which names are protected is in `policy`. Some
//! places are protected whatever they are called (`places`).

mod consent;
mod fold;
mod globs;
mod names;
mod places;
mod policy;

pub use consent::ConsentRule;
pub use fold::is_same_name;
pub use globs::GlobError;
pub use names::Group;
pub use places::{FoundPlace, NoPlaces, PlaceKind, ProtectedPlaces, TouchedPath};
pub(super) use policy::RulePaths;
pub use policy::{Protected, UnknownGroup};

use super::{GuardInput, Refusal, Verdict};
use crate::change::{ChangeSet, PathChange};
use crate::path::FilePath;
use crate::plan::{EditPlan, Operation};
use crate::snapshot::Snapshots;

/// Why a path is protected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protection {
    /// The group whose rule applies; [`Protected::ADDED_GROUP`] for paths that the settings list.
    pub group: &'static str,
    /// The kind of file.
    pub what: &'static str,
    /// The resolved path, if that is protected and not the path as written.
    pub real: Option<FilePath>,
}

pub(super) fn judge(input: &GuardInput<'_>) -> Verdict {
    let policy = &input.policy.protected;
    match input.changes {
        Some(changes) => judge_changes(changes, input.snapshots, policy, input.places),
        None => judge_plan(input.plan, input.snapshots, policy),
    }
}

/// Checks the paths that a change writes, deletes or moves.
pub(super) fn judge_changes(
    changes: &ChangeSet,
    snapshots: &Snapshots,
    policy: &Protected,
    places: &dyn ProtectedPlaces,
) -> Verdict {
    let mut paths: Vec<(&FilePath, bool)> = Vec::new();
    for file in changes.files() {
        match &file.path_change {
            PathChange::Keep => paths.push((&file.path, true)),
            PathChange::Delete => paths.push((&file.path, false)),
            PathChange::Move(to) => paths.extend([(&file.path, false), (to, true)]),
        }
    }
    verdict(&paths, snapshots, policy, places)
}

/// Before the places are resolved, only a refusal matters: it saves resolving them.
fn judge_plan(plan: &EditPlan, snapshots: &Snapshots, policy: &Protected) -> Verdict {
    if !policy.can_deny() {
        return Verdict::Pass;
    }
    let paths = plan.files.iter().flat_map(|file| {
        let targets = file.operations.iter().filter_map(|operation| match operation {
            Operation::Move { to, .. } => Some(to),
            _ => None,
        });
        std::iter::once(&file.path).chain(targets)
    });
    let paths: Vec<(&FilePath, bool)> = paths.map(|path| (path, true)).collect();
    match verdict(&paths, snapshots, policy, &NoPlaces) {
        Verdict::Refuse(refusal) => Verdict::Refuse(refusal),
        _ => Verdict::Pass,
    }
}

/// Why each path is protected, if it is: by its name or by its place, whichever has the stricter rule.
pub(crate) fn find_protections(
    paths: &[(&FilePath, bool)],
    snapshots: &Snapshots,
    policy: &Protected,
    places: &dyn ProtectedPlaces,
) -> Vec<Option<Protection>> {
    let touched: Vec<TouchedPath<'_>> = paths
        .iter()
        .map(|(path, remains)| {
            let meta = snapshots.get(path).map(|snapshot| snapshot.meta());
            TouchedPath {
                real: snapshots.real_path(path),
                id: meta.and_then(|meta| meta.id),
                has_one_name: meta.is_some_and(|meta| meta.links == Some(1)),
                remains: *remains,
            }
        })
        .collect();
    let found = places.find(&touched).into_iter().chain(std::iter::repeat(FoundPlace::default()));
    let judged = paths.iter().zip(&touched).zip(found);
    judged
        .map(|(((path, _), touched), FoundPlace { kind, other_paths })| {
            let real = touched.real;
            let by_place = kind.and_then(|kind| policy.find_place(kind, real));
            let by_link = other_paths.iter().filter_map(|other| policy.find(path, other));
            // The last of several with equal rules is returned, so the name counts more.
            let found = by_place.into_iter().chain(by_link).chain(policy.find(path, real));
            found.max_by_key(|found| policy.rule_for(found.group))
        })
        .collect()
}

fn verdict(
    paths: &[(&FilePath, bool)],
    snapshots: &Snapshots,
    policy: &Protected,
    places: &dyn ProtectedPlaces,
) -> Verdict {
    let mut reasons: Vec<String> = Vec::new();
    for ((path, _), protection) in paths.iter().zip(find_protections(paths, snapshots, policy, places)) {
        let Some(protection) = protection else { continue };
        if policy.rule_for(protection.group) == ConsentRule::Deny {
            return Verdict::Refuse(Refusal::Protected { path: (*path).clone(), protection });
        }
        let reason = format!("`{path}` {}", protection.describe());
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    if reasons.is_empty() { Verdict::Pass } else { Verdict::Ask(reasons.join("; ")) }
}

impl Protection {
    /// The rest of a sentence that starts with the path.
    pub(super) fn describe(&self) -> String {
        match &self.real {
            None => format!("is protected ({})", self.what),
            Some(real) => format!("leads to `{real}`, which is protected ({})", self.what),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> FilePath {
        FilePath::from_record(text).unwrap()
    }

    /// Protects one path as a part of a repository.
    #[derive(Debug)]
    struct OnePlace(&'static str, PlaceKind);

    impl ProtectedPlaces for OnePlace {
        fn find(&self, touched: &[TouchedPath<'_>]) -> Vec<FoundPlace> {
            let kind = |touched: &TouchedPath<'_>| (touched.real.as_str() == self.0).then_some(self.1);
            let found = |touched| FoundPlace { kind: kind(touched), other_paths: Vec::new() };
            touched.iter().map(found).collect()
        }
    }

    #[test]
    fn places_follow_the_rule_of_their_group_and_the_exceptions() {
        let judge = |policy: &Protected, kind| {
            verdict(&[(&path("bin/hook"), true)], &Snapshots::default(), policy, &OnePlace("bin/hook", kind))
        };
        let mut policy = Protected::default();
        assert!(matches!(judge(&policy, PlaceKind::GitCommand), Verdict::Ask(why) if why.contains("Git")));
        policy.set_group_rule("version-control", ConsentRule::Deny).unwrap();
        assert!(matches!(judge(&policy, PlaceKind::GitCommand), Verdict::Refuse(_)));
        policy.except(&["bin".into()]).unwrap();
        assert_eq!(judge(&policy, PlaceKind::GitCommand), Verdict::Pass);
        // The settings cannot be exempted by a name.
        assert!(matches!(judge(&policy, PlaceKind::Settings), Verdict::Ask(_)));
    }

    #[test]
    fn checks_the_path_as_written_and_as_resolved() {
        let protected = Protected::default();
        let found = protected.find(&path("docs/notes"), &path(".git/hooks/pre-push")).unwrap();
        assert_eq!(found.describe(), "leads to `.git/hooks/pre-push`, which is protected (version control)");
        // A protected symlink to an unprotected file is protected.
        assert!(protected.find(&path(".bashrc"), &path("dotfiles/bash")).is_some());
    }
}
