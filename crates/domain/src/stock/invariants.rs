//! What must be true of a sale after every fact, counted again from scratch. Slow on purpose:
//! tests, the simulation and `onsale verify` ask, the writers never do.

use std::collections::{BTreeMap, BTreeSet};

use super::state::{Level, Sale};

macro_rules! ensure {
    ($condition:expr, $($why:tt)*) => {
        if !$condition {
            return Err(format!($($why)*));
        }
    };
}

/// The first thing that is not as it must be, in words.
pub fn check(sale: &Sale) -> Result<(), String> {
    let mut levels: Vec<Level> =
        sale.levels.iter().map(|level| Level { stock: level.stock, ..Level::default() }).collect();
    let mut by_buyer: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    let mut due = BTreeSet::new();
    for code in sale.codes.values() {
        ensure!(code.units() > 0, "code {:?} is empty", code.id);
        ensure!(code.until > code.placed_at, "code {:?} ends before it begins", code.id);
        let index = sale.code_index(code.id);
        ensure!(index.is_some_and(|index| sale.codes[index].fence == code.fence), "{:?} not found", code.id);
        ensure!(sale.purchase_of_code(code.id).is_none(), "{:?} lives and was used", code.id);
        code.lines().iter().for_each(|line| levels[usize::from(line.sku)].reserved += line.count);
        by_buyer.entry(code.buyer).or_default().0 += code.units();
        due.insert((code.until, code.fence, index.unwrap_or_default()));
    }
    let mut open = BTreeMap::new();
    for bought in sale.purchases.values() {
        let index = sale.purchase_of_order(bought.order);
        ensure!(index.is_some(), "order {:?} not found", bought.order);
        ensure!(sale.purchase_of_code(bought.code) == index, "code {:?} was used twice", bought.code);
        bought.left().for_each(|line| levels[usize::from(line.sku)].sold += line.count);
        by_buyer.entry(bought.buyer).or_default().1 += bought.units_left();
        if bought.units_left() > 0 {
            open.insert(bought.fence, index.unwrap_or_default());
        }
    }
    ensure!(open == sale.open_purchases, "open purchases {:?}, recounted {open:?}", sale.open_purchases);
    for (n, (level, counted)) in sale.levels.iter().zip(&levels).enumerate() {
        ensure!(level == counted, "SKU {n} is {level:?}, recounted {counted:?}");
        let taken = level.reserved + level.sold;
        ensure!(taken <= level.stock, "SKU {n}: {taken} taken of {}", level.stock);
        ensure!(level.available() + taken == level.stock, "SKU {n} does not add up");
    }
    ensure!(sale.levels.len() == sale.skus.len(), "SKUs and levels differ");
    ensure!(sale.due.iter().collect::<BTreeSet<_>>() == due, "the deadlines are not those of the codes");
    ensure!(sale.due.len() == sale.codes.len(), "a deadline too many or too few");
    check_buyers(sale, &by_buyer)
}

fn check_buyers(sale: &Sale, counted: &BTreeMap<u32, (u32, u32)>) -> Result<(), String> {
    let known: BTreeSet<u32> =
        sale.codes.values().map(|code| code.buyer).chain(sale.purchases.values().map(|b| b.buyer)).collect();
    ensure!(known.len() == sale.buyers.len(), "{} buyers, {} have anything", sale.buyers.len(), known.len());
    for index in known {
        let buyer = &sale.buyers[index];
        let (reserved, bought) = counted.get(&index).copied().unwrap_or_default();
        ensure!(
            (buyer.reserved, buyer.bought) == (reserved, bought),
            "{} has {} + {}, recounted {reserved} + {bought}",
            buyer.name,
            buyer.reserved,
            buyer.bought
        );
        ensure!(sale.buyer_index(&buyer.id()) == Some(index), "{} not found", buyer.name);
        let codes: u32 = sale.codes_of(index).map(|code| sale.codes[code].units()).sum();
        ensure!(codes == reserved, "{}'s list has {codes} of {reserved} units", buyer.name);
        let purchases: u32 = sale.purchases_of(index).map(|one| sale.purchases[one].units_left()).sum();
        ensure!(purchases == bought, "{}'s purchases have {purchases} of {bought} units", buyer.name);
    }
    Ok(())
}
