//! Sizes and colors of pages.

use crate::request::Theme;
use crate::text::canvas::{Face, Pen, TextStyle};
use crate::text::colors::{Palette, Rgb};

/// Size of body text: an x-height of 11 pixels.
pub(super) const BODY: f32 = 20.0;
/// Size of text in tables.
pub(super) const SMALL: f32 = 18.0;

/// Height of a line and position of its baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Leading {
    pub(super) height: f64,
    pub(super) baseline: f64,
}

impl Leading {
    /// The leading of a font size.
    pub(super) fn of(size: f32) -> Self {
        let height = (f64::from(size) * 1.48).round();
        let baseline = (height * 0.5 + f64::from(size) * 0.36).round();
        Self { height, baseline }
    }
}

/// The size of a heading.
pub(super) const fn heading(level: usize) -> f32 {
    match level {
        0 | 1 => 36.0,
        2 => 30.0,
        3 => 25.0,
        4 => 22.0,
        _ => 20.0,
    }
}

/// The colors of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageStyle {
    pub(super) theme: Theme,
    pub(super) paper: Rgb,
    pub(super) text: Rgb,
    /// Color of secondary text: numbers, captions.
    pub(super) faint: Rgb,
    pub(super) link: Rgb,
    /// Background of code.
    pub(super) shade: Rgb,
    /// Background of table heads.
    pub(super) head: Rgb,
    /// Color of rules.
    pub(super) rule: Rgb,
    /// Red, green, yellow, blue, magenta, cyan; each is readable.
    pub(super) hues: [Rgb; 6],
}

impl PageStyle {
    /// The colors of a theme.
    pub(super) fn of(theme: Theme) -> Self {
        let Palette { paper, text, faint } = Palette::of(theme);
        match theme {
            Theme::Light => Self {
                theme,
                paper,
                text,
                faint: [95; 3],
                link: [9, 80, 190],
                shade: [246, 247, 249],
                head: [230, 234, 240],
                rule: [205, 209, 216],
                hues: [
                    [190, 25, 30],
                    [20, 110, 45],
                    [140, 90, 0],
                    [9, 80, 190],
                    [130, 55, 175],
                    [0, 105, 125],
                ],
            },
            Theme::Dark => Self {
                theme,
                paper,
                text,
                faint,
                link: [120, 180, 255],
                shade: [42, 44, 49],
                head: [52, 55, 62],
                rule: [80, 83, 90],
                hues: [
                    [255, 130, 125],
                    [110, 215, 130],
                    [230, 190, 90],
                    [120, 180, 255],
                    [215, 160, 255],
                    [100, 210, 225],
                ],
            },
        }
    }

    /// The style of body text.
    pub(super) fn body(&self) -> TextStyle {
        self.letters(BODY)
    }

    /// The style of text of a size.
    pub(super) fn letters(&self, size: f32) -> TextStyle {
        let pen = Pen { color: self.text, ..Pen::default() };
        TextStyle { face: Face::Sans, size, bold: false, italic: false, pen }
    }

    /// The style of code: monospaced, slightly smaller, with a background.
    pub(super) fn code(&self, letters: TextStyle) -> TextStyle {
        let pen = Pen { shade: Some(self.shade), ..letters.pen };
        TextStyle { face: Face::Mono, size: (letters.size * 0.9).round(), pen, ..letters }
    }

    /// A style in another color.
    pub(super) fn colored(letters: TextStyle, color: Rgb) -> TextStyle {
        TextStyle { pen: Pen { color, ..letters.pen }, ..letters }
    }
}
