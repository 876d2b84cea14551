//! What a reader of a view should know, as data and as a sentence.

use serde::Serialize;

use crate::geometry::Rect;

/// Something about a view that is not as one would assume.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Warning {
    /// The smallest text is too small to be read in this view.
    SmallText {
        /// Height of its lower-case letters here, in pixels.
        x_height: f64,
        /// What models need.
        readable: f64,
        /// A region of the source that shows it readably.
        region: Rect,
        /// How many tiles show all of the source at native resolution; 0 of what has none.
        tiles: u32,
    },
    /// The region hung over the edge of the source and was cut there.
    RegionCut {
        /// What is shown instead.
        shown: Rect,
    },
    /// The tiles, being too many, leave part of the source out.
    NotCovered {
        /// The parts no tile shows.
        rects: Vec<Rect>,
    },
    /// A tiny source was enlarged; its pixels are repeated.
    Enlarged {
        /// So many times across and down.
        by: u32,
    },
    /// The view is smaller than the model could see, because of a cap on bytes.
    ShrunkForBytes {
        /// The width it would have had.
        width: u32,
        /// The height it would have had.
        height: u32,
    },
    /// There is more than the one frame or page that is shown.
    MoreFrames {
        /// At least so many.
        frames: u32,
    },
    /// There is more than the one page that was drawn.
    MorePages {
        /// Which one it is, from 1.
        page: u32,
        /// How many there are.
        pages: u32,
    },
    /// Something that the source asks for is not in the picture.
    NotShown {
        /// What, in a few words; some of them may be the source's own.
        what: String,
    },
    /// The file is damaged; some pixels may be wrong.
    Damaged,
    /// The color profile could not be used; colors may be off.
    ProfileIgnored,
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::SmallText { x_height, readable, region, tiles } => {
                write!(
                    f,
                    "the smallest text is about {x_height:.1} px tall here, below the \
                     {readable:.0} px that models read; view region {}",
                    at(region)
                )?;
                match tiles {
                    0 => Ok(()),
                    _ => write!(f, " or the {tiles} tiles"),
                }
            }
            Self::RegionCut { shown } => {
                write!(f, "the region reaches past the edge; {} is shown", at(shown))
            }
            Self::NotCovered { rects } => {
                let rects: Vec<String> = rects.iter().map(at).collect();
                write!(f, "no tile shows {}; ask for regions", rects.join(" and "))
            }
            Self::Enlarged { by } => write!(f, "the picture is tiny and was enlarged {by} times"),
            Self::ShrunkForBytes { width, height } => {
                write!(f, "shrunk from {width}x{height} to keep the byte limit")
            }
            Self::MoreFrames { frames } => write!(
                f,
                "one of at least {frames} frames is shown; a sheet shows them side by side"
            ),
            Self::MorePages { page, pages } => write!(f, "this is page {page} of {pages}"),
            Self::NotShown { what } => write!(f, "not shown: {what}"),
            Self::Damaged => f.write_str("the file is damaged; some pixels may be wrong"),
            Self::ProfileIgnored => {
                f.write_str("the color profile could not be used; colors may be off")
            }
        }
    }
}

/// A rectangle as the flags take it.
fn at(rect: &Rect) -> String {
    format!("{},{},{},{}", rect.x, rect.y, rect.width, rect.height)
}
