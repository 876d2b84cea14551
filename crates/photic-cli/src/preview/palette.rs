//! The 240 fixed colors of a terminal with 256: a cube of six levels and a ramp of grays.

/// Levels of the cube.
const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// The first color of the cube; those before it depend on the theme.
pub(super) const FIRST: u8 = 16;
/// The first gray of the ramp.
const FIRST_GRAY: u8 = 232;

/// The number of the nearest color.
pub(super) fn nearest([r, g, b]: [u8; 3]) -> u8 {
    let step = |sample: u8| {
        let steps = (0_u8..).zip(LEVELS);
        steps.min_by_key(|(_, level)| level.abs_diff(sample)).map_or(0, |(step, _)| step)
    };
    let cube = FIRST + 36 * step(r) + 6 * step(g) + step(b);
    let mean = ((u16::from(r) + u16::from(g) + u16::from(b)) / 3) as u8;
    let gray = FIRST_GRAY + (mean.saturating_sub(3) / 10).min(23);
    let distance = |number: u8| -> u32 {
        let parts = color(number).into_iter().zip([r, g, b]);
        parts.map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
    };
    if distance(gray) < distance(cube) { gray } else { cube }
}

/// The RGB value of a color.
pub(super) fn color(number: u8) -> [u8; 3] {
    if number >= FIRST_GRAY {
        return [8 + 10 * (number - FIRST_GRAY); 3];
    }
    let number = usize::from(number.saturating_sub(FIRST));
    [LEVELS[number / 36], LEVELS[number / 6 % 6], LEVELS[number % 6]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_color_of_the_palette_is_nearest_to_itself() {
        for number in FIRST..=u8::MAX {
            let own = color(number);
            assert_eq!(color(nearest(own)), own, "{number}");
        }
        assert_eq!(color(nearest([250, 3, 2])), [255, 0, 0]);
        assert_eq!(color(nearest([99, 101, 100])), [98; 3]);
    }
}
