//! Opens the slots of every series in time and makes their sales. Every server runs it: opening a slot twice and making
//! a sale twice change nothing, so nobody needs a lease, and whoever is up when a slot is due does it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use onsale_domain::listing::BodyView;
use onsale_domain::series::{Plan, Series};
use onsale_domain::stock::SaleCommand;
use onsale_domain::{Command, ListingId, ListingKind, Millis, Outcome, Tenant};
use onsale_engine::{EngineError, Position, Request, View};

use crate::app::App;
use crate::zone::Clocks;

/// How often it is looked whether something is due. A sale is made a minute before its slot and enforces its own start,
/// so nothing depends on this being short.
const LOOK: Duration = Duration::from_millis(500);
/// Commands for one series in one look; what is left waits for the next.
const STEPS_MAX: usize = 16;
const PAGE: usize = 500;

/// Until when nothing is to do for a series, unless it has moved on.
type Waits = HashMap<ListingId, (Position, Millis)>;

/// Runs until it is dropped.
pub async fn run(app: Arc<App>) {
    let mut waits = Waits::new();
    loop {
        look(&app, &mut waits).await;
        tokio::time::sleep(LOOK).await;
    }
}

async fn look(app: &App, waits: &mut Waits) {
    let mut after = None;
    loop {
        let views = app.engine.listings(Tenant::DEFAULT, ListingKind::Series, after, PAGE);
        for view in &views {
            let waiting = waits
                .get(&view.listing)
                .is_some_and(|(position, until)| *position == view.position && app.engine.now() < *until);
            if waiting {
                continue;
            }
            match serve(app, view).await {
                Ok(wait) => drop(waits.insert(view.listing, wait)),
                // The next look tries again; the engine itself says what troubles it.
                Err(error) => tracing::debug!(%error, "series {} has to wait: {error}", view.listing),
            }
        }
        match views.last() {
            Some(last) if views.len() == PAGE => after = Some(last.listing),
            Some(_) | None => return,
        }
    }
}

/// Does what a series wants done now; the answer is when to look again, if it stays as it is.
async fn serve(app: &App, view: &Arc<View>) -> Result<(Position, Millis), EngineError> {
    let mut view = view.clone();
    for _ in 0..STEPS_MAX {
        let BodyView::Series(series) = &view.body else { break };
        let now = app.engine.now();
        make_sales(app, series, now).await?;
        // A zone that this server does not know is for another to serve.
        let Some(zone) = Clocks::of(&series.details().schedule) else {
            return Ok((view.position, Millis::MAX));
        };
        let command = match series.plan(now, &zone) {
            Plan::WaitUntil(until) => return Ok((view.position, until)),
            Plan::Rest => return Ok((view.position, Millis::MAX)),
            Plan::Ask(command) => Command::Series(command),
        };
        let verb = app.metrics.verb(&command);
        let request = Request { listing: view.listing, command, key: None };
        let answer = app.engine.submit(request).await?;
        if answer.outcome.refused().is_some() {
            // Another server was faster, or staff paused it: the view will say so.
            verb.refused.increment(1);
            break;
        }
        verb.done.increment(1);
        view = app.engine.view(&view.listing).ok_or(EngineError::UnknownListing)?;
    }
    Ok((view.position, Millis::MIN))
}

/// Makes the sales that must exist and do not.
async fn make_sales(app: &App, series: &Series, now: Millis) -> Result<(), EngineError> {
    for (sale, create) in series.sales_to_make(now) {
        if app.engine.view(&sale).is_some() {
            continue;
        }
        let command = Command::Sale(SaleCommand::Create(Box::new(create)));
        let answer = app.engine.submit(Request { listing: sale, command, key: None }).await?;
        if matches!(answer.outcome, Outcome::Done) {
            tracing::info!(%sale, series = %series.id(), "series {} has its sale {sale}", series.id());
        }
    }
    Ok(())
}
