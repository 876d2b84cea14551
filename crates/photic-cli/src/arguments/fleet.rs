//! The arguments of `photic fleet`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Manage many gateways: tenants, their keys, and stored data
///
/// The servers are named in `[fleet]` of the settings, the same file that the gateways read.
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic fleet status                       check the database and the bucket
  photic fleet keys issue acme --label ci   issue a key for a tenant, shown once
  photic fleet keys rotate acme 0c4d…       replace a key; the old one works for another hour
  photic fleet keys revoke acme 0c4d…       revoke a key, within 20 seconds
  photic fleet limits acme --requests 600   limit a tenant, across all gateways
  photic fleet lessons                      list what gateways learned about endpoints, and from whom
  photic fleet lessons --forget --teacher tenant:acme
  photic fleet audit verify acme            verify the audit log of a tenant
  photic fleet retire --days 30             delete all data older than 30 days
")]
pub(crate) struct FleetOptions {
    /// Settings file; the one named by `PHOTIC_CONFIG`, or `~/.config/photic/photic.toml`, if
    /// omitted
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: FleetCommand,
}

/// The subcommands of `photic fleet`.
#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Check whether the database and the bucket are reachable. Exit code: 0 both, 1 not
    #[command(before_help = "Examples:\n  photic fleet status --config fleet.toml\n")]
    Status,
    /// Manage the keys of tenants
    #[command(before_help = "Examples:\n  photic fleet keys list acme\n")]
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Set the limits of a tenant; without options, show them
    #[command(before_help = "Examples:\n  photic fleet limits acme --requests 600\n")]
    Limits {
        /// Name of the tenant
        tenant: String,
        #[command(flatten)]
        set: LimitOptions,
    },
    /// Verify or export the audit log of a tenant
    #[command(before_help = "Examples:\n  photic fleet audit verify acme\n")]
    #[command(subcommand)]
    Audit(AuditCommand),
    /// List what gateways learned about endpoints, from whose requests, since when and until when
    ///
    /// A lesson applies to the tenant that it was learned from, and to all others once three
    /// independent tenants have taught it.
    #[command(before_help = "Examples:\n  photic fleet lessons --forget --teacher tenant:acme\n")]
    Lessons(LessonOptions),
    /// Delete a tenant and all its data except the audit log; takes up to a minute
    #[command(before_help = "Examples:\n  photic fleet forget acme --yes\n")]
    Forget {
        /// Name of the tenant
        tenant: String,
        /// Confirm the deletion
        #[arg(long, required = true)]
        yes: bool,
    },
    /// Delete past days, with their tables and folders
    #[command(before_help = "Examples:\n  photic fleet retire --days 30\n")]
    Retire {
        /// Number of days to keep besides today; from the settings if omitted
        #[arg(long)]
        days: Option<u16>,
    },
}

/// The subcommands of `photic fleet keys`.
#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Issue a key; its secret is shown only once
    #[command(before_help = "Examples:\n  photic fleet keys issue acme --label ci --days 90\n")]
    Issue {
        /// Name of the tenant
        tenant: String,
        /// Note about its purpose
        #[arg(long, default_value = "")]
        label: String,
        /// Number of days until it expires; never if omitted
        #[arg(long)]
        days: Option<u32>,
    },
    /// List the keys of a tenant
    #[command(before_help = "Examples:\n  photic fleet keys list acme\n")]
    List {
        /// Name of the tenant
        tenant: String,
    },
    /// Replace a key; the old one works for a while longer
    #[command(
        before_help = "Examples:\n  photic fleet keys rotate acme 0c4d8e1f2a3b --overlap 10\n"
    )]
    Rotate {
        /// Name of the tenant
        tenant: String,
        /// ID of the key: the 12 characters in its middle
        key: String,
        /// Minutes for which the old key still works
        #[arg(long, default_value_t = 60)]
        overlap: u32,
    },
    /// Revoke a key
    #[command(before_help = "Examples:\n  photic fleet keys revoke acme 0c4d8e1f2a3b\n")]
    Revoke {
        /// Name of the tenant
        tenant: String,
        /// ID of the key: the 12 characters in its middle
        key: String,
    },
}

/// Limits of a tenant. Limits that are not given are the defaults of the settings again.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct LimitOptions {
    /// Requests per minute
    #[arg(long, value_name = "N")]
    pub(crate) requests: Option<u64>,
    /// Memory for concurrent requests, in MiB
    #[arg(long, value_name = "MIB")]
    pub(crate) in_flight: Option<u64>,
    /// Millions of pixels decoded per minute
    #[arg(long, value_name = "N")]
    pub(crate) megapixels: Option<u64>,
    /// Stored data, in MiB
    #[arg(long, value_name = "MIB")]
    pub(crate) stored: Option<u64>,
    /// Restore the defaults of the settings
    #[arg(long, conflicts_with_all = ["requests", "in_flight", "megapixels", "stored"])]
    pub(crate) default: bool,
}

/// Selection of lessons; all if nothing is given.
#[derive(Debug, Args)]
pub(crate) struct LessonOptions {
    /// Host, with its port if it has one
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Model
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Teacher, such as `tenant:acme`
    #[arg(long, value_name = "TEACHER")]
    pub(crate) teacher: Option<String>,
    /// All lessons
    #[arg(long, conflicts_with_all = ["host", "model", "teacher"])]
    pub(crate) all: bool,
    /// Delete them. Exit code: 0 if there were any, 1 if not
    #[arg(long)]
    pub(crate) forget: bool,
}

/// The subcommands of `photic fleet audit`.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Verify the hash chain. Exit code: 0 intact, 1 broken
    #[command(before_help = "Examples:\n  photic fleet audit verify acme\n")]
    Verify {
        /// Name of the tenant
        tenant: String,
    },
    /// Print the entries, one line of JSON each
    #[command(before_help = "Examples:\n  photic fleet audit export acme --after 100\n")]
    Export {
        /// Name of the tenant
        tenant: String,
        /// Only entries after this number
        #[arg(long, default_value_t = 0)]
        after: u64,
    },
}
