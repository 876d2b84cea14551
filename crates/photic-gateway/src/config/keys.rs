//! The keys there are, and what somebody meant who wrote another.

use toml::{Table, Value};

use super::ConfigError;

const ROOT: [&str; 7] = ["fetch", "learned", "limits", "listen", "policy", "timeouts", "upstream"];

/// The keys of each table below the root.
const TABLES: [(&str, &[&str]); 6] = [
    ("fetch", &["hosts", "keep_mib", "max_mib", "mode", "not_hosts", "private", "timeout_s"]),
    ("learned", &["days", "path"]),
    ("limits", &["body_mib", "pictures_mib"]),
    ("policy", &["keep", "marks", "retention"]),
    ("timeouts", &["answer_s", "connect_s", "drain_s", "idle_s"]),
    ("upstream", &["models", "unversioned", "url", "wire"]),
];

/// Complains about the first key that means nothing.
pub(super) fn check(root: &Table) -> Result<(), ConfigError> {
    known(root, "", &ROOT)?;
    for (name, keys) in TABLES {
        let within = format!("{name}.");
        match root.get(name) {
            Some(Value::Table(table)) => known(table, &within, keys)?,
            Some(Value::Array(tables)) => {
                for table in tables.iter().filter_map(Value::as_table) {
                    known(table, &within, keys)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The end of the sentence that complains.
pub(super) fn suggestion(instead: Option<&str>) -> String {
    instead.map(|key| format!("; did you mean `{key}`?")).unwrap_or_default()
}

fn known(table: &Table, within: &str, keys: &[&str]) -> Result<(), ConfigError> {
    match table.keys().find(|key| !keys.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => {
            let nearest = keys.iter().map(|known| (distance(key, known), *known)).min();
            let instead = nearest.filter(|(far, _)| *far <= 3).map(|(_, known)| known.to_owned());
            Err(ConfigError::UnknownKey { key: format!("{within}{key}"), instead })
        }
    }
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
