//! The paths of a call in one column, in a form that can be searched.
//!
//! `,"a.txt","src/b.rs",`: JSON strings between commas. A quotation mark in a path is escaped, so a comma and a quotation
//! mark only follow each other where a path starts.

use rusqlite::types::Value;
use rusqlite::{Connection, params};

use super::DbError;
use super::checksum::CALLS;

/// Paths for the column; `None` if there are none.
pub(super) fn encode(paths: &[String]) -> Option<String> {
    let quoted = paths.iter().map(|path| quote(path) + ",");
    (!paths.is_empty()).then(|| quoted.fold(",".into(), |all, path| all + path.as_str()))
}

fn quote(path: &str) -> String {
    serde_json::Value::from(path).to_string()
}

/// A path as it is in the column.
fn entry(path: &str) -> String {
    format!(",{},", quote(path))
}

/// An alternative of a condition: whether a call is about a file, or about files in a folder. The empty path is the first root.
pub(super) fn condition(path: &str, values: &mut Vec<Value>) -> &'static str {
    if path.is_empty() {
        // Paths in other roots are absolute.
        return r#" OR instr(replace(paths, ',"/', ''), ',"') > 0"#;
    }
    let start_of_inner = quote(&format!("{path}/"));
    let start_of_inner = start_of_inner.strip_suffix('"').unwrap_or(&start_of_inner);
    values.extend([entry(path).into(), format!(",{start_of_inner}").into()]);
    " OR instr(paths, ?) > 0 OR instr(paths, ?) > 0"
}

/// Removes a path from the calls of a root.
pub(super) fn forget(connection: &Connection, root: &str, path: &str) -> Result<(), DbError> {
    let entry = entry(path);
    let affected = "root = ?1 AND instr(paths, ?2) > 0";
    let mut select = connection.prepare_cached(&format!("SELECT id FROM calls WHERE {affected}"))?;
    let ids: Vec<i64> =
        select.query_map(params![root, entry], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let update = "UPDATE calls SET paths = nullif(replace(paths, ?2, ','), ',') WHERE id = ?1";
    for id in ids {
        connection.prepare_cached(update)?.execute(params![id, entry])?;
        CALLS.update_sum(connection, id)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::params_from_iter;

    fn is_about(paths: &[&str], path: &str) -> bool {
        let paths: Vec<String> = paths.iter().map(|&path| path.to_owned()).collect();
        let mut values = Vec::new();
        let condition = condition(path, &mut values);
        values.push(encode(&paths).into());
        let last = values.len();
        let query = format!("SELECT FALSE{condition} FROM (SELECT ?{last} AS paths)");
        let connection = Connection::open_in_memory().unwrap();
        let found: Option<bool> =
            connection.query_row(&query, params_from_iter(&values), |row| row.get(0)).unwrap();
        found.unwrap_or_default()
    }

    #[test]
    fn files_and_folders_are_found_by_whole_names() {
        assert!(is_about(&["a.txt", "src/b.rs"], "src/b.rs"));
        assert!(is_about(&["a.txt", "src/b.rs"], "src"));
        assert!(is_about(&["src/b.rs"], ""));
        assert!(!is_about(&["/other/b.rs"], ""));
        assert!(is_about(&["/other/b.rs"], "/other"));
        assert!(!is_about(&["a.txt"], "a"));
        assert!(!is_about(&["lib/src/b.rs"], "src"));
        assert!(!is_about(&[], "src"));
    }

    #[test]
    fn no_path_passes_for_another() {
        assert!(!is_about(&["x,\"src/b.rs"], "src/b.rs"));
        assert!(!is_about(&["x,\"src/b.rs\","], "src"));
        assert!(is_about(&["x,\"src/b.rs"], "x,\"src"));
        assert!(is_about(&["a\nb"], "a\nb"));
    }
}
