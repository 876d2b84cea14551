//! Checks that the keys of a settings file exist, and suggests the nearest one for a misspelled key.

use toml::{Table, Value};

use super::error::ConfigError;
use super::schema;

/// Checks every key of a settings file against the schema.
///
/// # Errors
///
/// Fails with the first unknown key, and the existing key that is spelled most like it.
pub(super) fn check(root: &Table, schema: &serde_json::Value) -> Result<(), ConfigError> {
    known(root, "", schema)
}

fn known(table: &Table, within: &str, schema: &serde_json::Value) -> Result<(), ConfigError> {
    // A table without properties in the schema may have any keys.
    if schema::properties(schema).next().is_none() {
        return Ok(());
    }
    for (key, value) in table {
        let Some((_, property)) = schema::properties(schema).find(|(name, _)| name == key) else {
            let names = schema::properties(schema).map(|(name, _)| (distance(key, name), name));
            let nearest = names.min().filter(|(far, _)| *far <= 3);
            let instead = nearest.map(|(_, name)| name.to_owned());
            return Err(ConfigError::UnknownKey { key: format!("{within}{key}"), instead });
        };
        let Some((inner, _)) = schema::table(property) else { continue };
        let within = format!("{within}{key}.");
        match value {
            Value::Table(table) => known(table, &within, inner)?,
            Value::Array(tables) => {
                for table in tables.iter().filter_map(Value::as_table) {
                    known(table, &within, inner)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns the edit distance of two keys: the letters to change, add or remove.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.bytes().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, b) in to.bytes().enumerate() {
            let changed = corner + usize::from(a != b);
            corner = row[j + 1];
            row[j + 1] = changed.min(corner + 1).min(row[j] + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}
