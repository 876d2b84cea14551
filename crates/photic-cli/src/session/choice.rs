//! `photic session drop`, `pin` and `shrink`: choices about single images.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Context as _;
use photic::Choice;
use photic_store::{Image, LocalStore, wait};
use serde_json::json;

use super::lookup::session;
use crate::arguments::ImageOptions;
use crate::output::print_json;
use crate::style::{CYAN, GREEN, Hint};

/// Runs the command.
pub(super) fn run(
    store: &LocalStore,
    options: &ImageOptions,
    choice: Choice,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let id = session(store, &options.id)?;
    let images = wait(store.images(&id))?;
    let image = find(&images, &options.image)?;
    let (digest, handle) = image.digest.zip(image.handle.as_ref()).with_context(|| {
        format!("`{}` is not recorded: the request has only its URL", options.image)
    })?;
    let choice = (!options.undo).then_some(choice);
    wait(store.choose(&id, &digest, choice))?;
    if json {
        let handle = handle.to_string();
        return print_json(&json!({"session": id, "image": handle, "choice": choice}));
    }
    let mut out = anstream::stdout().lock();
    let what = match choice {
        Some(Choice::Drop) => "left out".to_owned(),
        Some(Choice::Pin) => "always shown".to_owned(),
        Some(Choice::Shrink { max_edge }) => format!("shown with at most {max_edge} px"),
        None => "subject to the policy again".to_owned(),
    };
    writeln!(
        out,
        "{CYAN}{handle}{CYAN:#} is {GREEN}{what}{GREEN:#} from the next request on; recorded turns \
         do not change"
    )?;
    Ok(ExitCode::SUCCESS)
}

/// Finds an image by its number or handle.
fn find<'i>(images: &'i [Image], text: &str) -> anyhow::Result<&'i Image> {
    let number: Option<usize> = text.trim_start_matches('#').parse().ok();
    let is_meant = |image: &&Image| match number {
        Some(number) => image.media.index() + 1 == number,
        None => image.handle.as_ref().is_some_and(|handle| handle.as_str() == text),
    };
    images
        .iter()
        .find(is_meant)
        .with_context(|| format!("no image `{text}` in the last turn"))
        .context(Hint("run `photic session images ID` to list them"))
}
