//! Opens the slots of every series in time and makes their sales. Every server runs it: opening a slot twice and making
//! a sale twice change nothing, so nobody needs a lease, and whoever is up when a slot is due does it.

use std::sync::Arc;
use std::time::Duration;

use onsale_domain::listing::BodyView;
use onsale_domain::series::{Plan, Series};
use onsale_domain::stock::SaleCommand;
use onsale_domain::{By, Command, ListingId, ListingKind, Millis, Outcome, Tenant};
use onsale_engine::{Agenda, EngineError, Request};

use onsale_edge::App;
use onsale_edge::zone::Clocks;

/// The longest nap: clocks may jump. A sale is made a minute before its slot and enforces its own start, so nothing
/// depends on this being short.
const NAP: Duration = Duration::from_millis(500);
/// A series that could not be served, or is not done with, is looked at again after so long.
const AGAIN_MS: Millis = 500;
/// Commands for one series in one look; what is left waits for the next.
const STEPS_MAX: usize = 16;
const PAGE: usize = 500;

/// Runs until it is dropped: looks at every series once, then at those that moved or fall due.
pub async fn run(app: Arc<App>) {
    let moved = app.engine.moved(&[ListingKind::Series]);
    let mut agenda = Agenda::default();
    let mut after = None;
    loop {
        let views = app.engine.listings(Tenant::DEFAULT, ListingKind::Series, after, PAGE);
        views.iter().for_each(|view| agenda.set(view.listing, Some(Millis::MIN)));
        match views.last() {
            Some(last) if views.len() == PAGE => after = Some(last.listing),
            Some(_) | None => break,
        }
    }
    loop {
        for series in agenda.take_due(app.engine.now(), PAGE) {
            let again = match serve(&app, series).await {
                Ok(again) => again,
                Err(error) => {
                    // The engine itself says what troubles it.
                    tracing::debug!(%error, "series {series} has to wait: {error}");
                    Some(app.engine.now() + AGAIN_MS)
                }
            };
            agenda.set(series, again);
        }
        tokio::select! {
            moved = moved.next(PAGE) => {
                moved.into_iter().for_each(|(series, _)| agenda.set(series, Some(Millis::MIN)));
            }
            () = tokio::time::sleep(NAP), if !agenda.is_empty() => {}
        }
    }
}

/// Does what a series wants done now; the answer is when to look again, if it stays as it is.
async fn serve(app: &App, id: ListingId) -> Result<Option<Millis>, EngineError> {
    for _ in 0..STEPS_MAX {
        let Some(view) = app.engine.view(&id) else { return Ok(None) };
        let BodyView::Series(series) = &view.body else { return Ok(None) };
        let now = app.engine.now();
        make_sales(app, series, now).await?;
        // A zone that this server does not know is for another to serve.
        let Some(zone) = Clocks::of(&series.details().schedule) else { return Ok(None) };
        let command = match series.plan(now, &zone) {
            Plan::WaitUntil(until) => return Ok(Some(until)),
            Plan::Rest => return Ok(None),
            Plan::Ask(command) => Command::Series(command),
        };
        let verb = app.metrics.verb(&command);
        let answer =
            app.engine.submit(Request { listing: id, command, key: None, by: Some(By::Clock) }).await?;
        if answer.outcome.refused().is_some() {
            // Another server was faster, or staff paused it: it has moved, or the view will say so.
            verb.refused.increment(1);
            break;
        }
        verb.done.increment(1);
    }
    Ok(Some(app.engine.now() + AGAIN_MS))
}

/// Makes the sales that must exist and do not.
async fn make_sales(app: &App, series: &Series, now: Millis) -> Result<(), EngineError> {
    for (sale, create) in series.sales_to_make(now) {
        if app.engine.view(&sale).is_some() {
            continue;
        }
        let command = Command::Sale(SaleCommand::Create(Box::new(create)));
        let answer =
            app.engine.submit(Request { listing: sale, command, key: None, by: Some(By::Clock) }).await?;
        if matches!(answer.outcome, Outcome::Done) {
            tracing::info!(%sale, series = %series.id(), "series {} has its sale {sale}", series.id());
        }
    }
    Ok(())
}
