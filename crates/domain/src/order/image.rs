//! The book as bytes, for snapshots, and back. Lists and indexes are made anew when it is read.

use minicbor::{Decode, Encode};

use super::fact::OrderPlaced;
use super::state::{Order, OrderStatus, Orders, Slip};
pub use super::state::{Payment as PaymentImage, Refund as RefundImage};
use crate::id::PaymentId;
use crate::money::Minor;
use crate::time::Millis;

#[derive(Clone, Debug, Encode, Decode)]
pub struct OrdersImage {
    #[n(0)]
    pub orders: Vec<OrderImage>,
}

#[derive(Clone, Debug, Encode, Decode)]
pub struct OrderImage {
    #[n(0)]
    pub placed: OrderPlaced,
    #[n(1)]
    pub fence: u64,
    #[n(2)]
    pub placed_at: Millis,
    #[n(3)]
    pub status: OrderStatus,
    #[n(4)]
    pub settled: bool,
    #[n(5)]
    pub closed_at: Option<Millis>,
    #[n(6)]
    pub returned_units: u32,
    #[n(7)]
    pub returned_minor: Minor,
    #[n(8)]
    pub payments: Vec<PaymentImage>,
    #[n(9)]
    pub paid_by: Option<PaymentId>,
}

impl Orders {
    /// In the order in which they were placed.
    pub(crate) fn image(&self) -> OrdersImage {
        let image = |order: &Order| OrderImage {
            placed: OrderPlaced {
                order: order.id,
                buyer: order.buyer.clone(),
                goods: order.goods.clone(),
                goods_minor: order.goods_minor,
                fee_minor: order.fee_minor,
                currency: order.currency,
            },
            fence: order.fence,
            placed_at: order.placed_at,
            status: order.status,
            settled: order.settled,
            closed_at: order.closed_at,
            returned_units: order.returned_units,
            returned_minor: order.returned_minor,
            payments: order.payments.clone(),
            paid_by: order.paid_by,
        };
        let mut orders: Vec<_> = self.orders.values().map(image).collect();
        orders.sort_unstable_by_key(|order| order.fence);
        OrdersImage { orders }
    }

    pub(crate) fn from_image(image: OrdersImage) -> Orders {
        let mut orders = Orders::default();
        image.orders.into_iter().for_each(|order| orders.restore(order));
        orders
    }

    fn restore(&mut self, image: OrderImage) {
        let id = image.placed.order;
        self.insert(Order {
            status: image.status,
            settled: image.settled,
            closed_at: image.closed_at,
            returned_units: image.returned_units,
            returned_minor: image.returned_minor,
            payments: image.payments,
            paid_by: image.paid_by,
            ..Order::new(&image.placed, image.fence, image.placed_at)
        });
        let index = self.by_id[&id];
        self.file_bought(index);
        self.file_let_go(index);
        for payment in &self.orders[index].payments {
            if payment.is_open() {
                self.work.insert(payment.fence, Slip { order: index, payment: payment.id, refund: 0 });
            }
            for (n, refund) in payment.refunds.iter().enumerate().filter(|(_, refund)| !refund.paid) {
                let slip = Slip { order: index, payment: payment.id, refund: n as u16 + 1 };
                self.work.insert(refund.fence, slip);
            }
        }
        self.fade(index);
    }
}
