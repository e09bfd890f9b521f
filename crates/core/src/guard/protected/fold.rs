//! One spelling for all the names that some file system takes for the same.
//!
//! What is protected must not be reached by another spelling of its name: letters in the other case, code
//! points that a file system ignores, the dots and blanks that Windows drops at the end of a name, its streams
//! (`.git::$DATA`) and its other separator. Folding too much only asks a person once more; folding too little is a hole.

use unicode_normalization::UnicodeNormalization;

/// The spelling of a path by which it is compared.
pub(super) fn path(text: &str) -> String {
    let names = text.split(['/', '\\']).map(name).filter(|name| !name.is_empty());
    names.collect::<Vec<_>>().join("/")
}

/// The spelling of a glob's letters; its other characters keep their meaning.
pub(super) fn glob(text: &str) -> String {
    letters(text)
}

fn name(text: &str) -> String {
    let folded = letters(text);
    // What follows a colon names a stream of the file in front of it.
    let file = match folded.find(':') {
        Some(at) if at > 0 => &folded[..at],
        _ => &folded[..],
    };
    let kept = file.trim_end_matches(|c: char| c == '.' || c.is_whitespace());
    // A name of nothing but dots and blanks keeps them: it is no other name's spelling.
    if kept.is_empty() { file.into() } else { kept.into() }
}

fn letters(text: &str) -> String {
    let visible = text.nfkd().filter(|&c| !ignored(c));
    // Up and down again: `ſ` and `K` (the Kelvin sign), `ı` and `ß` all end as plain letters.
    let upper: String = visible.flat_map(char::to_uppercase).collect();
    upper.chars().flat_map(char::to_lowercase).filter(|&c| !ignored(c)).nfkc().collect()
}

/// Code points that file systems which fold case leave out of a comparison.
fn ignored(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(".GIT/Config", ".git/config")]
    #[case(".g\u{200c}it/config", ".git/config")]
    #[case(".\u{feff}git", ".git")]
    #[case(".gıt", ".git")]
    #[case(".ＧＩＴ", ".git")]
    #[case(".git./config", ".git/config")]
    #[case(".git . /config. ", ".git/config")]
    #[case(".git::$INDEX_ALLOCATION/config", ".git/config")]
    #[case(".git\\config", ".git/config")]
    #[case(".baſhrc", ".bashrc")]
    #[case(".\u{212a}shrc", ".kshrc")]
    #[case("Straße", "strasse")]
    #[case("cafe\u{301}", "café")]
    #[case("a/.../b", "a/.../b")]
    #[case("git", "git")]
    fn spellings_of_one_name_are_one(#[case] text: &str, #[case] want: &str) {
        assert_eq!(path(text), want);
    }
}
