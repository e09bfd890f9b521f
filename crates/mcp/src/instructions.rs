//! Instructions for the model, sent when a client connects: what applies to all tools, and each dialect's guide.

use slipstitch::core::settings::Mode;

use crate::tools::Catalogue;

/// What applies to the tools of all dialects.
const GENERAL: &str = "\
These tools edit files under the server's root. An edit is applied exactly where you asked or not at all, and a call \
succeeds or fails as a whole. A refusal writes nothing and says why, what the file contains instead, and what to send; \
read it before you retry. Paths are relative to the root; anything outside is refused. Every change is journaled and can \
be undone.";

const RESTRICTED: &str = "\
This session is restricted: it can read files, but it cannot change them until the user allows it.";

const APPROVAL: &str = "\
Some changes need the user's approval. An answer that says a change is waiting for approval is not a failure: do not send \
the change again.";

/// The server's instructions for the model.
pub(crate) fn instructions(catalogue: &Catalogue, mode: Mode) -> String {
    let mut parts = vec![GENERAL];
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
            let text = instructions(&catalogue, Mode::Unrestricted);
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
        assert!(instructions(&catalogue, Mode::Restricted).contains("restricted"));
        assert!(!instructions(&catalogue, Mode::Unrestricted).contains("restricted"));
    }
}
