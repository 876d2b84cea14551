//! The threat model names a proof for every boundary, and every proof exists.

use std::collections::BTreeSet;

use crate::tidy::{listed, report, root, rust};

/// Names in backticks: files of `tests/e2e/`, or functions of tests.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

#[test]
fn the_threat_model_names_proofs_that_exist() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).expect("sources are UTF-8");
    let model = read("docs/threat-model.md");
    let (_, boundaries) = model.split_once("## Boundaries").expect("it has boundaries");
    let (boundaries, _) = boundaries.split_once("\n## ").expect("more follows");
    let files = listed();
    let sources: String = files.iter().filter(|path| rust(path)).map(|path| read(path)).collect();
    let mut used = BTreeSet::new();
    let mut complaints = Vec::new();
    let rows: Vec<&str> = boundaries.lines().filter(|line| line.starts_with('|')).skip(2).collect();
    assert!(rows.len() >= 13, "every class of attack has a boundary");
    for row in rows {
        let proofs: Vec<&str> = row.rsplit('|').nth(1).map(quoted).into_iter().flatten().collect();
        if proofs.is_empty() {
            complaints.push(format!("nothing proves: {row}"));
        }
        for proof in proofs {
            let file = format!("tests/e2e/attacks/{proof}");
            let exists = if proof.contains('.') || proof.contains('-') {
                used.insert(proof);
                files.contains(&file) || files.iter().any(|path| path.ends_with(proof))
            } else {
                sources.contains(&format!("fn {proof}("))
            };
            if !exists {
                complaints.push(format!("`{proof}` does not exist"));
            }
        }
    }
    let attacks = files.iter().filter_map(|path| path.strip_prefix("tests/e2e/attacks/c"));
    for attack in attacks.map(|rest| format!("c{rest}")) {
        if !used.contains(attack.as_str()) {
            complaints.push(format!("`{attack}` belongs to no boundary"));
        }
    }
    report("each boundary has a proof, and each attack a boundary", &complaints);
}
