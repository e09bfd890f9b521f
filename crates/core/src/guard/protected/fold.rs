//! Folds all names that some file system treats as the same into one spelling.
//!
//! A protected file must not be reachable under another spelling of its name: in the other case, with code points that a
//! file system ignores, with the trailing dots and spaces that Windows drops, as a stream (`.git::$DATA`), or with `\`
//! as the separator. Folding too much only asks the user once more; folding too little is a security hole.

use unicode_normalization::UnicodeNormalization;

/// Folds a path.
pub(super) fn path(text: &str) -> String {
    let names = text.split(['/', '\\']).map(fold_name).filter(|name| !name.is_empty());
    names.collect::<Vec<_>>().join("/")
}

/// Whether some file system would treat the two names as the same.
pub fn is_same_name(one: &str, other: &str) -> bool {
    let has_only_letters_to_fold = |name: &str| {
        name.is_ascii() && !name.contains(':') && !name.ends_with(|c: char| c == '.' || c.is_whitespace())
    };
    match has_only_letters_to_fold(one) && has_only_letters_to_fold(other) {
        true => one.eq_ignore_ascii_case(other),
        false => fold_name(one) == fold_name(other),
    }
}

/// Folds the letters of a glob; its special characters keep their meaning.
pub(super) fn glob(text: &str) -> String {
    fold_letters(text)
}

fn fold_name(text: &str) -> String {
    let folded = fold_letters(text);
    // On Windows, a colon separates the file name from the name of a stream.
    let file = match folded.find(':') {
        Some(at) if at > 0 => &folded[..at],
        _ => &folded[..],
    };
    let kept = file.trim_end_matches(|c: char| c == '.' || c.is_whitespace());
    // A name of only dots and spaces keeps them: without them it would be empty.
    if kept.is_empty() { file.into() } else { kept.into() }
}

fn fold_letters(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let visible = text.nfkd().filter(|&c| !is_ignored(c));
    // Upper case and then lower case turns `ſ`, `K` (the Kelvin sign), `ı` and `ß` into ASCII letters.
    let upper: String = visible.flat_map(char::to_uppercase).collect();
    upper.chars().flat_map(char::to_lowercase).filter(|&c| !is_ignored(c)).nfkc().collect()
}

/// Code points that case-insensitive file systems ignore.
fn is_ignored(c: char) -> bool {
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
    fn folds_equivalent_names(#[case] text: &str, #[case] want: &str) {
        assert_eq!(path(text), want);
        let same = text.split(['/', '\\']).zip(want.split('/')).all(|(one, other)| is_same_name(one, other));
        assert!(same, "{text} and {want}");
        assert!(!is_same_name("git", "gitx") && !is_same_name("gıt", "got"));
    }
}
