//! The worker: reads what listings ask for, has the desk take it, asks the provider, and tells listings what came of it.
//! It remembers nothing that matters: whatever it had begun is found again on the desk. Of several servers on one store
//! the one with the desk's lease works; the others only store webhooks.

mod ask;
mod deliver;
mod talks;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::stream::{self, TryStreamExt};
use onsale_domain::desk::command::TakeWork;
use onsale_domain::desk::{DeskCommand, DeskFound, DeskQuery, Slip, Task, Webhook, desk_of};
use onsale_domain::order::{OrdersFound, OrdersQuery, Work};
use onsale_domain::{Command, ListingId, ListingKind, Millis, Outcome, PaymentId, Tenant};
use onsale_domain::{Found, Query};
use onsale_engine::{Engine, EngineError, Moved, Request};
use tokio::sync::{Mutex, Notify};
use tokio_util::sync::CancellationToken;

use self::talks::{Name, Talks};
use super::provider::Provider;

pub use self::talks::TALKS_MAX;

/// How often the worker looks around if nobody wakes it: sweeps owe refunds without asking anybody.
const TICK: Duration = Duration::from_millis(500);
/// How often the lease is asked for again: some times before it is over.
const LEASE_TICK: Duration = Duration::from_secs(1);
/// Slips read, and tasks seen to, in one go.
const PAGE: usize = 64;
/// Listings looked at in one go.
const LISTINGS: usize = 500;
/// Listings told at the same time: each is a step of its own listing and one of the desk, which takes many at once.
const TOLD_AT_ONCE: usize = 16;
/// Kinds of listings that have orders.
static KINDS: [ListingKind; 4] =
    [ListingKind::Event, ListingKind::Sale, ListingKind::Registration, ListingKind::Auction];

/// How patient the worker is with a provider.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// An ask without an answer by then is made again later.
    pub answer: Duration,
    /// Between two tries; doubled with each, up to the longest.
    pub again_ms: Millis,
    pub again_ms_max: Millis,
}

impl Default for Patience {
    fn default() -> Self {
        Patience { answer: Duration::from_secs(10), again_ms: 1_000, again_ms_max: 60_000 }
    }
}

pub struct Worker {
    engine: Arc<dyn Engine>,
    provider: Arc<dyn Provider>,
    tenant: Tenant,
    patience: Patience,
    wake: Notify,
    /// Whether this server has the desk's lease, as far as it knows.
    leads: AtomicBool,
    memory: Mutex<Memory>,
    /// Listings that may owe something since they were last looked at.
    moved: Moved,
}

/// Only to do less: a worker that has forgotten all of it does the same things, just more often.
#[derive(Debug, Default)]
struct Memory {
    opened: bool,
    /// Whether every listing was looked at since this server looks after payments; from then on those that moved are
    /// enough.
    caught_up: bool,
    tries: BTreeMap<Name, Tries>,
    /// Those whose provider does not answer, which has been logged: a wait is told of once, not with every try.
    unanswered: BTreeSet<Name>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tries {
    count: u32,
    next_at: Millis,
}

impl Worker {
    pub fn new(engine: Arc<dyn Engine>, provider: Arc<dyn Provider>, patience: Patience) -> Worker {
        Worker {
            moved: engine.moved(&KINDS),
            engine,
            provider,
            tenant: Tenant::DEFAULT,
            patience,
            wake: Notify::new(),
            leads: AtomicBool::new(false),
            memory: Mutex::default(),
        }
    }

    pub fn provider(&self) -> &Arc<dyn Provider> {
        &self.provider
    }

    /// There may be something to do at once.
    pub fn nudge(&self) {
        self.wake.notify_one();
    }

    /// Works until told to stop. Trouble is told and tried again: nothing is lost by it.
    pub async fn run(self: &Arc<Self>, stop: CancellationToken) {
        // Where no payments are made the lease need not be kept.
        let over = stop.child_token();
        let work = async {
            self.work(&over).await;
            over.cancel();
        };
        tokio::join!(self.keep_lease(&over), work);
        if self.leads.swap(false, Ordering::Relaxed) {
            let _ = self.engine.give_back_lease(desk_of(self.tenant)).await;
        }
    }

    async fn work(self: &Arc<Self>, stop: &CancellationToken) {
        let (mut talks, mut waits) = (Talks::default(), false);
        while !stop.is_cancelled() {
            match self.share(&mut talks).await {
                Ok(()) => waits = false,
                Err(EngineError::Stopping) => break,
                Err(error) if waits => tracing::debug!(%error, "payments still wait: {error}"),
                Err(error) => {
                    waits = true;
                    tracing::warn!(%error, "payments wait: {error}");
                }
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = self.wake.notified() => {}
                () = tokio::time::sleep(TICK) => {}
            }
        }
        talks.let_go().await;
    }

    /// What this server has to do: all of it, or only what every server does.
    async fn share(self: &Arc<Self>, talks: &mut Talks) -> Result<(), EngineError> {
        if self.leads.load(Ordering::Relaxed) {
            return self.begin_round(talks).await;
        }
        // Another server may be asking for the same by now; what is said here could not be written down any more.
        talks.let_go().await;
        self.memory.lock().await.caught_up = false;
        self.hear().await
    }

    /// Takes the lease when it is free, and keeps it. Whether it counts is for the desk to say: what is decided under an
    /// old one is not written.
    async fn keep_lease(&self, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            // Who cannot ask has lost it in a moment.
            let leads = self.engine.lease(desk_of(self.tenant)).await.unwrap_or(false);
            if leads != self.leads.swap(leads, Ordering::Relaxed) {
                let who = if leads { "this server looks" } else { "another server may look" };
                tracing::info!("{who} after payments from now on");
                self.nudge();
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(LEASE_TICK) => {}
            }
        }
    }

    /// Everything there is to do now, once; waits for every conversation.
    pub async fn round(self: &Arc<Self>) -> Result<(), EngineError> {
        let mut talks = Talks::default();
        self.begin_round(&mut talks).await?;
        talks.finish().await
    }

    /// Does everything there is to do now, except that conversations with the provider are only begun.
    async fn begin_round(self: &Arc<Self>, talks: &mut Talks) -> Result<(), EngineError> {
        self.hear().await?;
        self.take_work().await?;
        talks.begin_round();
        let mut after = None;
        loop {
            talks.forget_ended();
            let tasks = self.open_tasks(after).await?;
            let full = tasks.len() == PAGE;
            after = tasks.last().map(|task| (task.place, task.slip.payment, task.slip.refund));
            let (to_tell, to_ask): (Vec<Task>, Vec<Task>) =
                tasks.into_iter().partition(|task| task.to_deliver);
            stream::iter(to_tell.iter().map(Ok))
                .try_for_each_concurrent(TOLD_AT_ONCE, |task| self.deliver(task))
                .await?;
            for task in to_ask {
                if !self.rests(&task).await {
                    talks.begin(self, task).await;
                }
            }
            if !full {
                return Ok(());
            }
        }
    }

    /// What a provider inside this process has to say.
    async fn hear(&self) -> Result<(), EngineError> {
        for webhook in self.provider.pushed(self.engine.now()) {
            self.receive(webhook).await?;
        }
        Ok(())
    }

    /// Stores an event of the provider; what it says is seen to next.
    pub async fn receive(&self, webhook: Webhook) -> Result<Outcome, EngineError> {
        self.open_desk().await?;
        let outcome = self.desk(DeskCommand::ReceiveWebhook(Box::new(webhook))).await?;
        self.nudge();
        Ok(outcome)
    }

    async fn open_desk(&self) -> Result<(), EngineError> {
        if self.memory.lock().await.opened {
            return Ok(());
        }
        self.desk(DeskCommand::Open).await?;
        self.memory.lock().await.opened = true;
        Ok(())
    }

    /// Puts slips of every listing that has moved since the last look on the desk.
    async fn take_work(&self) -> Result<(), EngineError> {
        if !self.memory.lock().await.caught_up {
            self.catch_up().await?;
            self.memory.lock().await.caught_up = true;
        }
        loop {
            let mut moved = self.moved.take(LISTINGS).into_iter();
            let full = moved.len() == LISTINGS;
            while let Some((listing, position)) = moved.next() {
                if let Err(error) = self.take_from(listing).await {
                    // Nothing that was taken is forgotten: the next round looks at all of it.
                    self.moved.put_back(listing, position);
                    moved.for_each(|(listing, position)| self.moved.put_back(listing, position));
                    return Err(error);
                }
            }
            if !full {
                return Ok(());
            }
        }
    }

    /// Looks at every listing once, after a start or when another server let go: what it had not taken is among them.
    async fn catch_up(&self) -> Result<(), EngineError> {
        for kind in KINDS {
            let mut after = None;
            loop {
                let views = self.engine.listings(self.tenant, kind, after, LISTINGS);
                after = views.last().map(|view| view.listing);
                stream::iter(views.iter().map(Ok))
                    .try_for_each_concurrent(TOLD_AT_ONCE, |view| self.take_from(view.listing))
                    .await?;
                if views.len() < LISTINGS {
                    break;
                }
            }
        }
        Ok(())
    }

    async fn take_from(&self, listing: ListingId) -> Result<(), EngineError> {
        loop {
            let fence = self.cursor(listing).await?;
            let query = Query::Orders(OrdersQuery::WorkAfter { fence, limit: PAGE });
            let Found::Orders(OrdersFound::Work(work)) = self.engine.ask(listing, query).await? else {
                return Ok(());
            };
            let Some(last) = work.last() else { return Ok(()) };
            let (through, full) = (last.fence, work.len() == PAGE);
            let slips = work.into_iter().map(slip).collect();
            self.open_desk().await?;
            self.desk(DeskCommand::TakeWork(TakeWork { listing, through, slips })).await?;
            if !full {
                return Ok(());
            }
        }
    }

    /// How far the desk has read a listing's log; a desk that was never needed has read nothing.
    async fn cursor(&self, listing: ListingId) -> Result<u64, EngineError> {
        if self.engine.view(&desk_of(self.tenant)).is_none() {
            return Ok(0);
        }
        let query = Query::Desk(DeskQuery::Cursor(listing));
        let found = self.engine.ask(desk_of(self.tenant), query).await?;
        if let Found::Desk(DeskFound::Cursor(fence)) = found {
            return Ok(fence);
        }
        Ok(0)
    }

    async fn open_tasks(&self, after: Option<(u64, PaymentId, u16)>) -> Result<Vec<Task>, EngineError> {
        if self.engine.view(&desk_of(self.tenant)).is_none() {
            return Ok(Vec::new());
        }
        let query = Query::Desk(DeskQuery::Open { after, limit: PAGE });
        let found = self.engine.ask(desk_of(self.tenant), query).await?;
        if let Found::Desk(DeskFound::Open(tasks)) = found {
            return Ok(tasks);
        }
        Ok(Vec::new())
    }

    /// A command to the desk; whatever it says, it was heard.
    async fn desk(&self, command: DeskCommand) -> Result<Outcome, EngineError> {
        self.submit(desk_of(self.tenant), Command::Desk(command)).await
    }

    async fn submit(&self, listing: ListingId, command: Command) -> Result<Outcome, EngineError> {
        Ok(self.engine.submit(Request { listing, command, key: None }).await?.outcome)
    }
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker").field("provider", &self.provider.name()).finish_non_exhaustive()
    }
}

fn slip(work: Work) -> Slip {
    Slip {
        order: work.order,
        payment: work.payment,
        refund: work.refund,
        amount_minor: work.amount_minor,
        currency: work.currency,
        until: work.until,
        of_reference: work.reference,
        method: work.method,
    }
}
