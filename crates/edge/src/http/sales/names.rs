//! SKUs have names outside and numbers inside. A name nobody knows gets a number nobody has, so that the rules say no
//! in their own order; on the way back it is the name again.

use std::sync::Arc;

use onsale_domain::id::SkuIndex;
use onsale_domain::listing::BodyView;
use onsale_domain::stock::SaleView;
use onsale_domain::stock::fact::{SkuCount, SkuLine};
use onsale_domain::{Code, ListingId};
use onsale_engine::{Engine, View};

use super::wire::{LineBody, LinePriced};
use crate::http::problem::Problem;

/// A sale's view and the unknown SKUs of one request.
#[derive(Debug)]
pub struct Skus {
    pub view: Arc<View>,
    unknown: Vec<String>,
}

impl Skus {
    /// The sale as readers see it, or 404.
    pub fn of(engine: &dyn Engine, sale: &ListingId) -> Result<Skus, Problem> {
        let view = engine.view(sale).filter(|view| matches!(view.body, BodyView::Sale(_)));
        let view = view.ok_or_else(|| Problem::code(Code::ListingUnknown))?;
        Ok(Skus { view, unknown: Vec::new() })
    }

    pub fn sale(&self) -> &SaleView {
        match &self.view.body {
            BodyView::Sale(sale) => sale,
            BodyView::Event(_)
            | BodyView::Venue(_)
            | BodyView::Series(_)
            | BodyView::Registration(_)
            | BodyView::Auction(_)
            | BodyView::Desk(_) => {
                unreachable!("made from a sale's view only")
            }
        }
    }

    pub fn currency(&self) -> &str {
        self.sale().details.currency.as_str()
    }

    pub fn sku(&mut self, name: &str) -> SkuIndex {
        if let Some(known) = self.sale().skus.iter().position(|sku| sku.id == name) {
            return known as SkuIndex;
        }
        // Each unknown name once: the same twice must look the same to the rules.
        let before = self.unknown.iter().position(|unknown| unknown == name);
        let place = before.unwrap_or_else(|| {
            self.unknown.push(name.to_owned());
            self.unknown.len() - 1
        });
        SkuIndex::MAX - place as SkuIndex
    }

    pub fn counts(&mut self, lines: &[LineBody]) -> Vec<SkuCount> {
        lines.iter().map(|line| SkuCount { sku: self.sku(&line.sku), count: line.count }).collect()
    }

    pub fn text(&self, sku: SkuIndex) -> &str {
        match self.sale().skus.get(usize::from(sku)) {
            Some(known) => &known.id,
            None => self.unknown.get(usize::from(SkuIndex::MAX - sku)).map_or("", String::as_str),
        }
    }

    pub fn priced(&self, lines: &[SkuLine]) -> Vec<LinePriced<'_>> {
        let priced = |line: &SkuLine| LinePriced {
            sku: self.text(line.sku),
            count: line.count,
            price_minor: line.price_minor,
        };
        lines.iter().map(priced).collect()
    }
}
