//! Phrases that many dialects share.

/// The phrases of a dialect that writes whole files with a tool of this name.
macro_rules! writes_with {
    ($tool:literal) => {
        slipstitch_core::hint::HintPhrases {
            create: Some(concat!("create the file with `", $tool, "`")),
            overwrite: Some(concat!("overwrite it with `", $tool, "`")),
            fill: Some(concat!("write it with `", $tool, "`")),
            ..slipstitch_core::hint::HintPhrases::NONE
        }
    };
}

pub(crate) use writes_with;
