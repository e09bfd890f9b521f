//! A hunk in the user's editor.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use slipstitch_platform::{desktop, private};

use super::model::{Choice, Model};

/// Lets the user edit the current hunk. The error is a message for them.
pub(super) fn edit_hunk(model: &mut Model<'_>) -> Result<(), String> {
    let folder = model.workspace.state_dir().to_owned();
    let Some(open) = &mut model.proposal else { return Ok(()) };
    let (Some(hunk), Some(view)) = (open.hunks.get(open.current), open.views.get(open.current)) else {
        return Ok(());
    };
    let before = match &open.choices[open.current] {
        Choice::Edit(text) => text.clone(),
        _ => view.editable.clone(),
    };
    let ending =
        Path::new(hunk.path.as_str()).extension().and_then(|ending| ending.to_str()).unwrap_or("txt");
    let draft = Draft::create(&folder, ending, &before).map_err(|error| format!("cannot edit: {error}"))?;
    run_editor(&draft.path)?;
    let after = std::fs::read_to_string(&draft.path)
        .map_err(|error| format!("cannot read what you edited: {error}"))?;
    if after != before {
        open.choices[open.current] = Choice::Edit(after);
    }
    Ok(())
}

fn run_editor(path: &Path) -> Result<(), String> {
    let named = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let editor =
        named("VISUAL").or_else(|| named("EDITOR")).unwrap_or_else(|| desktop::DEFAULT_EDITOR.into());
    match desktop::edit(&editor, path).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{editor}` ended with {status}; the hunk is unchanged")),
        Err(error) => Err(format!("cannot start `{editor}`: {error}")),
    }
}

/// A file with the text, readable by its owner only; removed when it is dropped.
struct Draft {
    path: PathBuf,
}

impl Draft {
    fn create(folder: &Path, ending: &str, text: &str) -> std::io::Result<Self> {
        let path = folder.join(format!("hunk-{}.{ending}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let mut file = private::owner_only(OpenOptions::new().write(true).create_new(true)).open(&path)?;
        let draft = Self { path };
        file.write_all(text.as_bytes())?;
        Ok(draft)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
