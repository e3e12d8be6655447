//! What must be true of the book after every step, counted again from scratch: no money without goods, no goods without
//! money. Tests, the simulation and `onsale verify` ask, the writers never do.

use super::state::{Order, OrderStatus, Orders};
use crate::order::fact::OrderedGoods;
use crate::time::Millis;

macro_rules! ensure {
    ($condition:expr, $($why:tt)*) => {
        if !$condition {
            return Err(format!($($why)*));
        }
    };
}

/// The first thing that is not as it must be, in words. `until` knows when a living hold or code is over.
pub fn check(orders: &Orders, until: impl Fn(&OrderedGoods) -> Option<Millis>) -> Result<(), String> {
    let (mut living, mut work, mut payments) = (0, 0, 0);
    for order in orders.orders.values() {
        let id = order.id;
        ensure!(orders.find(id).is_some_and(|found| found.fence == order.fence), "order {id:?} not found");
        ensure!(
            order.goods_minor == order.goods.total_minor(),
            "order {id:?} has another price than its goods"
        );
        let returned_all = order.returned_units == order.goods.units();
        ensure!(order.returned_units <= order.goods.units(), "order {id:?} returned more than it had");
        ensure!(returned_all == (order.status == OrderStatus::Refunded), "order {id:?} is not what is left");
        if order.status.lives() {
            living += 1;
            let own = orders.of_goods(order.goods.number()).map(|order| order.id);
            ensure!(own == Some(id), "the goods of order {id:?} do not know it");
            ensure!(until(&order.goods).is_some(), "order {id:?} lives without its goods");
        }
        let waits = order.payments.last().is_some_and(|payment| payment.is_open());
        ensure!(order.status != OrderStatus::Paying || waits, "order {id:?} waits for nothing");
        check_money(order)?;
        for payment in &order.payments {
            payments += 1;
            let number = payment.id;
            ensure!(orders.knows_payment(number), "payment {number:?} of order {id:?} has a number for two");
        }
        work += order.payments.iter().filter(|payment| payment.is_open()).count();
        let refunds = order.payments.iter().flat_map(|payment| &payment.refunds);
        work += refunds.filter(|refund| !refund.paid).count();
    }
    ensure!(
        living == orders.by_goods.len(),
        "{} goods are ordered, {living} orders live",
        orders.by_goods.len()
    );
    let numbers = orders.by_payment.len();
    ensure!(payments == numbers, "{payments} payments under {numbers} numbers");
    ensure!(work == orders.work.len(), "{} slips, {work} things to do", orders.work.len());
    let listed: usize = orders.by_buyer.values().map(|of_buyer| of_buyer.len()).sum();
    ensure!(listed == orders.orders.len(), "{listed} orders of buyers, {} in all", orders.orders.len());
    let money = orders.money();
    let kept = money.captured_minor - money.refunded_minor;
    ensure!(kept == money.kept_minor, "{kept} kept, confirmed orders come to {}", money.kept_minor);
    Ok(())
}

fn check_money(order: &Order) -> Result<(), String> {
    let id = order.id;
    for payment in &order.payments {
        ensure!(order.owed_minor(payment) == 0, "payment {:?} of {id:?} does not add up", payment.id);
        ensure!(payment.refunds.iter().all(|refund| refund.amount_minor > 0), "an empty refund of {id:?}");
        let captured = payment.captured_minor.unwrap_or(0);
        ensure!(payment.refunded_minor() <= captured, "{id:?} was paid back more than it paid");
    }
    if order.status == OrderStatus::Confirmed && order.total_minor() > 0 {
        ensure!(order.settled != order.paid_by.is_some(), "order {id:?} is confirmed and nobody paid");
    }
    Ok(())
}
