//! Tenants and what opens doors for them, in a file: one a line, as name, key and provider's key.
//!
//! The file is the rig's own secret. No program of the fleet is ever told where it lies.

use std::path::Path;

use anyhow::Context as _;

/// A tenant, as its agents know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tenant {
    /// Its name.
    pub name: String,
    /// Its key of the fleet; `-` in the file where there is none.
    pub key: Option<String>,
    /// Its key of the provider, which must be found nowhere afterwards.
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
