//! Places of general-admission areas in a hold or an order. One area may be there at several prices, a line for each: what
//! is added to a hold has the price of its own time. What goes first is what came last.

use super::fact::{AreaCount, AreaLine};
use crate::id::AreaIndex;
use crate::money::Minor;

/// Places of one area, at whatever price.
pub(super) fn count_in(lines: &[AreaLine], area: AreaIndex) -> u32 {
    lines.iter().filter(|line| line.area == area).map(|line| line.count).sum()
}

pub(super) fn asked_in(areas: &[AreaCount]) -> u32 {
    areas.iter().map(|line| line.count).sum()
}

/// Takes places out, the latest line first, and tells their price; nothing if there are too few.
pub(super) fn take(lines: &mut Vec<AreaLine>, away: AreaCount) -> Option<Minor> {
    if count_in(lines, away.area) < away.count {
        return None;
    }
    let (mut left, mut price_minor) = (away.count, 0);
    for line in lines.iter_mut().rev().filter(|line| line.area == away.area) {
        let some = left.min(line.count);
        line.count -= some;
        left -= some;
        price_minor += line.price_minor * Minor::from(some);
    }
    lines.retain(|line| line.count > 0);
    Some(price_minor)
}

/// Adds places: to the line of the same area and price if there is one.
pub(super) fn add(lines: &mut Vec<AreaLine>, more: &[AreaLine]) {
    for line in more {
        match lines.iter_mut().find(|known| (known.area, known.price_minor) == (line.area, line.price_minor))
        {
            Some(known) => known.count += line.count,
            None => lines.push(*line),
        }
    }
}

/// All places by area, each area once.
pub(super) fn by_area(lines: &[AreaLine]) -> Vec<AreaCount> {
    let mut counts: Vec<AreaCount> = Vec::new();
    for line in lines {
        match counts.iter_mut().find(|known| known.area == line.area) {
            Some(known) => known.count += line.count,
            None => counts.push(AreaCount { area: line.area, count: line.count }),
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_two_prices_lie_apart_and_the_latest_go_first() {
        let line = |count, price_minor| AreaLine { area: 3, count, price_minor };
        let other = AreaLine { area: 4, count: 5, price_minor: 100 };
        let mut lines = vec![line(3, 100), line(1, 150), other];
        assert_eq!(count_in(&lines, 3), 4);
        assert_eq!(by_area(&lines), [AreaCount { area: 3, count: 4 }, AreaCount { area: 4, count: 5 }]);
        assert_eq!(take(&mut lines, AreaCount { area: 3, count: 5 }), None);
        assert_eq!(take(&mut lines, AreaCount { area: 3, count: 2 }), Some(250));
        assert_eq!(lines, [line(2, 100), other]);
    }
}
