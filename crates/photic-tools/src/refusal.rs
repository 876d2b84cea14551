//! The closed set of refusals: a code, a sentence, and the next step.
//!
//! All tools share these codes; `docs/refusals.md` is generated from this file. A refusal is a
//! result that a model reads. It never contains refused content, keys or bytes of media.

use serde::Serialize;

/// A typed refusal of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The stable code.
    pub code: RefusalCode,
    /// The problem, as a sentence without a final period.
    pub says: String,
    /// The next step.
    pub hint: String,
    /// Names that may have been meant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
    /// Message of the tool that `inspect` replaces, for compatible cases.
    #[serde(skip)]
    pub(crate) seed_003: Option<String>,
}

impl Refusal {
    /// Creates a refusal.
    pub fn new(code: RefusalCode, says: impl Into<String>, hint: impl Into<String>) -> Self {
        let (says, hint) = (says.into(), hint.into());
        Self { code, says, hint, candidates: Vec::new(), seed_003: None }
    }

    /// Adds names that may have been meant.
    #[must_use]
    pub fn with_candidates(mut self, candidates: Vec<String>) -> Self {
        self.candidates = candidates;
        self
    }

    /// Returns the message that `inspect_image` gives in this case, for hosts that replace it.
    pub fn seed_003(&self) -> Option<&str> {
        self.seed_003.as_deref()
    }

    pub(crate) fn known_as(mut self, words: impl Into<String>) -> Self {
        self.seed_003 = Some(words.into());
        self
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.says)
    }
}

impl From<photic_pixels::Refusal> for Refusal {
    fn from(refusal: photic_pixels::Refusal) -> Self {
        use photic_pixels::RefusalCode as Pixels;
        let code = match refusal.code {
            Pixels::Empty => RefusalCode::Empty,
            Pixels::NotAnImage => RefusalCode::NotAnImage,
            Pixels::Corrupt => RefusalCode::Corrupt,
            Pixels::TooLarge => RefusalCode::TooLarge,
            Pixels::BadRegion => RefusalCode::BadRegion,
            Pixels::CannotFit => RefusalCode::CannotFit,
            // `UnsupportedFormat`, and what a later version may add. The words of the refusal say it.
            _ => RefusalCode::UnsupportedFormat,
        };
        Self::new(code, refusal.says, refusal.hint)
    }
}

/// Declares the codes with their meaning, next step and tools.
macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $tools:literal, $means:literal, $next:literal;)*) => {
        /// Stable refusal codes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(rename_all = "snake_case")]
        #[non_exhaustive]
        pub enum RefusalCode {
            $(#[doc = $means] $variant,)*
        }

        impl RefusalCode {
            /// All codes, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the serialized name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the tools that use it.
            pub const fn tools(self) -> &'static str {
                match self { $(Self::$variant => $tools,)* }
            }

            /// Returns its meaning.
            pub const fn means(self) -> &'static str {
                match self { $(Self::$variant => $means,)* }
            }

            /// Returns the next step.
            pub const fn next(self) -> &'static str {
                match self { $(Self::$variant => $next,)* }
            }
        }
    };
}

codes! {
    BadArguments = "bad_arguments", "list, read, view, inspect",
        "An argument cannot be read, or contradicts another.",
        "Correct the argument as the hint says.";
    BadSource = "bad_source", "list, read, view, inspect",
        "The source is no path, handle or address, or of a kind that is never opened.",
        "Pass a plain path below a root, a handle, or an `https` address.";
    Absent = "absent", "list, read, view, inspect",
        "Nothing goes by that name: no file, or a handle whose original is gone.",
        "Pass one of the candidates, if it is meant; call `list`; view the source again for a new handle.";
    Ambiguous = "ambiguous", "list, read, view, inspect",
        "Several files differ from the name only in how it is written.",
        "Pass one of the candidates exactly.";
    OutsideRoots = "outside_roots", "list, read, view, inspect",
        "The path leads out of the folders that may be read, by itself or through a link.",
        "Ask for a file inside; the operator can add a root.";
    NotAFile = "not_a_file", "read, view, inspect",
        "A folder, pipe, socket, device, or a file that the kernel makes up.",
        "Name a regular file.";
    HardLink = "hard_link", "read, view, inspect",
        "The file has another name, which may lie outside the roots.",
        "Copy the file, or let the operator allow hard links.";
    NoPermission = "no_permission", "list, read, view, inspect",
        "The operating system does not let us read it.",
        "Change its permissions, or name another file.";
    Unreadable = "unreadable", "read, view, inspect",
        "Reading failed halfway.",
        "Try again; check the disk.";
    NeedsNet = "needs_net", "view, inspect",
        "The source is an address, and this server fetches none.",
        "Save the picture below a root, and pass its path.";
    NeedsStore = "needs_store", "view, inspect",
        "The source is a handle, and there is no store that it could be in.",
        "Name the file itself; for handles, start `photic mcp` with `--store DIR`.";
    FetchRefused = "fetch_refused", "view, inspect",
        "The guarded fetch did not bring what is at the address.",
        "As the hint says; or save it below a root.";
    TooLarge = "too_large", "read, view, inspect",
        "More bytes, pixels, frames or time than allowed.",
        "Use a smaller file, a region, or fewer lines.";
    Empty = "empty", "view, inspect",
        "There is nothing in it.",
        "Write the file again.";
    NotText = "not_text", "read",
        "The bytes are pixels or another binary format; `read` returns text only.",
        "Call `view` for pictures; use a tool made for the format otherwise.";
    BadEncoding = "bad_encoding", "read",
        "The bytes look like text of an encoding that is not read.",
        "Convert it to UTF-8.";
    NeedsRender = "needs_render", "view, inspect",
        "The source would have to be rendered, and no renderer of its kind was given.",
        "Call `read` for its text; or let the host provide the capability `render`.";
    Encrypted = "encrypted", "view, inspect",
        "It takes a password to open the document.",
        "Ask for a copy without one.";
    RenderFailed = "render_failed", "view, inspect",
        "The renderer broke on the source; the next one is drawn as ever.",
        "Render it to PNG with another program, and view that.";
    NotAnImage = "not_an_image", "view, inspect",
        "The bytes are no picture, whatever the name says.",
        "Call `read` if it is text.";
    UnsupportedFormat = "unsupported_format", "view, inspect",
        "A picture of a format that is not decoded here.",
        "Convert it to PNG, JPEG or WebP.";
    Corrupt = "corrupt", "view, inspect",
        "The file ends too early or contradicts itself.",
        "Write or fetch it again.";
    BadRegion = "bad_region", "view",
        "The region, tile or page lies outside the source, or is empty.",
        "Ask for one inside, as the hint says.";
    CannotFit = "cannot_fit", "view, inspect",
        "No encoding of it fits the limits; it is not sent as it is instead.",
        "Ask for a region, or allow more bytes.";
    Stale = "stale", "check_fresh",
        "The file changed since it was read, or the token is of another file.",
        "Call `read` again before editing.";
    ImagesBlocked = "images_blocked", "inspect",
        "The settings say that no picture leaves this machine.",
        "Disable `block_images` to use `inspect`.";
    ModelsUnavailable = "models_unavailable", "inspect",
        "No vision model is configured.",
        "Call `view` and look yourself; or start `photic mcp` with `--model MODEL` and set `OPENAI_API_KEY`, or `ANTHROPIC_API_KEY` for a Claude model.";
    NoModels = "no_models", "inspect",
        "The list of models is empty.",
        "Set `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`, or name a model that can see with `--model`.";
    ModelUnresolved = "model_unresolved", "inspect",
        "A model was named that is not among those available.",
        "Name one of the candidates.";
    BlindModel = "blind_model", "inspect",
        "The model that would be asked cannot see pictures; none that can is available.",
        "Name a model that can see with `--model`.";
    NoKey = "no_key", "inspect",
        "There is no key for the provider of that model.",
        "Set the variable that the hint names, or choose another model with `--model`.";
    RequestFailed = "request_failed", "inspect",
        "The model's provider answered with an error, or not at all.",
        "Read what it says; try again or choose another model.";
    RequestAborted = "request_aborted", "inspect",
        "The reply broke off before its end.",
        "Ask again.";
    NoAnswer = "no_answer", "inspect",
        "The model said nothing in words.",
        "Ask another question, or another model.";
}
