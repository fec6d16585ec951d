//! Tables of documents that are made from the code.

use std::path::PathBuf;

/// The document with `body` between the markers of `name`.
fn filled(document: &str, name: &str, body: &str) -> String {
    let (open, close) = (format!("<!-- {name}: generated -->\n"), format!("<!-- {name}: end -->"));
    let (before, rest) = document.split_once(&open).unwrap_or_else(|| panic!("no marker `{}`", open.trim()));
    let (_, after) = rest.split_once(&close).unwrap_or_else(|| panic!("no marker `{close}`"));
    format!("{before}{open}{body}{close}{after}")
}

/// Asserts that docs/`file` holds these tables, each between its markers; `UPDATE_DOCS=1` writes them instead.
pub fn are_in(file: &str, tables: &[(&str, String)]) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs").join(file);
    let found = std::fs::read_to_string(&path).unwrap();
    let right = tables.iter().fold(found.clone(), |document, (name, body)| filled(&document, name, body));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &right).unwrap();
    } else {
        assert!(found == right, "docs/{file} differs from the code; UPDATE_DOCS=1 rewrites it");
    }
}
