//! Checkouts of one hot SKU, bare: the seed's corrected script, and ours. Every one is another buyer's, and accepted.

use std::time::Duration;

use anyhow::{Context, Result};
use onsale_domain::listing::Key;
use onsale_domain::{BuyerId, Command, ListingKind};
use onsale_engine_redis::caller::Stamp;
use onsale_engine_redis::layout::Layout;
use onsale_engine_redis::picture::Picture;
use onsale_engine_redis::scripts::Name;

use super::super::engine::block_on_all;
use super::super::market;
use super::drive::{Limit, run};
use super::{OUR_YES, SEEDS_YES, call, caller, yes};
use crate::contest::{Contestant, Round};
use crate::rivals::redis::{Instance, resp};

const IN_A_SHOP: &[Name] = &[
    Name::of(ListingKind::Sale, "create_sale"),
    Name::READ_STATE,
    Name::of(ListingKind::Sale, "plain_checkout"),
    Name::of(ListingKind::Sale, "checkout"),
    Name::of(ListingKind::Sale, "cancel_checkout"),
    Name::of(ListingKind::Sale, "purchase"),
    Name::of(ListingKind::Sale, "place_order"),
    Name::of(ListingKind::Sale, "pay_order"),
    Name::of(ListingKind::Sale, "note_payment"),
    Name::of(ListingKind::Sale, "expire_due"),
];

/// The corrected script of the seed.
pub(super) struct SeedCheckouts {
    pub instance: Instance,
    pub subject: &'static str,
}

impl Contestant for SeedCheckouts {
    fn subject(&self) -> String {
        self.subject.to_owned()
    }

    fn prepare(&mut self) -> Result<()> {
        self.instance.start()
    }

    fn round(&mut self, length: Duration) -> Result<Round> {
        self.instance.clear()?;
        self.instance.ask(&["SET", "sale:{sal_1}:available", &market::STOCK.to_string()])?;
        let script = self.instance.scripts()?.checkout;
        let mut next = 0u64;
        let source = move |into: &mut Vec<u8>| {
            next += 1;
            let (user, code) = (next.to_string(), format!("{next:013}"));
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
pub(super) struct OurCheckouts {
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
        let (caller, picture) = block_on_all(async {
            let caller = caller(&url, IN_A_SHOP, Layout::Hash).await?;
            yes(&caller, &Picture::nothing(market::sale(1)), &market::create_sale()?).await?;
            let picture = caller.picture(market::sale(1)).await?;
            // The first code sets the sale's marker, and is not a plain one.
            yes(&caller, &picture, &checkout(u64::MAX)?).await?;
            anyhow::Ok((caller, picture))
        })?;
        let mut next = 0u64;
        let source = move |into: &mut Vec<u8>| {
            next += 1;
            let scope = u128::from(next.wrapping_mul(0x9e37_79b9_7f4a_7c15)) << 64 | u128::from(next);
            let key = Key { scope, fingerprint: scope.rotate_left(40) };
            call(into, &caller, &picture, &checkout(next)?, Stamp::Key(key))
        };
        run(self.instance.address()?, OUR_YES, Limit::Time(length), source)
    }
}

fn checkout(number: u64) -> Result<Command> {
    let buyer = BuyerId::parse(&number.to_string()).context("a buyer")?;
    Ok(market::checkout(number, &buyer))
}
