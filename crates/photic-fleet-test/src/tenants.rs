//! Tenants and their keys, in a file: name, key and provider key per line.
//!
//! The file is a secret of the test. No program of the fleet knows its path.

use std::path::Path;

use anyhow::Context as _;

/// A tenant, as its agents know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tenant {
    /// Its name.
    pub name: String,
    /// Its key of the fleet; `-` in the file if there is none.
    pub key: Option<String>,
    /// Its key of the provider, which must not be found anywhere afterwards.
    pub provider_key: String,
}

/// Reads a file of tenants.
pub fn read(path: &Path) -> anyhow::Result<Vec<Tenant>> {
    let text = std::fs::read_to_string(path).context("the file of tenants cannot be read")?;
    let tenants: Vec<Tenant> = text.lines().filter_map(tenant).collect();
    anyhow::ensure!(!tenants.is_empty(), "the file of tenants holds none");
    Ok(tenants)
}

fn tenant(line: &str) -> Option<Tenant> {
    let mut words = line.split_whitespace().map(str::to_owned);
    let (name, key, provider_key) = (words.next()?, words.next()?, words.next()?);
    Some(Tenant { name, key: Some(key).filter(|key| key != "-"), provider_key })
}
