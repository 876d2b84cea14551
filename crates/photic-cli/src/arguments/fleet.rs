//! The arguments of `photic fleet`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Look after many gateways: tenants, their keys, and what is kept of them
///
/// Where its servers are says `[fleet]` of the settings, the same file that the gateways read.
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic fleet status                       are the database and the bucket there?
  photic fleet keys issue acme --label ci   a key for a tenant, shown once
  photic fleet keys rotate acme 0c4d…       a new key; the old one opens an hour more
  photic fleet keys revoke acme 0c4d…       it opens no more, within 20 seconds
  photic fleet limits acme --requests 600   what it may use, by all gateways together
  photic fleet lessons                      what gateways learned about endpoints, and from whom
  photic fleet lessons --forget --teacher tenant:acme
  photic fleet audit verify acme            is what was done for it still as it was written?
  photic fleet retire --days 30             forget everything that is older
")]
pub(crate) struct FleetOptions {
    /// Settings; without it, the file that `PHOTIC_CONFIG` names, or your own:
    /// `~/.config/photic/photic.toml`
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: FleetCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Say whether the servers are there: exit 0 if both are, 1 if not
    Status,
    /// Keys of tenants
    #[command(subcommand)]
    Keys(KeysCommand),
    /// What a tenant may use; without a limit, say what holds
    Limits {
        /// Whose
        tenant: String,
        #[command(flatten)]
        set: LimitOptions,
    },
    /// What was done for a tenant
    #[command(subcommand)]
    Audit(AuditCommand),
    /// What gateways learned about endpoints together, from whose requests, since when and until when
    ///
    /// A lesson holds for whoever was taught it, and for all others once three that have nothing to
    /// do with each other were taught the same.
    Lessons(LessonOptions),
    /// Forget a tenant and everything of it but its audit; takes the better part of a minute
    Forget {
        /// Whom
        tenant: String,
        /// Yes, really
        #[arg(long, required = true)]
        yes: bool,
    },
    /// Forget days that are over, as tables and folders
    Retire {
        /// How many days stay beside today; without it, what the settings say
        #[arg(long)]
        days: Option<u16>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Make a key; its secret is shown now and never again
    Issue {
        /// Whose
        tenant: String,
        /// What it is for
        #[arg(long, default_value = "")]
        label: String,
        /// How many days it opens; without it, until it is revoked
        #[arg(long)]
        days: Option<u32>,
    },
    /// List the keys of a tenant
    List {
        /// Whose
        tenant: String,
    },
    /// Make a key in place of another, which opens for a while longer
    Rotate {
        /// Whose
        tenant: String,
        /// The name of the key: its 12 letters in the middle
        key: String,
        /// How many minutes the old one still opens
        #[arg(long, default_value_t = 60)]
        overlap: u32,
    },
    /// End a key
    Revoke {
        /// Whose
        tenant: String,
        /// The name of the key: its 12 letters in the middle
        key: String,
    },
}

/// Limits of a tenant; those that are not named hold no more.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct LimitOptions {
    /// Requests in a minute
    #[arg(long, value_name = "N")]
    pub(crate) requests: Option<u64>,
    /// What requests under way may take together, in MiB
    #[arg(long, value_name = "MIB")]
    pub(crate) in_flight: Option<u64>,
    /// Pixels that are decoded in a minute, in millions
    #[arg(long, value_name = "N")]
    pub(crate) megapixels: Option<u64>,
    /// What may be kept, in MiB
    #[arg(long, value_name = "MIB")]
    pub(crate) stored: Option<u64>,
    /// The defaults of the settings again
    #[arg(long, conflicts_with_all = ["requests", "in_flight", "megapixels", "stored"])]
    pub(crate) default: bool,
}

/// Which lessons; all, where nothing is named.
#[derive(Debug, Args)]
pub(crate) struct LessonOptions {
    /// Only of this host, with its port if it has one
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Only about this model
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Only of this teacher, such as `tenant:acme`
    #[arg(long, value_name = "TEACHER")]
    pub(crate) teacher: Option<String>,
    /// All of them
    #[arg(long, conflicts_with_all = ["host", "model", "teacher"])]
    pub(crate) all: bool,
    /// Forget them: exit 0 if there were any, 1 if not
    #[arg(long)]
    pub(crate) forget: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Say whether its chain is whole: exit 0 if it is, 1 if not
    Verify {
        /// Whose
        tenant: String,
    },
    /// Print its rows, a line of JSON each
    Export {
        /// Whose
        tenant: String,
        /// Only those after this number
        #[arg(long, default_value_t = 0)]
        after: u64,
    },
}
