//! `photic session export --html`: a session as one page.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use photic_inspector::{ExportOptions, ExportedText, Inspector, ServedBy};
use photic_store::{LocalStore, SessionId, wait};

use crate::arguments::HtmlOptions;
use crate::output::print;
use crate::style::{Hint, byte_size, counted};

/// Bytes beyond which a page is only written on request: mail and chat refuse larger ones.
const LARGE: usize = 20_000_000;

/// Runs the command.
pub(super) fn run(
    store: LocalStore,
    id: &SessionId,
    options: &HtmlOptions,
    json: bool,
) -> anyhow::Result<ExitCode> {
    if json {
        anyhow::bail!("`--html` writes a page, which is no JSON; leave out `--json`");
    }
    let turns = options.turns.as_deref().map(ExportOptions::turns).transpose()?;
    let wanted = ExportOptions { turns, pictures: options.pictures, text: options.text };
    let inspector = Inspector::new(Arc::new(store), ServedBy::File);
    let export = wait(inspector.export(id, &wanted))?;
    let size = byte_size(export.html.len() as u64);
    if export.html.len() > LARGE && !options.large {
        let hint =
            Hint("pass `--large`, or fewer turns or pictures (`--turns`, `--pictures small`)");
        return Err(anyhow::anyhow!("the page would have {size}")).context(hint);
    }
    let mut words = vec![counted(export.pictures, "picture")];
    if options.text == ExportedText::Redacted {
        let places = export.redacted.iter().map(|(kind, count)| format!("{count} {kind}"));
        let places: Vec<String> = places.collect();
        words.push(if places.is_empty() {
            "nothing to redact in texts".to_owned()
        } else {
            format!("redacted in texts: {}", places.join(", "))
        });
    }
    let words = words.join("; ");
    writeln!(anstream::stderr(), "photic: {size}; {words}; pictures are not redacted")?;
    print(&export.html)
}
