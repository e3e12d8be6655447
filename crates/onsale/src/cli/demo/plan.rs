//! Geometry and numbering that both demo houses share: rows that grow towards the back, letters, curves.

use onsale_domain::layout::{Row, Seat};

/// Row letters without I and O, which people take for 1 and 0.
const LETTERS: &[u8; 24] = b"ABCDEFGHJKLMNPQRSTUVWXYZ";

pub fn letter(row: usize) -> String {
    char::from(LETTERS[row % LETTERS.len()]).to_string()
}

/// Spreads `total` seats over rows whose length grows evenly from `first` to `last` parts; the sum is exact.
pub fn spread(total: usize, rows: usize, first: usize, last: usize) -> Vec<usize> {
    // Twice the parts and whole steps, so that everything stays an integer.
    let steps = rows.saturating_sub(1).max(1);
    let part = |row: usize| first * steps + (last - first) * row;
    let all: usize = (0..rows).map(part).sum();
    let mut before = 0;
    let mut given = 0;
    (0..rows)
        .map(|row| {
            before += part(row);
            let upto = total * before / all;
            let seats = upto - given;
            given = upto;
            seats
        })
        .collect()
}

/// A seat that stands for nothing special yet.
pub fn seat(id: String, label: usize, tier: u16, (x, y): (f64, f64)) -> Seat {
    let (x, y) = (x.round() as i32, y.round() as i32);
    Seat { id, label: label.to_string(), tier, x, y, accessible: false, companion: false }
}

/// Makes the outermost `pairs` pairs at both ends of a row wheelchair places, each with a companion's seat.
pub fn make_accessible(row: &mut Row, pairs: usize) {
    let last = row.seats.len().saturating_sub(1);
    for pair in 0..pairs {
        for (place, companion) in [(2 * pair, 2 * pair + 1), (last - 2 * pair, last - 2 * pair - 1)] {
            row.seats[place].accessible = true;
            row.seats[companion].companion = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_grow_and_their_sum_is_exact() {
        let rows = spread(700, 20, 30, 40);
        assert_eq!(rows.iter().sum::<usize>(), 700);
        assert_eq!((rows[0], rows[19]), (30, 40));
        assert_eq!(spread(7, 3, 1, 1), [2, 2, 3]);
    }

    #[test]
    fn no_row_is_called_i_or_o() {
        let rows: String = (0..24).map(letter).collect();
        assert_eq!(rows, "ABCDEFGHJKLMNPQRSTUVWXYZ");
    }
}
