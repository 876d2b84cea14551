//! Parses the names of tenants.

use anyhow::anyhow;
use photic_store::Tenant;

/// Parses the name of a tenant.
pub(super) fn named(tenant: &str) -> anyhow::Result<Tenant> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if tenant.is_empty() || tenant.len() > 64 || !tenant.chars().all(is_name) {
        return Err(anyhow!("a tenant's name has up to 64 letters, digits, `-`, `_` and `.`"));
    }
    Ok(Tenant::new(tenant))
}
