//! SEARCH/REPLACE blocks.

use super::super::search_replace::{escaped, name_line};
use crate::{Action, FilePatch};

pub(super) fn print(files: &[&FilePatch], out: &mut String) {
    for file in files {
        let Action::Replace { blocks } = &file.action else { continue };
        for block in blocks {
            if let Some(path) = &file.path {
                out.push_str(&name_line(path));
                out.push('\n');
            }
            out.push_str("<<<<<<< SEARCH\n");
            if let Some(line) = block.start_line {
                out.push_str(&format!(":start_line:{line}\n-------\n"));
            }
            text(&block.search, out);
            out.push_str("=======\n");
            text(&block.replace, out);
            out.push_str(">>>>>>> REPLACE\n");
        }
    }
}

fn text(text: &str, out: &mut String) {
    for line in text.split_terminator('\n') {
        out.push_str(&escaped(line));
        out.push('\n');
    }
}
