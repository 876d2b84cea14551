//! The type of the file that `photic view -o` writes, by its extension.

use std::path::Path;

use anyhow::bail;
use photic::Profile;
use photic::profile::MediaKind;

use crate::style::Hint;

/// Extensions and the types they stand for.
const TYPES: [(&str, &str); 4] =
    [("png", "image/png"), ("jpg", "image/jpeg"), ("jpeg", "image/jpeg"), ("webp", "image/webp")];

/// Restricts a profile to the type of the output file. A file without an extension gets the type
/// that is best for the model.
pub(super) fn restrict(profile: &mut Profile, output: Option<&Path>) -> anyhow::Result<()> {
    let Some(output) = output else { return Ok(()) };
    let Some(extension) = output.extension().and_then(|extension| extension.to_str()) else {
        return Ok(());
    };
    let extension = extension.to_ascii_lowercase();
    let shown = output.display();
    let Some((_, media_type)) = TYPES.iter().find(|(name, _)| *name == extension) else {
        let says = format!("cannot write `{shown}`: no type is known for `.{extension}`");
        bail!(
            anyhow::anyhow!(says)
                .context(Hint("end the name in `.png`, `.jpg` or `.webp`, or leave the end out"))
        );
    };
    if !profile.accepts_type(MediaKind::Image, media_type) {
        let id = &profile.id;
        let says = format!("cannot write `{shown}`: `{id}` does not accept {media_type}");
        bail!(anyhow::anyhow!(says).context(Hint("end the name in `.png` or `.jpg`")));
    }
    profile.accepts.image = vec![(*media_type).to_owned()];
    Ok(())
}
