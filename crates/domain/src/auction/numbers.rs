//! Numbers of bids. They follow each other, but for what a store has forgotten: the numbers of bids that were accepted
//! and then lost are skipped, so that a number names one bid for ever.

use minicbor::{Decode, Encode};

/// A bid's number inside its auction: 1 for the first accepted, never reused.
pub type BidNumber = u32;

/// From one bid on, counted from 1, numbers are higher than the count by so much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Skip {
    #[n(0)]
    pub from: u32,
    #[n(1)]
    pub skipped: u32,
}

/// The number of the nth bid.
pub fn number_of(skips: &[Skip], nth: u32) -> BidNumber {
    let last = skips.iter().rev().find(|skip| skip.from <= nth);
    nth + last.map_or(0, |skip| skip.skipped)
}

/// Which bid has this number; none if it was skipped. It may be one that is still to come.
pub fn nth_of(skips: &[Skip], number: BidNumber) -> Option<u32> {
    let last = skips.iter().rev().find(|skip| skip.from + skip.skipped <= number);
    let nth = number - last.map_or(0, |skip| skip.skipped);
    (nth > 0 && number_of(skips, nth) == number).then_some(nth)
}

/// Takes the number of the nth bid down; it is the next one, or a higher one if some were skipped.
pub fn note(skips: &mut Vec<Skip>, nth: u32, number: BidNumber) {
    let next = number_of(skips, nth);
    assert!(number >= next, "bid {number} is given a number that was given before {next}");
    if number > next {
        skips.push(Skip { from: nth, skipped: number - nth });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_numbers_name_no_bid() {
        let (mut skips, given) = (Vec::new(), [1, 2, 10_003, 10_004, 20_005]);
        for (nth, number) in given.iter().enumerate() {
            note(&mut skips, nth as u32 + 1, *number);
        }
        assert_eq!(skips, [Skip { from: 3, skipped: 10_000 }, Skip { from: 5, skipped: 20_000 }]);
        for (nth, number) in given.iter().enumerate() {
            assert_eq!(
                (number_of(&skips, nth as u32 + 1), nth_of(&skips, *number)),
                (*number, Some(nth as u32 + 1))
            );
        }
        assert_eq!([0, 3, 10_002, 10_005, 20_004].map(|number| nth_of(&skips, number)), [None; 5]);
        assert_eq!(nth_of(&skips, 20_006), Some(6), "the next one");
    }
}
