//! The secret in the address of the page.

/// The name of the cookie that has the token.
pub(crate) const COOKIE: &str = "slipstitch_review";

/// The secret in the address of the page.
#[derive(Clone)]
pub struct AccessToken {
    text: String,
    hash: blake3::Hash,
}

impl AccessToken {
    /// A random token.
    pub fn random() -> std::io::Result<Self> {
        let mut bytes = [0; 24];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let hash = blake3::hash(text.as_bytes());
        Ok(Self { text, hash })
    }

    /// The token as it is in the address.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether `candidate` is the token. Hashes are compared in constant time.
    pub(crate) fn matches(&self, candidate: &str) -> bool {
        blake3::hash(candidate.as_bytes()) == self.hash
    }

    /// The header that stores the token in the browser.
    pub(crate) fn cookie(&self) -> String {
        format!("{COOKIE}={}; Path=/; HttpOnly; SameSite=Strict", self.text)
    }
}

impl std::fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AccessToken(…)")
    }
}
