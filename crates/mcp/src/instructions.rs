//! Instructions for the model, sent when a client connects: what applies to all tools, and each dialect's guide.

use slipstitch::core::settings::Mode;

use crate::tools::Catalogue;

/// What applies to the tools of all dialects.
const GENERAL: &str = "\
Nothing outside it can be changed. An edit is applied exactly where you asked or not at all; a refusal writes nothing and \
says what to send instead.";

const RESTRICTED: &str = "\
This session is restricted: it can read files, but it cannot change them until the user allows it.";

const APPROVAL: &str = "\
Pending means that nothing is written yet: the change waits for the user's approval. Tell the user and continue with other \
work; the same call sent later returns the decision.";

/// The server's instructions for the model; `root` describes the root.
pub(crate) fn instructions(catalogue: &Catalogue, mode: Mode, root: &str) -> String {
    let general = format!("These tools edit files under {root}. {GENERAL}");
    let mut parts = vec![general.as_str()];
    if mode == Mode::Restricted {
        parts.push(RESTRICTED);
    }
    parts.push(APPROVAL);
    parts.extend(catalogue.dialects().iter().map(|dialect| dialect.guide.trim_end()));
    parts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use slipstitch::dialects::BUILTIN;

    use super::*;

    #[test]
    fn instructions_contain_the_guide_of_every_dialect() {
        for dialect in BUILTIN {
            let catalogue = Catalogue::new(&[dialect.name.to_owned()]).unwrap();
            let text = instructions(&catalogue, Mode::Unrestricted, "the root `/x`");
            assert!(text.starts_with("These tools edit files under the root `/x`. "), "{text}");
            assert!(
                !dialect.guide.is_empty() && text.ends_with(dialect.guide.trim_end()),
                "{}",
                dialect.name
            );
        }
    }

    #[test]
    fn only_restricted_sessions_are_called_restricted() {
        let catalogue = Catalogue::new(&["xzatoma".into()]).unwrap();
        assert!(instructions(&catalogue, Mode::Restricted, "the root `/x`").contains("restricted"));
        assert!(!instructions(&catalogue, Mode::Unrestricted, "the root `/x`").contains("restricted"));
    }
}
