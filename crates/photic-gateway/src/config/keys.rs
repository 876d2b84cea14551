//! The keys there are, by the schema, and what somebody meant who wrote another.

use toml::{Table, Value};

use super::error::ConfigError;
use super::schema;

/// Complains about the first key that means nothing.
pub(super) fn check(root: &Table, schema: &serde_json::Value) -> Result<(), ConfigError> {
    known(root, "", schema)
}

fn known(table: &Table, within: &str, schema: &serde_json::Value) -> Result<(), ConfigError> {
    // Some tables have keys that only their writer knows.
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

/// How many letters to change, add or remove.
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
