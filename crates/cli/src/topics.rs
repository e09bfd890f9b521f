//! The pages that `slipstitch help` shows besides the help of commands.

/// The topics, in the order in which help lists them: name, summary, text.
pub(crate) const TOPICS: &[(&str, &str, &str)] = &[
    (
        "recovery",
        "which differences an edit may have, and why it was refused",
        include_str!("topics/recovery.txt"),
    ),
    ("patches", "formats, repairs, partial application", include_str!("topics/patches.txt")),
    ("settings", "settings files, and what a project can change", include_str!("topics/settings.txt")),
    ("selection", "ids, sessions, agents, files and times", include_str!("topics/selection.txt")),
    ("json", "the output for programs, and exit codes", include_str!("topics/json.txt")),
    ("state", "where the journal is, how large it grows, how to remove it", include_str!("topics/state.txt")),
];

/// The names of the topics.
pub(crate) fn topic_names() -> impl Iterator<Item = &'static str> {
    TOPICS.iter().map(|(name, ..)| *name)
}
