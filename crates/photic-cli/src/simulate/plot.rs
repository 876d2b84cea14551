//! Plots the comparison: the cost paid by each step, one labeled line per policy. The same
//! comparison gives the same bytes.

use std::fmt::Write as _;

use super::{Comparison, Line, PolicyGroup};
use crate::style::grouped;

/// Width of the picture.
const WIDTH: f64 = 880.0;
/// Height of the picture.
const HEIGHT: f64 = 500.0;
/// The area of the lines: left, top, right, bottom.
const PLOT_AREA: (f64, f64, f64, f64) = (72.0, 84.0, 668.0, 446.0);
/// Height of a label.
const LABEL: f64 = 17.0;
/// Largest number of points of a line.
const MAX_POINTS: usize = 400;

/// Lines that end higher than this multiple of keeping everything leave the picture, so that the
/// others stay apart.
const MAX_HEIGHT_FACTOR: f64 = 1.5;

/// Color of text.
const INK: &str = "#1f2933";
/// Color of secondary text.
const SOFT: &str = "#66727f";
/// Color of grid lines.
const GRID: &str = "#e4e8ec";

/// The plot, as an SVG document.
pub(super) fn svg(comparison: &Comparison) -> String {
    let session = &comparison.setting.session;
    let shown: Vec<&Line> = comparison.lines.iter().filter(|line| !is_double(line)).collect();
    let costs = shown.iter().map(|line| line.outcome.cost());
    let top =
        costs.filter(|&cost| cost <= MAX_HEIGHT_FACTOR * comparison.all()).fold(1.0, f64::max);
    let (step, digits) = tick(top / 1000.0);
    let scale = Scale { steps: session.steps as f64, top: (top / 1000.0 / step).ceil() * step };
    let mut out = String::new();
    open(&mut out, comparison);
    axes(&mut out, &scale, step, digits);
    let (nobody, others): (Vec<_>, Vec<_>) =
        shown.iter().rev().partition(|line| line.whose == PolicyGroup::Nobody);
    for line in others.into_iter().chain(nobody) {
        curve(&mut out, &scale, line);
    }
    labels(&mut out, &scale, comparison, &shown);
    out.push_str("</svg>\n");
    out
}

/// Returns `true` for lines that would repeat another one: keeping everything costs the same with
/// any breakpoints, and one line of `priced` is enough.
fn is_double(line: &Line) -> bool {
    matches!(line.whose, PolicyGroup::InForce | PolicyGroup::Default)
        || (line.whose == PolicyGroup::Photic && line.name == "all")
}

/// Maps steps and tokens to coordinates.
struct Scale {
    steps: f64,
    /// Upper end, in thousand tokens.
    top: f64,
}

impl Scale {
    fn x(&self, step: f64) -> f64 {
        PLOT_AREA.0 + (PLOT_AREA.2 - PLOT_AREA.0) * step / self.steps
    }

    fn y(&self, tokens: f64) -> f64 {
        PLOT_AREA.3 - (PLOT_AREA.3 - PLOT_AREA.1) * tokens / 1000.0 / self.top
    }

    /// The step at which a line leaves the picture, if it does.
    fn leaves(&self, paid: &[f64]) -> Option<f64> {
        let most = self.top * 1000.0;
        let after = paid.iter().position(|&tokens| tokens > most)?;
        let before = if after == 0 { 0.0 } else { paid[after - 1] };
        Some(after as f64 + (most - before) / (paid[after] - before))
    }
}

/// A round distance between ticks, and the number of digits it needs.
fn tick(top: f64) -> (f64, usize) {
    let raw = top / 5.0;
    let power = raw.log10().floor();
    let unit = 10_f64.powi(power as i32);
    let step = [1.0, 2.0, 5.0].map(|times| times * unit).into_iter().find(|&step| step >= raw);
    (step.unwrap_or(10.0 * unit), (-power).max(0.0) as usize)
}

/// Writes the head of the document and the title.
fn open(out: &mut String, comparison: &Comparison) {
    let session = &comparison.setting.session;
    let title = format!(
        "What {} steps cost with {}",
        grouped(session.steps as u64),
        escaped(comparison.model())
    );
    let subtitle = format!(
        "Input paid so far, in thousand tokens at the base price. Prompt {}; words {} a step; image {} {}.",
        grouped(session.system),
        grouped(session.text),
        grouped(session.image),
        match session.every {
            1 => "a step".to_owned(),
            every => format!("in one of {every}"),
        }
    );
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" font-family=\"system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif\" font-size=\"13\" fill=\"{INK}\">\n\
         <title>{title}</title>\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n\
         <text x=\"24\" y=\"34\" font-size=\"19\" font-weight=\"600\">{title}</text>\n\
         <text x=\"24\" y=\"56\" fill=\"{SOFT}\">{subtitle}</text>\n"
    );
}

/// Writes ticks and grid lines.
fn axes(out: &mut String, scale: &Scale, step: f64, digits: usize) {
    let (left, _, right, bottom) = PLOT_AREA;
    let count = (scale.top / step).round() as u32;
    for at in 0..=count {
        let value = step * f64::from(at);
        let y = scale.y(value * 1000.0);
        let name =
            if digits == 0 { grouped(value.round() as u64) } else { format!("{value:.digits$}") };
        let color = if at == 0 { SOFT } else { GRID };
        let _ = writeln!(
            out,
            "<path d=\"M{left} {y:.1}H{right}\" stroke=\"{color}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"{SOFT}\">{name}</text>",
            left - 10.0,
            y + 4.5
        );
    }
    let (step, _) = tick(scale.steps);
    let step = step.max(1.0);
    let mut at = 0.0;
    while at <= scale.steps {
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{SOFT}\">{at}</text>",
            scale.x(at),
            bottom + 20.0
        );
        at += step;
    }
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{SOFT}\">steps</text>",
        f64::midpoint(left, right),
        bottom + 40.0
    );
}

/// Writes the line of a policy.
fn curve(out: &mut String, scale: &Scale, line: &Line) {
    let paid = &line.outcome.paid;
    let every = paid.len().div_ceil(MAX_POINTS).max(1);
    let leaves = scale.leaves(paid);
    let inside = leaves.map_or(paid.len(), |at| at as usize);
    let mut path = format!("M{:.1} {:.1}", scale.x(0.0), scale.y(0.0));
    for (step, &tokens) in (1..).zip(&paid[..inside]) {
        if step % every == 0 || step == inside {
            let _ = write!(path, "L{:.1} {:.1}", scale.x(step as f64), scale.y(tokens));
        }
    }
    if let Some(at) = leaves {
        let _ = write!(path, "L{:.1} {:.1}", scale.x(at), PLOT_AREA.1);
    }
    let style = line_style(line);
    let _ = writeln!(
        out,
        "<path d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{} stroke-linejoin=\"round\" stroke-linecap=\"round\"/>",
        style.color, style.width, style.dashes
    );
}

/// The style of a line.
struct LineStyle {
    color: &'static str,
    width: f64,
    dashes: &'static str,
}

/// The style of a policy: warm colors for clients, cool ones for photic.
fn line_style(line: &Line) -> LineStyle {
    let plain = |color| LineStyle { color, width: 2.0, dashes: "" };
    match line.whose {
        PolicyGroup::Photic if line.name == "priced" => {
            LineStyle { color: "#0a66c2", width: 3.5, dashes: "" }
        }
        PolicyGroup::Photic if line.name.starts_with("turns") => plain("#2a9d8f"),
        PolicyGroup::Photic | PolicyGroup::Default | PolicyGroup::InForce => plain("#7b61c9"),
        PolicyGroup::Others if line.name.starts_with("window") => plain("#c8371b"),
        PolicyGroup::Others if line.name == "everything" => plain("#8a5a2b"),
        PolicyGroup::Others => plain("#d98a00"),
        PolicyGroup::Nobody => {
            LineStyle { color: INK, width: 1.5, dashes: " stroke-dasharray=\"2 4\"" }
        }
    }
}

/// Writes the names of the lines at their ends, or where they leave the picture.
fn labels(out: &mut String, scale: &Scale, comparison: &Comparison, lines: &[&Line]) {
    let (leaving, staying): (Vec<&Line>, Vec<&Line>) =
        lines.iter().partition(|line| scale.leaves(&line.outcome.paid).is_some());
    let share = |line: &Line| 100.0 * line.outcome.cost() / comparison.all();
    for (index, line) in leaving.into_iter().enumerate() {
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"{}\">{}, {:.0} %</text>",
            scale.x(scale.leaves(&line.outcome.paid).unwrap_or(scale.steps)) - 20.0,
            PLOT_AREA.1 + 16.0 + LABEL * index as f64,
            line_style(line).color,
            line.name,
            share(line)
        );
    }
    let mut places: Vec<(f64, &Line)> =
        staying.into_iter().map(|line| (scale.y(line.outcome.cost()), line)).collect();
    places.sort_by(|a, b| a.0.total_cmp(&b.0));
    let wanted: Vec<f64> = places.iter().map(|(y, _)| *y).collect();
    for ((y, line), at) in places.iter().zip(spread(&wanted, PLOT_AREA.1, PLOT_AREA.3)) {
        let (from, to) = (PLOT_AREA.2 + 3.0, PLOT_AREA.2 + 18.0);
        let weight = if line.name == "priced" { " font-weight=\"600\"" } else { "" };
        let _ = writeln!(
            out,
            "<path d=\"M{from} {y:.1}L{to} {at:.1}\" stroke=\"{0}\" opacity=\"0.6\"/><text x=\"{1:.1}\" y=\"{2:.1}\" fill=\"{0}\"{weight}>{3} <tspan fill=\"{SOFT}\" font-weight=\"400\">{4:.0} %</tspan></text>",
            line_style(line).color,
            to + 4.0,
            at + 4.5,
            line.name,
            share(line),
        );
    }
}

/// Moves sorted positions at least a label apart, inside the frame, each close to its wanted
/// position.
fn spread(wanted: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let held = |(start, count): (f64, usize)| {
        (start.min(bottom - LABEL * (count as f64 - 1.0)).max(top), count)
    };
    // Groups of labels that touch: position of the first, and their number.
    let mut groups: Vec<(f64, usize)> = Vec::new();
    for &want in wanted {
        let mut group = held((want, 1));
        while let Some((start, count)) =
            groups.pop_if(|(start, count)| *start + LABEL * *count as f64 > group.0)
        {
            let (ours, theirs) = (group.1 as f64, count as f64);
            // The position that is best on average for the labels of both groups.
            let start = (start * theirs + (group.0 - LABEL * theirs) * ours) / (ours + theirs);
            group = held((start, group.1 + count));
        }
        groups.push(group);
    }
    groups
        .into_iter()
        .flat_map(|(start, count)| (0..count).map(move |at| start + LABEL * at as f64))
        .collect()
}

/// Escapes text for XML.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(tick(2644.0), (1000.0, 0));
        assert_eq!(tick(100.0), (20.0, 0));
        assert_eq!(tick(0.9).1, 1);
    }

    #[test]
    fn labels_do_not_touch() {
        let places = spread(&[10.0, 100.0, 101.0, 102.0, 440.0, 446.0], 10.0, 446.0);
        assert!((places[0] - 10.0).abs() < 1e-9);
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= LABEL - 1e-9), "{places:?}");
        assert!(places[5] <= 446.0);
        let high = spread(&[84.0, 84.0, 85.0], 84.0, 446.0);
        assert_eq!(high, [84.0, 101.0, 118.0]);
        assert!((places[2] - 101.0).abs() < 1e-9, "the middle one stays: {places:?}");
    }

    #[test]
    fn names_cannot_break_out() {
        assert_eq!(escaped("a<b>&\u{0}c"), "a&lt;b&gt;&amp;c");
    }
}
