//! Lessons of the gateways about endpoints, as far as forgetting a tenant concerns them.

use photic_store::{Error, Tenant};
use serde_json::Value;

use crate::{Documents as _, Postgres};

/// Name of the document with the lessons: `entries`, each with its `teacher`.
pub const LESSONS: &str = "learned";

/// Removes the lessons learned from a tenant.
pub(crate) async fn forget_teacher(record: &Postgres, tenant: &Tenant) -> Result<(), Error> {
    record.change_document(LESSONS, |text| without(text, tenant)).await
}

/// Counts the lessons learned from a tenant.
pub(crate) async fn taught_to(record: &Postgres, tenant: &Tenant) -> Result<usize, Error> {
    let text = record.document(LESSONS).await?.text;
    let document: Value = serde_json::from_str(&text).unwrap_or_default();
    let entries = document["entries"].as_array().map(Vec::as_slice).unwrap_or_default();
    Ok(entries.iter().filter(|entry| is_its(entry, tenant)).count())
}

fn is_its(entry: &Value, tenant: &Tenant) -> bool {
    let teacher = entry["teacher"].as_str().and_then(|teacher| teacher.strip_prefix("tenant:"));
    teacher == Some(tenant.as_str())
}

/// Returns the document without the lessons of a tenant. Old lessons without a teacher could be
/// its, so they are removed, too.
fn without(text: &str, tenant: &Tenant) -> String {
    let Ok(mut document) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
    let Some(entries) = document.get_mut("entries").and_then(Value::as_array_mut) else {
        return text.to_owned();
    };
    let before = entries.len();
    entries.retain(|entry| entry["teacher"].is_string() && !is_its(entry, tenant));
    if entries.len() == before { text.to_owned() } else { document.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lessons_of_a_tenant_go_and_others_stay() {
        let text = r#"{"version":2,"entries":[{"teacher":"tenant:a"},{"teacher":"tenant:ab"},{"teacher":"key:a"},{}]}"#;
        let left = without(text, &Tenant::new("a"));
        let left: Value = serde_json::from_str(&left).unwrap();
        let teachers: Vec<&Value> =
            left["entries"].as_array().unwrap().iter().map(|entry| &entry["teacher"]).collect();
        assert_eq!(teachers, ["tenant:ab", "key:a"]);
        assert_eq!(left["version"], 2);
        for odd in ["", "[]", "{}", "nonsense"] {
            assert_eq!(without(odd, &Tenant::new("a")), odd);
        }
    }
}
