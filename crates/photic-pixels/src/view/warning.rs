//! Warnings about a view, as data and as sentences.

use serde::Serialize;

use crate::geometry::Rect;

/// A fact about a view that a reader would not expect.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Warning {
    /// The smallest text is too small to be read in this view.
    SmallText {
        /// Height of its lower-case letters in the view, in pixels.
        x_height: f64,
        /// The height that models need.
        readable: f64,
        /// A region of the source that shows it readably.
        region: Rect,
        /// Number of tiles that show all of the source at native resolution; 0 if there are none.
        tiles: u32,
    },
    /// The region reached past the edge of the source and was cut.
    RegionCut {
        /// The region that is shown.
        shown: Rect,
    },
    /// There are too many tiles, so some of the source is not covered.
    NotCovered {
        /// Regions that no tile shows.
        rects: Vec<Rect>,
    },
    /// A tiny source was enlarged; its pixels are repeated.
    Enlarged {
        /// The factor, across and down.
        by: u32,
    },
    /// The view is smaller than the model could see, to meet a limit on bytes.
    ShrunkForBytes {
        /// The width it would have had.
        width: u32,
        /// The height it would have had.
        height: u32,
    },
    /// The file has more frames or pages than the one shown.
    MoreFrames {
        /// The smallest possible number of frames.
        frames: u32,
    },
    /// The document has more pages than the one drawn.
    MorePages {
        /// Number of the page shown, from 1.
        page: u32,
        /// Number of pages.
        pages: u32,
    },
    /// Content of the source is missing in the picture.
    NotShown {
        /// A short description, possibly with words of the source.
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

/// A rectangle in the syntax of the flags.
fn at(rect: &Rect) -> String {
    format!("{},{},{},{}", rect.x, rect.y, rect.width, rect.height)
}
