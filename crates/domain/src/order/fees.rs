//! What an order costs beside its goods. Integers only: a share is in hundredths of a percent, rounded half up.

use crate::field::Field;
use crate::money::{MINOR_MAX, Minor};
use crate::refusal::Refusal;

/// A hundred percent.
pub const WHOLE: Minor = 10_000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fees {
    pub per_order_minor: Minor,
    /// For each seat, place or unit.
    pub per_unit_minor: Minor,
    /// A share of the goods' price, in hundredths of a percent.
    pub share: u16,
}

impl Fees {
    pub(super) fn check(self) -> Result<(), Refusal> {
        let amounts = 0..=MINOR_MAX;
        if !amounts.contains(&self.per_order_minor) || !amounts.contains(&self.per_unit_minor) {
            return Err(Refusal::invalid(Field::Fees, "0 to 10^12 minor units"));
        }
        if Minor::from(self.share) > WHOLE {
            return Err(Refusal::invalid(Field::FeesShare, "0 to 10,000 hundredths of a percent"));
        }
        Ok(())
    }

    /// Nothing is charged on top of nothing.
    pub fn of(self, goods_minor: Minor, units: u32) -> Minor {
        if goods_minor == 0 {
            return 0;
        }
        let share = (goods_minor * Minor::from(self.share) + WHOLE / 2) / WHOLE;
        self.per_order_minor + self.per_unit_minor * Minor::from(units) + share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_rounded_half_up_and_nothing_costs_nothing() {
        let fees = Fees { per_order_minor: 100, per_unit_minor: 10, share: 250 };
        for (goods, units, fee) in [(0, 3, 0), (1_000, 1, 135), (20, 1, 111), (19, 1, 110), (1, 2, 120)] {
            assert_eq!(fees.of(goods, units), fee, "{goods} {units}");
        }
        assert_eq!(Fees { share: 10_000, ..Fees::default() }.of(MINOR_MAX, 1), MINOR_MAX);
    }
}
