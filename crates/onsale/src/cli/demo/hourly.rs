//! The demo's series: every hour another sale of three generated things.

use std::sync::Arc;

use anyhow::Context;
use onsale_domain::money::Currency;
use onsale_domain::series::SeriesCommand;
use onsale_domain::series::details::{ItemTemplate, SaleTemplate, SeriesDetails};
use onsale_domain::series::schedule::Schedule;
use onsale_domain::stock::details::StockRules;
use onsale_domain::{Command, ListingId, ListingKind, Millis};
use onsale_engine::Engine;

use super::create::submit;
use super::numbered;

const HOUR_MS: Millis = 3_600_000;

/// The series after the first start and after every other one.
pub async fn ensure(engine: &Arc<dyn Engine>) -> anyhow::Result<ListingId> {
    let series = ListingId { kind: ListingKind::Series, ..numbered("every") };
    if engine.view(&series).is_none() {
        let details = details(engine.now())?;
        let command = Command::Series(SeriesCommand::Create(Box::new(details)));
        submit(&**engine, series, command).await?;
    }
    Ok(series)
}

fn details(now: Millis) -> anyhow::Result<SeriesDetails> {
    let item = |price_minor, stock| ItemTemplate { price_minor, stock, name: None, picture: None };
    Ok(SeriesDetails {
        name: "Every hour".to_owned(),
        schedule: Schedule::Hourly,
        // The hour that runs is the first: something is on sale at once.
        from: now - now.rem_euclid(HOUR_MS),
        template: SaleTemplate {
            name: "Things of the hour".to_owned(),
            description: "Three things that nobody needs, once an hour.".to_owned(),
            currency: Currency::parse("EUR").context("the demo's currency")?,
            rules: StockRules { buyer_limit: 2, ..StockRules::default() },
            length_ms: HOUR_MS,
            items: vec![item(900, 100), item(4_900, 20), item(0, 5)],
        },
    })
}
