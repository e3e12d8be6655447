//! Checkouts of one hot SKU, bare: the seed's corrected script, and ours. Every one is another buyer's, and accepted.

use std::time::Duration;

use anyhow::{Context, Result};
use onsale_domain::listing::Key;
use onsale_domain::money::Currency;
use onsale_domain::stock::SaleCommand;
use onsale_domain::stock::command::{Checkout, CreateSale};
use onsale_domain::stock::details::{SaleDetails, Sku, StockRules};
use onsale_domain::stock::fact::SkuCount;
use onsale_domain::{BuyerId, CheckoutId, Command, ListingId, ListingKind, Tenant};
use onsale_engine_redis::desk::Stamp;
use onsale_engine_redis::picture::Picture;

use super::super::engine::block_on_all;
use super::drive::{Limit, run};
use super::{OUR_YES, SEEDS_YES, call, desk, yes};
use crate::contest::{Contestant, Round};
use crate::rivals::redis::{Instance, resp};

/// More than any round takes.
const STOCK: u32 = 10_000_000;
/// The year 2100: the sale does not end in a measurement.
const FAR: i64 = 4_102_444_800_000;

/// The corrected script of the seed.
pub struct SeedCheckouts {
    pub instance: Instance,
}

impl Contestant for SeedCheckouts {
    fn subject(&self) -> String {
        "redis_seed_checkout".to_owned()
    }

    fn prepare(&mut self) -> Result<()> {
        self.instance.start()
    }

    fn round(&mut self, length: Duration) -> Result<Round> {
        self.instance.clear()?;
        self.instance.ask(&["SET", "sale:{sal_1}:available", &STOCK.to_string()])?;
        let script = self.instance.scripts()?.checkout;
        let mut next = 0u64;
        let source = move |into: &mut Vec<u8>| {
            next += 1;
            let (user, code) = (format!("ext:default:{next}"), format!("{next:026}"));
            let (count, of_code) =
                (format!("user:{{sal_1}}:{user}:count"), format!("checkout:{{sal_1}}:{code}"));
            let keys = ["sale:{sal_1}:available", &count, &of_code, "sale:{sal_1}:due"];
            let words = ["EVALSHA", &script, "4"].into_iter().chain(keys);
            let args = [user.as_str(), &code, "1", "10", "1800000000000", "600000"];
            resp::command(into, words.chain(args).collect::<Vec<_>>());
            Ok(())
        };
        run(self.instance.address()?, SEEDS_YES, Limit::Time(length), source)
    }
}

/// Our own script: limited, deduplicated, logged, with a code that lapses by a fact.
pub struct OurCheckouts {
    pub instance: Instance,
}

impl Contestant for OurCheckouts {
    fn subject(&self) -> String {
        "redis_checkout_script".to_owned()
    }

    fn prepare(&mut self) -> Result<()> {
        self.instance.start()
    }

    fn round(&mut self, length: Duration) -> Result<Round> {
        self.instance.clear()?;
        let url = format!("redis://{}", self.instance.address()?);
        let (desk, picture) = block_on_all(async {
            let desk = desk(&url).await?;
            yes(&desk, &Picture::nothing(sale()), &create()?).await?;
            let picture = desk.picture(sale()).await?;
            // The first code sets the sale's marker, and is not a plain one.
            yes(&desk, &picture, &checkout(u64::MAX)?).await?;
            anyhow::Ok((desk, picture))
        })?;
        let mut next = 0u64;
        let source = move |into: &mut Vec<u8>| {
            next += 1;
            let scope = u128::from(next.wrapping_mul(0x9e37_79b9_7f4a_7c15)) << 64 | u128::from(next);
            let key = Key { scope, fingerprint: scope.rotate_left(40) };
            call(into, &desk, &picture, &checkout(next)?, Stamp::Key(key))
        };
        run(self.instance.address()?, OUR_YES, Limit::Time(length), source)
    }
}

fn sale() -> ListingId {
    ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Sale, number: 1 }
}

fn create() -> Result<Command> {
    let details = SaleDetails {
        name: "Measured".into(),
        description: String::new(),
        starts_at: 0,
        ends_at: FAR,
        currency: Currency::parse("EUR").context("three capital letters")?,
        rules: StockRules::default(),
        origin: None,
    };
    let skus = vec![Sku { id: "A".into(), name: "A".into(), price_minor: 900, stock: STOCK }];
    Ok(Command::Sale(SaleCommand::Create(Box::new(CreateSale { details, skus }))))
}

fn checkout(number: u64) -> Result<Command> {
    Ok(Command::Sale(SaleCommand::Checkout(Checkout {
        checkout: CheckoutId(u128::from(number) | 1 << 100),
        buyer: BuyerId::parse(&format!("ext:default:{number}")).context("a buyer")?,
        lines: vec![SkuCount { sku: 0, count: 1 }],
        checkout_ms: None,
    })))
}
