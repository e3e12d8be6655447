//! The accepted bids of an auction, in their order, 12 bytes each: ten thousand auctions of a hundred bids stay small.

use onsale_compact::gently::push_gently;

use super::numbers::{self, BidNumber, Skip};
use crate::money::Minor;
use crate::time::Millis;

#[derive(Clone, Debug)]
pub(super) struct Bids {
    all: Vec<PackedBid>,
    /// No bid is older.
    starts_at: Millis,
    skips: Vec<Skip>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bid {
    pub number: BidNumber,
    pub bidder: u16,
    pub max: Minor,
    pub at: Millis,
    pub retracted: bool,
}

/// Amounts are at most 10^12, below 2^40, and so are the milliseconds of any auction; the bounds on bids, watchers and
/// bans leave the highest bit of a bidder's number free.
#[derive(Clone, Copy, Debug)]
struct PackedBid {
    max: [u8; 5],
    /// After the start.
    after: [u8; 5],
    /// The highest bit: retracted.
    bidder: [u8; 2],
}

const RETRACTED: u8 = 0x80;

impl Bids {
    pub(super) fn new(starts_at: Millis) -> Bids {
        Bids { all: Vec::new(), starts_at, skips: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn next_number(&self) -> BidNumber {
        numbers::number_of(&self.skips, self.all.len() as u32 + 1)
    }

    pub(super) fn skips(&self) -> &[Skip] {
        &self.skips
    }

    fn index(&self, number: BidNumber) -> Option<usize> {
        let index = numbers::nth_of(&self.skips, number)? as usize - 1;
        (index < self.all.len()).then_some(index)
    }

    pub(super) fn get(&self, number: BidNumber) -> Option<Bid> {
        Some(self.open(&self.all[self.index(number)?], number))
    }

    pub(super) fn push(&mut self, number: BidNumber, bidder: u16, max: Minor, at: Millis) {
        numbers::note(&mut self.skips, self.all.len() as u32 + 1, number);
        let [_, _, _, max @ ..] = max.to_be_bytes();
        let [_, _, _, after @ ..] = (at - self.starts_at).to_be_bytes();
        push_gently(&mut self.all, PackedBid { max, after, bidder: bidder.to_be_bytes() });
    }

    pub(super) fn retract(&mut self, number: BidNumber) {
        let index = self.index(number).expect("a fact names a bid that was placed");
        self.all[index].bidder[0] |= RETRACTED;
    }

    pub(super) fn retract_all_of(&mut self, bidder: u16) {
        let own = self.all.iter_mut().filter(|bid| bid.bidder == bidder.to_be_bytes());
        own.for_each(|bid| bid.bidder[0] |= RETRACTED);
    }

    /// All of them, retracted ones too, first to last.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = Bid> {
        let number = |n: usize| numbers::number_of(&self.skips, n as u32 + 1);
        self.all.iter().enumerate().map(move |(n, packed)| self.open(packed, number(n)))
    }

    pub(super) fn living(&self) -> impl DoubleEndedIterator<Item = Bid> {
        self.iter().filter(|bid| !bid.retracted)
    }

    pub(super) fn living_of(&self, bidder: u16) -> impl DoubleEndedIterator<Item = Bid> {
        self.living().filter(move |bid| bid.bidder == bidder)
    }

    fn open(&self, packed: &PackedBid, number: BidNumber) -> Bid {
        let whole = |[a, b, c, d, e]: [u8; 5]| i64::from_be_bytes([0, 0, 0, a, b, c, d, e]);
        let [high, low] = packed.bidder;
        Bid {
            number,
            bidder: u16::from_be_bytes([high & !RETRACTED, low]),
            max: whole(packed.max),
            at: self.starts_at + whole(packed.after),
            retracted: high & RETRACTED != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auction::limits::{BANNED_MAX, BIDS_MAX, CAP_MS_MAX, LENGTH_MS_MAX, WATCHERS_MAX};
    use crate::money::MINOR_MAX;

    #[test]
    fn the_largest_bid_comes_back_whole() {
        let mut bids = Bids::new(7_000);
        let (bidder, at) =
            ((BIDS_MAX + WATCHERS_MAX + BANNED_MAX) as u16, 7_000 + LENGTH_MS_MAX + CAP_MS_MAX);
        bids.push(1, bidder, MINOR_MAX, at);
        bids.push(2, 1, 1, 7_000);
        let first = Bid { number: 1, bidder, max: MINOR_MAX, at, retracted: false };
        assert_eq!((bids.get(1), bids.get(2).map(|bid| bid.at)), (Some(first), Some(7_000)));
        assert_eq!((bids.get(0), bids.get(3), bids.len()), (None, None, 2));
        bids.retract(1);
        assert_eq!(bids.get(1), Some(Bid { retracted: true, ..first }));
        assert_eq!(bids.living().map(|bid| bid.number).collect::<Vec<_>>(), [2]);
        assert_eq!(size_of::<PackedBid>(), 12);
    }
}
