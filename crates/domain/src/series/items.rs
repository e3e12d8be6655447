//! Generated items: a name and a small picture for each thing in a sale of a series, always the same for the same sale.

const MAKES: [&str; 16] = [
    "Quiet", "Amber", "Folding", "Northern", "Velvet", "Pocket", "Copper", "Midnight", "Alpine", "Striped",
    "Floating", "Paper", "Golden", "Woven", "Tidal", "Little",
];
const THINGS: [&str; 16] = [
    "Lantern",
    "Kettle",
    "Compass",
    "Satchel",
    "Teapot",
    "Radio",
    "Umbrella",
    "Telescope",
    "Bicycle",
    "Guitar",
    "Clock",
    "Blanket",
    "Camera",
    "Kite",
    "Globe",
    "Chair",
];

/// The name of the n-th item of a sale.
pub fn name(sale: u64, item: usize) -> String {
    let die = Die::of(sale, item);
    let (make, thing) = (MAKES[die.pick(0, 16)], THINGS[die.pick(1, 16)]);
    format!("{make} {thing} No. {}", die.pick(2, 900) + 100)
}

/// A picture of the n-th item of a sale: two overlapping shapes on a ground, below a kilobyte.
pub fn picture(sale: u64, item: usize) -> String {
    let die = Die::of(sale, item);
    let hue = die.pick(3, 360);
    let (x, y, size) = (die.pick(4, 24) + 20, die.pick(5, 24) + 20, die.pick(6, 12) + 14);
    let turn = die.pick(7, 90);
    let sides = die.pick(8, 4) + 3;
    let points: Vec<String> = (0..sides).map(|n| corner(n, sides)).collect();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 64 64\" role=\"img\">\
         <rect width=\"64\" height=\"64\" rx=\"8\" fill=\"hsl({hue},60%,88%)\"/>\
         <circle cx=\"{x}\" cy=\"{y}\" r=\"{size}\" fill=\"hsl({},65%,55%)\"/>\
         <polygon points=\"{}\" transform=\"translate(32 32) rotate({turn})\" \
         fill=\"hsl({},70%,40%)\" fill-opacity=\".8\"/></svg>",
        (hue + 40) % 360,
        points.join(" "),
        (hue + 180) % 360,
    )
}

/// The corners of figures with three to six sides, in whole numbers.
fn corner(n: usize, sides: usize) -> String {
    const CORNERS: [&[(i8, i8)]; 4] = [
        &[(0, -18), (16, 9), (-16, 9)],
        &[(0, -18), (18, 0), (0, 18), (-18, 0)],
        &[(0, -18), (17, -6), (11, 15), (-11, 15), (-17, -6)],
        &[(0, -18), (16, -9), (16, 9), (0, 18), (-16, 9), (-16, -9)],
    ];
    let (x, y) = CORNERS[sides - 3][n];
    format!("{x},{y}")
}

/// Numbers that look like chance and are not.
struct Die(u64);

impl Die {
    fn of(sale: u64, item: usize) -> Die {
        Die(mix(sale ^ mix(item as u64)))
    }

    fn pick(&self, n: u64, below: u64) -> usize {
        (mix(self.0 ^ n.wrapping_mul(0x9e37_79b9_7f4a_7c15)) % below) as usize
    }
}

/// One round of splitmix64: every bit of the input moves about half of the output's.
fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn an_item_is_the_same_for_ever_and_mostly_its_own() {
        assert_eq!(name(7, 0), "Floating Camera No. 943");
        let names: BTreeSet<_> = (0..500).map(|sale| name(sale, 0)).collect();
        assert!(names.len() > 490, "{}", names.len());
        assert_ne!(picture(7, 0), picture(7, 1));
    }

    #[test]
    fn a_picture_is_small_and_closed() {
        for sale in 0..200 {
            let picture = picture(sale, 1);
            assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>"));
            assert!(picture.len() < 1_024 && !picture.contains('\n'));
        }
    }
}
