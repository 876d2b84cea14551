//! The renderer of this program: draws pages in child processes of itself.

use std::sync::Arc;

use photic_pixels::DrawnPage;
use photic_pixels::geometry::Rect;
use photic_render::{Area, Fit, Kind, LeftOut, Missing, Page, Renderer, Request, Worker};
use photic_tools::{Content, PageText, Refusal, RefusalCode, Render, RenderRequest};

/// Draws pages in child processes of this program.
#[derive(Debug)]
struct ChildRenderer {
    renderer: Renderer,
}

/// The renderer; `None` if the path of this program is unknown.
pub(crate) fn capability() -> Option<Arc<dyn Render>> {
    let program = std::env::current_exe().ok()?;
    let worker = Worker::new(program, vec!["render-worker".into()]);
    Some(Arc::new(ChildRenderer { renderer: Renderer::new(worker) }))
}

impl Render for ChildRenderer {
    fn name(&self) -> &'static str {
        "photic-render"
    }

    fn renders(&self, content: Content, head: &[u8], name: &str) -> bool {
        kind(content, head, name).is_some()
    }

    fn render(&self, request: &RenderRequest<'_>) -> Result<DrawnPage, Refusal> {
        let asked = asked(request)?;
        let page = self.renderer.draw(&asked, request.beside).map_err(refusal)?;
        Ok(drawn(page, asked.wanted.kind))
    }

    fn words(&self, request: &RenderRequest<'_>) -> Result<PageText, Refusal> {
        let words = self.renderer.words(&asked(request)?).map_err(refusal)?;
        Ok(PageText { text: words.text, page: words.page, pages: words.pages })
    }
}

/// Translates a request of the tools to one of the renderer.
fn asked<'r>(request: &RenderRequest<'r>) -> Result<Request<'r>, Refusal> {
    let head = &request.bytes[..request.bytes.len().min(HEAD)];
    let Some(kind) = kind(request.content, head, request.name) else {
        let says = format!("`{}` is of a kind that is not drawn here", request.name);
        return Err(Refusal::new(RefusalCode::NeedsRender, says, "view pictures or documents"));
    };
    let mut asked = Request::new(request.bytes, kind);
    asked.wanted.page = request.page;
    asked.wanted.region = request.region.map(area);
    asked.wanted.name = Some(request.name.to_owned());
    if let Some(longest) = request.longest {
        asked.wanted.fit = Fit::Longest(longest);
    }
    Ok(asked)
}

/// Number of bytes from which kinds of sources are told apart.
const HEAD: usize = 256 << 10;

/// The kind of a source, if it can be drawn.
fn kind(content: Content, head: &[u8], name: &str) -> Option<Kind> {
    match content {
        Content::Svg => Some(Kind::Svg),
        Content::Pdf => Some(Kind::Pdf),
        Content::Text | Content::Utf16 { .. } | Content::OddText => Some(Kind::of_text(head, name)),
        Content::Binary(_) => Kind::of_binary(head),
        Content::Bitmap(_) | Content::Torn | Content::Empty => None,
    }
}

/// Converts a rectangle to an area of a page.
fn area(rect: Rect) -> Area {
    let [x, y, width, height] = [rect.x, rect.y, rect.width, rect.height].map(f64::from);
    Area { x, y, width, height }
}

/// Converts a rendered page to one that a view can be made of.
fn drawn(page: Page, kind: Kind) -> DrawnPage {
    let facts = page.facts;
    let mut not_shown: Vec<String> = facts.left_out.iter().map(in_words).collect();
    if facts.unlisted > 0 {
        not_shown.push(format!("{} more things like these", facts.unlisted));
    }
    DrawnPage {
        raster: page.raster,
        to_page: page.to_page,
        size: facts.size,
        unit: match kind {
            Kind::Pdf | Kind::Office => "pt",
            _ => "px",
        },
        page: facts.page,
        pages: facts.pages,
        not_shown,
        rows: facts.rows,
    }
}

/// Describes missing content. Words of the source are quoted, since they are data.
fn in_words(left_out: &LeftOut) -> String {
    let detail = &left_out.detail;
    match left_out.what {
        Missing::External => format!("\"{detail}\", which is outside the source"),
        Missing::Picture => format!("a picture: {detail}"),
        Missing::Script => format!("what the script \"{detail}\" would do"),
        Missing::Animation => format!("the motion of \"{detail}\"; one moment is shown"),
        Missing::Foreign => format!("HTML inside it: \"{detail}\""),
        Missing::Font => format!("a font: {detail}"),
        Missing::Glyphs => format!("characters that no font here has: \"{detail}\""),
        Missing::Annotation => format!("a note: {detail}"),
        Missing::Colors => format!("colors: {detail}"),
        Missing::Rest => format!("the rest: {detail}"),
        Missing::Layout => format!("its own spaces and line ends: {detail}"),
    }
}

/// Translates a refusal of the renderer.
fn refusal(refusal: photic_render::Refusal) -> Refusal {
    use photic_render::RefusalCode as Render;
    let code = match refusal.code {
        Render::Empty => RefusalCode::Empty,
        Render::Corrupt => RefusalCode::Corrupt,
        Render::Encrypted => RefusalCode::Encrypted,
        Render::NoSuchPage | Render::BadRegion => RefusalCode::BadRegion,
        Render::TooLarge | Render::TooSlow | Render::TooMuchMemory => RefusalCode::TooLarge,
        Render::Crashed => RefusalCode::RenderFailed,
        Render::Unavailable => RefusalCode::NeedsRender,
    };
    Refusal::new(code, refusal.says, refusal.hint)
}
