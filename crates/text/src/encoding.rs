//! Encodings: detection, decoding one character at a time, and encoding without substitution.

use std::borrow::Cow;
use std::fmt;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use serde::{Serialize, Serializer};

/// A file's encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8. The file may contain invalid bytes.
    Utf8,
    /// UTF-16, little-endian.
    Utf16Le,
    /// UTF-16, big-endian.
    Utf16Be,
    /// An ASCII-compatible encoding other than UTF-8.
    Legacy(&'static encoding_rs::Encoding),
}

/// How to determine a file's encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EncodingRule {
    /// By its byte order mark, or else by its content.
    #[default]
    Detect,
    /// Like `Detect`, but assume this encoding for a file that is not Unicode.
    Assume(Encoding),
    /// This encoding, whatever the content suggests.
    Force(Encoding),
}

/// The name of an unknown encoding, or of one that files cannot be edited in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a supported encoding; examples: utf-8, utf-16le, windows-1252, gbk, shift_jis")]
pub struct UnknownEncoding(pub String);

/// A character that a file's encoding cannot represent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the character `{character}` (U+{:04X}) cannot be written in {encoding}", *.character as u32)]
pub struct Unencodable {
    /// The character.
    pub character: char,
    /// The encoding.
    pub encoding: Encoding,
}

/// The result of [`detect`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Detected {
    /// The file's encoding.
    pub encoding: Encoding,
    /// The length of the byte order mark in bytes; 0 if there is none.
    pub bom: usize,
    /// Whether the file contains NUL bytes that are not part of UTF-16.
    pub binary: bool,
    /// Whether the file was found to be UTF-8 without invalid bytes.
    pub is_valid_utf8: bool,
}

impl Encoding {
    /// Looks up an encoding by one of its WHATWG labels.
    pub fn from_name(name: &str) -> Result<Self, UnknownEncoding> {
        let unknown = || UnknownEncoding(name.into());
        let found = encoding_rs::Encoding::for_label(name.as_bytes()).ok_or_else(unknown)?;
        Self::from_static(found).ok_or_else(unknown)
    }

    /// `None` for encodings with shift states, where a span has no meaning on its own.
    fn from_static(encoding: &'static encoding_rs::Encoding) -> Option<Self> {
        if encoding == encoding_rs::UTF_8 {
            Some(Self::Utf8)
        } else if encoding == encoding_rs::UTF_16LE {
            Some(Self::Utf16Le)
        } else if encoding == encoding_rs::UTF_16BE {
            Some(Self::Utf16Be)
        } else if encoding.is_ascii_compatible() && encoding != encoding_rs::X_USER_DEFINED {
            Some(Self::Legacy(encoding))
        } else {
            None
        }
    }

    /// The usual name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Utf16Le => "UTF-16LE",
            Self::Utf16Be => "UTF-16BE",
            Self::Legacy(encoding) => encoding.name(),
        }
    }

    /// Encodes `text`. A character that cannot be represented is an error, never a substitute.
    pub fn encode(self, text: &str) -> Result<Vec<u8>, Unencodable> {
        match self {
            Self::Utf8 => Ok(text.as_bytes().to_vec()),
            Self::Utf16Le => Ok(text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
            Self::Utf16Be => Ok(text.encode_utf16().flat_map(u16::to_be_bytes).collect()),
            Self::Legacy(encoding) => encode_legacy(encoding, text),
        }
    }

    /// Like [`Encoding::encode`], without a copy where the text is encoded already.
    pub fn encode_cow(self, text: Cow<'_, str>) -> Result<Cow<'_, [u8]>, Unencodable> {
        match (self, text) {
            (Self::Utf8, Cow::Borrowed(text)) => Ok(Cow::Borrowed(text.as_bytes())),
            (Self::Utf8, Cow::Owned(text)) => Ok(Cow::Owned(text.into_bytes())),
            (_, text) => self.encode(&text).map(Cow::Owned),
        }
    }

    /// Whether `left` and `right` decode the same joined as on their own: a stray lead byte could swallow
    /// the start of what follows it.
    pub fn decodes_independently(self, left: &[u8], right: &[u8]) -> bool {
        let joined = [left, right].concat();
        self.decode(&joined) == [self.decode(left), self.decode(right)].concat()
    }

    fn decode(self, raw: &[u8]) -> Vec<u8> {
        if self == Self::Utf8 {
            return String::from_utf8_lossy(raw).replace('\u{fffd}', "\u{1}").into_bytes();
        }
        let mut out = Vec::new();
        let mut at = 0;
        while at < raw.len() {
            at += self.decode_unit(&raw[at..], &mut out);
        }
        out
    }

    /// Decodes the first character of `raw`, appends it to `out` as UTF-8, and returns how many bytes
    /// it took. An invalid byte becomes `0xFF`, which no text matches.
    pub fn decode_unit(self, raw: &[u8], out: &mut Vec<u8>) -> usize {
        match self {
            Self::Utf8 => {
                out.push(raw[0]);
                1
            }
            Self::Utf16Le => decode_utf16(raw, u16::from_le_bytes, out),
            Self::Utf16Be => decode_utf16(raw, u16::from_be_bytes, out),
            Self::Legacy(_) if raw[0] < 0x80 => {
                out.push(raw[0]);
                1
            }
            Self::Legacy(encoding) => decode_legacy(encoding, raw, out),
        }
    }
}

fn encode_legacy(encoding: &'static encoding_rs::Encoding, text: &str) -> Result<Vec<u8>, Unencodable> {
    let mut out = Vec::with_capacity(text.len());
    let mut ascii = 0; // start of the current run of ASCII
    let mut buffer = [0; 16];
    for (at, character) in text.char_indices().filter(|(_, c)| !c.is_ascii()) {
        out.extend_from_slice(&text.as_bytes()[ascii..at]);
        ascii = at + character.len_utf8();
        let mut encoder = encoding.new_encoder();
        let (result, _, written) =
            encoder.encode_from_utf8_without_replacement(&text[at..ascii], &mut buffer, true);
        let bytes = &buffer[..written];
        // Some encoders replace a character with a similar one (Shift_JIS: ¥ with \). That is a
        // silent substitution, so only bytes that decode to the same character are written.
        let round_trips = encoding
            .decode_without_bom_handling_and_without_replacement(bytes)
            .is_some_and(|back| back == text[at..ascii]);
        if result != encoding_rs::EncoderResult::InputEmpty || !round_trips {
            return Err(Unencodable { character, encoding: Encoding::Legacy(encoding) });
        }
        out.extend_from_slice(bytes);
    }
    out.extend_from_slice(&text.as_bytes()[ascii..]);
    Ok(out)
}

fn decode_utf16(raw: &[u8], unit: fn([u8; 2]) -> u16, out: &mut Vec<u8>) -> usize {
    let units = raw.chunks_exact(2).take(2).map(|pair| unit([pair[0], pair[1]]));
    match char::decode_utf16(units).next() {
        Some(Ok(character)) => {
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            2 * character.len_utf16()
        }
        Some(Err(_)) => {
            out.push(0xFF);
            2
        }
        None => {
            out.push(0xFF);
            1
        }
    }
}

fn decode_legacy(encoding: &'static encoding_rs::Encoding, raw: &[u8], out: &mut Vec<u8>) -> usize {
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let mut buffer = [0; 32];
    for taken in 1..=raw.len().min(4) {
        let last = taken == raw.len();
        let (result, _, written) =
            decoder.decode_to_utf8_without_replacement(&raw[taken - 1..taken], &mut buffer, last);
        if written > 0 {
            out.extend_from_slice(&buffer[..written]);
            return taken;
        }
        if let encoding_rs::DecoderResult::Malformed(length, _) = result {
            out.push(0xFF);
            return usize::from(length).clamp(1, taken);
        }
    }
    out.push(0xFF);
    1
}

/// Determines a file's encoding.
pub fn detect(bytes: &[u8], rule: EncodingRule) -> Detected {
    let (marked, bom) = match bytes {
        [0xEF, 0xBB, 0xBF, ..] => (Some(Encoding::Utf8), 3),
        [0xFF, 0xFE, 0, 0, ..] => (None, 0), // UTF-32 is not supported
        [0xFF, 0xFE, ..] => (Some(Encoding::Utf16Le), 2),
        [0xFE, 0xFF, ..] => (Some(Encoding::Utf16Be), 2),
        _ => (None, 0),
    };
    let forced = match rule {
        EncodingRule::Force(encoding) => Some(encoding),
        EncodingRule::Detect | EncodingRule::Assume(_) => None,
    };
    if let Some(encoding) = forced.or(marked) {
        let bom = if marked == Some(encoding) { bom } else { 0 };
        let wide = matches!(encoding, Encoding::Utf16Le | Encoding::Utf16Be);
        let binary = !wide && memchr::memchr(0, bytes).is_some();
        return Detected { encoding, bom, binary, is_valid_utf8: false };
    }
    let binary = memchr::memchr(0, bytes).is_some();
    let is_valid_utf8 = std::str::from_utf8(bytes).is_ok();
    let encoding = match rule {
        _ if binary || is_valid_utf8 || is_mostly_utf8(bytes) => Encoding::Utf8,
        EncodingRule::Assume(encoding) => encoding,
        EncodingRule::Detect | EncodingRule::Force(_) => guess(bytes),
    };
    Detected { encoding, bom: 0, binary, is_valid_utf8 }
}

/// Whether the bytes are valid UTF-8, or have more valid non-ASCII characters than invalid bytes.
/// Text in a legacy encoding rarely contains a valid multi-byte UTF-8 sequence.
fn is_mostly_utf8(bytes: &[u8]) -> bool {
    let mut invalid = 0;
    let mut valid = 0;
    let mut rest = bytes;
    while let Err(error) = std::str::from_utf8(rest) {
        let (good, bad) = rest.split_at(error.valid_up_to());
        valid += count_non_ascii(good);
        invalid += 1;
        rest = &bad[error.error_len().unwrap_or(bad.len())..];
    }
    invalid == 0 || valid + count_non_ascii(rest) > invalid
}

/// Counts the non-ASCII characters of valid UTF-8.
fn count_non_ascii(utf8: &[u8]) -> usize {
    utf8.iter().filter(|&&byte| byte >= 0xC0).count()
}

/// How much of a file the detector reads, so that detection stays fast on huge files.
const MAX_DETECTOR_BYTES: usize = 1 << 20;

fn guess(bytes: &[u8]) -> Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let first = bytes.iter().position(|byte| *byte >= 0x80).unwrap_or(0);
    let sample = &bytes[first..bytes.len().min(first + MAX_DETECTOR_BYTES)];
    detector.feed(sample, true);
    Encoding::from_static(detector.guess(None, Utf8Detection::Deny)).unwrap_or(Encoding::Utf8)
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Encoding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn detected(bytes: &[u8]) -> &'static str {
        detect(bytes, EncodingRule::Detect).encoding.name()
    }

    #[test]
    fn detects_encodings_by_bom_and_by_content() {
        assert_eq!(detected(b"plain"), "UTF-8");
        assert_eq!(detected("käse – „gut“".as_bytes()), "UTF-8");
        assert_eq!(detected(b"\xEF\xBB\xBFx"), "UTF-8");
        assert_eq!(detected(b"\xFF\xFEx\0"), "UTF-16LE");
        assert_eq!(detected(b"\xFE\xFF\0x"), "UTF-16BE");
        assert_eq!(detected(b"Stra\xDFe und K\xE4se, sch\xF6n gr\xFCn\n"), "windows-1252");
        let gbk = encoding_rs::GBK.encode("这是一个简体中文的文本文件,用于测试。").0;
        assert_eq!(detected(&gbk), "GBK");
        let sjis = encoding_rs::SHIFT_JIS.encode("これは日本語のテキストです。漢字とカタカナ。").0;
        assert_eq!(detected(&sjis), "Shift_JIS");
    }

    #[test]
    fn detects_utf8_with_an_invalid_byte() {
        assert_eq!(
            detected(
                "Grüße aus Köln \u{2013} schön"
                    .as_bytes()
                    .iter()
                    .chain(b"\xFF")
                    .copied()
                    .collect::<Vec<_>>()
                    .as_slice()
            ),
            "UTF-8"
        );
    }

    #[test]
    fn rejects_utf8_with_as_many_invalid_bytes_as_characters() {
        assert_ne!(detected(b"\xC3\xA9 caf\xE9 tr\xE8s"), "UTF-8");
        assert_eq!(detected(b"\xC3\xA9\xC3\xA9 caf\xE9"), "UTF-8");
        assert_ne!(detected(b"\xC3\xA9 caf\xE9"), "UTF-8");
    }

    #[test]
    fn an_assumed_encoding_applies_to_non_unicode_files_only() {
        let assume = EncodingRule::Assume(Encoding::Legacy(encoding_rs::KOI8_R));
        assert_eq!(detect(b"\xD2\xD5\xD3", assume).encoding.name(), "KOI8-R");
        assert_eq!(detect("käse".as_bytes(), assume).encoding.name(), "UTF-8");
        assert_eq!(detect(b"\xFF\xFEa\0", assume).encoding.name(), "UTF-16LE");
    }

    #[test]
    fn nul_bytes_mean_binary_except_in_utf16() {
        assert!(detect(b"a\0b", EncodingRule::Detect).binary);
        assert!(!detect(b"\xFF\xFEa\0", EncodingRule::Detect).binary);
        assert!(detect(b"\xFF\xFE\0\0a\0\0\0", EncodingRule::Detect).binary);
        assert!(!detect(b"a\0b\0", EncodingRule::Force(Encoding::Utf16Le)).binary);
    }

    #[rstest]
    #[case("windows-1252", "aé\n", Ok(b"a\xE9\n".to_vec()))]
    #[case("windows-1252", "a→b", Err('→'))]
    #[case("shift_jis", "¥", Err('¥'))]
    #[case("gbk", "中", Ok(b"\xD6\xD0".to_vec()))]
    #[case("utf-16le", "a\u{1F600}", Ok(b"a\0\x3D\xD8\0\xDE".to_vec()))]
    #[case("utf-8", "→", Ok("→".into()))]
    fn encodes_text_or_names_the_unencodable_character(
        #[case] name: &str,
        #[case] text: &str,
        #[case] want: Result<Vec<u8>, char>,
    ) {
        let encoding = Encoding::from_name(name).unwrap();
        assert_eq!(encoding.encode(text).map_err(|e| e.character), want);
    }

    #[test]
    fn rejects_encodings_with_shift_states() {
        for name in ["iso-2022-jp", "x-user-defined", "replacement", "utf-7", "nonsense"] {
            assert!(Encoding::from_name(name).is_err(), "{name}");
        }
    }
}
