//! A sale's state as bytes, for snapshots, and back. Only what cannot be counted again is written.

use minicbor::{Decode, Encode};

use super::details::{SaleDetails, SaleStatus, Sku, SkuInfo};
use super::fact::SkuLine;
use super::state::{Level, LiveCode, NewPurchase, PastPurchase, Sale};
use crate::ended::End;
use crate::id::{BuyerId, CheckoutId, HoldId, OrderId};
use crate::time::Millis;

#[derive(Clone, Debug, Encode, Decode)]
pub struct SaleImage {
    #[n(0)]
    pub details: SaleDetails,
    #[n(1)]
    pub status: SaleStatus,
    /// With the stock of this moment.
    #[n(2)]
    pub skus: Vec<Sku>,
    #[n(3)]
    pub codes: Vec<CodeImage>,
    #[n(4)]
    pub purchases: Vec<PurchaseImage>,
    #[n(5)]
    pub ended: Vec<EndedCode>,
}

#[derive(Clone, Debug, Encode, Decode)]
pub struct CodeImage {
    #[n(0)]
    pub id: CheckoutId,
    #[n(1)]
    pub buyer: BuyerId,
    #[n(2)]
    pub fence: u64,
    #[n(3)]
    pub placed_at: Millis,
    #[n(4)]
    pub until: Millis,
    #[n(5)]
    pub order: Option<OrderId>,
    #[n(6)]
    pub lines: Vec<SkuLine>,
}

#[derive(Clone, Debug, Encode, Decode)]
pub struct PurchaseImage {
    #[n(0)]
    pub order: OrderId,
    #[n(1)]
    pub code: CheckoutId,
    #[n(2)]
    pub buyer: BuyerId,
    #[n(3)]
    pub fence: u64,
    #[n(4)]
    pub at: Millis,
    #[n(5)]
    pub lines: Vec<SkuLine>,
    #[n(6)]
    pub refunded: Vec<u32>,
}

#[derive(Clone, Debug, Encode, Decode)]
pub struct EndedCode {
    #[n(0)]
    pub at: Millis,
    #[n(1)]
    pub id: CheckoutId,
    #[n(2)]
    pub end: End,
}

impl SaleImage {
    /// Puts what has no order of its own into one: by fence, which is unique.
    pub fn sort(&mut self) {
        self.codes.sort_unstable_by_key(|code| code.fence);
        self.purchases.sort_unstable_by_key(|bought| bought.fence);
        self.ended.sort_by_key(|ended| (ended.at, ended.id));
    }
}

impl Sale {
    pub fn image(&self) -> SaleImage {
        let code = |code: &LiveCode| CodeImage {
            id: code.id,
            buyer: self.buyers[code.buyer].id(),
            fence: code.fence,
            placed_at: code.placed_at,
            until: code.until,
            order: code.order.as_deref().copied(),
            lines: code.lines().to_vec(),
        };
        let purchase = |bought: &PastPurchase| PurchaseImage {
            order: bought.order,
            code: bought.code,
            buyer: self.buyers[bought.buyer].id(),
            fence: bought.fence,
            at: bought.at,
            lines: bought.lines().to_vec(),
            refunded: bought.refunded.to_vec(),
        };
        let sku = |(sku, level): (&SkuInfo, &Level)| Sku {
            id: sku.id.clone(),
            name: sku.name.clone(),
            price_minor: sku.price_minor,
            stock: level.stock,
            picture: sku.picture.clone(),
        };
        SaleImage {
            details: (*self.details).clone(),
            status: self.status,
            skus: self.skus.iter().zip(&self.levels).map(sku).collect(),
            codes: self.codes.values().map(code).collect(),
            purchases: self.purchases.values().map(purchase).collect(),
            ended: self
                .ended
                .iter()
                .map(|(at, id, end)| EndedCode { at, id: CheckoutId(id.0), end })
                .collect(),
        }
    }

    pub fn from_image(mut image: SaleImage) -> Sale {
        // A buyer's purchases are listed the latest first, so they must come back in the order they were made.
        image.sort();
        let mut sale = Sale::new(image.details, &image.skus);
        sale.status = image.status;
        for code in image.codes {
            let buyer = sale.intern(&code.buyer);
            let mut live = LiveCode::new(code.id, code.fence, (code.placed_at, code.until), buyer);
            live.order = code.order.map(Box::new);
            sale.insert_code(live, &code.lines);
        }
        for bought in image.purchases {
            let buyer = sale.intern(&bought.buyer);
            sale.insert_purchase(&NewPurchase {
                order: bought.order,
                code: bought.code,
                fence: bought.fence,
                at: bought.at,
                buyer,
                lines: &bought.lines,
                refunded: &bought.refunded,
            });
        }
        for EndedCode { at, id, end } in image.ended {
            sale.ended.remember(HoldId(id.0), end, at);
        }
        sale
    }
}
