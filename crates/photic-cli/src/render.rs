//! The capability `render`, as this program has it: pages drawn in children of itself.

use std::sync::Arc;

use photic_pixels::Drawn;
use photic_pixels::geometry::Rect;
use photic_render::{Area, Fit, Kind, LeftOut, Missing, Page, Renderer, Request, Worker};
use photic_tools::{Content, PageText, Refusal, RefusalCode, Render, RenderRequest};

/// Draws in children of this program.
#[derive(Debug)]
struct Here {
    renderer: Renderer,
}

/// The capability; none if this program cannot be found to be started again.
pub(crate) fn capability() -> Option<Arc<dyn Render>> {
    let program = std::env::current_exe().ok()?;
    let worker = Worker::new(program, vec!["render-worker".into()]);
    Some(Arc::new(Here { renderer: Renderer::new(worker) }))
}

impl Render for Here {
    fn name(&self) -> &'static str {
        "photic-render"
    }

    fn renders(&self, content: Content, head: &[u8], name: &str) -> bool {
        kind(content, head, name).is_some()
    }

    fn render(&self, request: &RenderRequest<'_>) -> Result<Drawn, Refusal> {
        let asked = asked(request)?;
        let page = self.renderer.draw(&asked, request.beside).map_err(refusal)?;
        Ok(drawn(page, asked.wanted.kind))
    }

    fn words(&self, request: &RenderRequest<'_>) -> Result<PageText, Refusal> {
        let words = self.renderer.words(&asked(request)?).map_err(refusal)?;
        Ok(PageText { text: words.text, page: words.page, pages: words.pages })
    }
}

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

/// Enough to tell kinds apart.
const HEAD: usize = 256 << 10;

fn kind(content: Content, head: &[u8], name: &str) -> Option<Kind> {
    match content {
        Content::Svg => Some(Kind::Svg),
        Content::Pdf => Some(Kind::Pdf),
        Content::Text | Content::Utf16 { .. } | Content::OddText => Some(Kind::of_text(head, name)),
        Content::Binary(_) => Kind::of_binary(head),
        Content::Bitmap(_) | Content::Torn | Content::Empty => None,
    }
}

fn area(rect: Rect) -> Area {
    let [x, y, width, height] = [rect.x, rect.y, rect.width, rect.height].map(f64::from);
    Area { x, y, width, height }
}

fn drawn(page: Page, kind: Kind) -> Drawn {
    let facts = page.facts;
    let mut not_shown: Vec<String> = facts.left_out.iter().map(in_words).collect();
    if facts.unlisted > 0 {
        not_shown.push(format!("{} more things like these", facts.unlisted));
    }
    Drawn {
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

/// What is missing. The source's own words stand in quotes: they are data.
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
