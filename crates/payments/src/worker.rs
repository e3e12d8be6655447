//! The worker as it ships: makes the calls that the machine names, on the engine and the provider, and brings it their
//! replies. Of several servers on one store the one with the desk's lease works; the others only store webhooks.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt, TryFutureExt, ready};
use onsale_domain::by::Actor;
use onsale_domain::desk::{DeskCommand, Webhook, desk_of};
use onsale_domain::{By, Command, Found, ListingId, Outcome, Query, Tenant};
use onsale_engine::{Engine, EngineError, MovedListings, Request};
use tokio::sync::{Mutex, Notify};
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::machine::{Call, CallId, KINDS, Machine, Reply};
use crate::provider::{Provider, ProviderAnswer, ProviderError};

pub use crate::machine::{Patience, TALKS_MAX};

/// How often the worker looks around if nobody wakes it: sweeps owe refunds without asking anybody.
const TICK: Duration = Duration::from_millis(500);
/// How often the lease is asked for again: some times before it is over.
const LEASE_TICK: Duration = Duration::from_secs(1);

/// Calls under way; letting go of this lets go of all of them. Each is a task of its own: one that has its turn at the desk goes on
/// while the worker itself waits for another turn.
type Calls = JoinSet<(CallId, Reply)>;

pub struct Worker {
    engine: Arc<dyn Engine>,
    provider: Arc<dyn Provider>,
    tenant: Tenant,
    patience: Patience,
    wake: Notify,
    /// Whether this server has the desk's lease, as far as it knows.
    leads: AtomicBool,
    /// Whether this server has opened the desk for a webhook.
    opened: AtomicBool,
    machine: Mutex<Machine>,
    /// Listings that may owe something since they were last looked at.
    moved: MovedListings,
}

impl Worker {
    pub fn new(engine: Arc<dyn Engine>, provider: Arc<dyn Provider>, patience: Patience) -> Worker {
        let tenant = Tenant::DEFAULT;
        Worker {
            moved: engine.moved(&KINDS),
            engine,
            provider,
            tenant,
            patience,
            wake: Notify::new(),
            leads: AtomicBool::new(false),
            opened: AtomicBool::new(false),
            machine: Mutex::new(Machine::new(patience)),
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

    async fn work(&self, stop: &CancellationToken) {
        let mut machine = self.machine.lock().await;
        let (mut calls, mut is_due, mut waits) = (Calls::new(), true, false);
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        while !stop.is_cancelled() {
            let mut ended = None;
            if !self.leads.load(Ordering::Relaxed) {
                // Another server may be asking for the same by now; what is said here could not be written down any more.
                calls.shutdown().await;
                machine.lose_lease();
                if std::mem::take(&mut is_due) {
                    ended = Some(self.hear().await);
                }
            } else if !machine.is_in_round() && (is_due || machine.wants_round()) {
                is_due = false;
                ended = self.begin_round(&mut machine).await.err().map(Err);
            }
            self.begin_calls(&mut machine, &mut calls);
            let is_not_begun = ended.as_ref().is_some_and(Result::is_err);
            match ended.or_else(|| machine.take_ended()) {
                None => {}
                Some(Ok(())) => waits = false,
                Some(Err(EngineError::Stopping)) => break,
                Some(Err(error)) if waits => tracing::debug!(%error, "payments still wait: {error}"),
                Some(Err(error)) => {
                    waits = true;
                    tracing::warn!(%error, "payments wait: {error}");
                }
            }
            // What a round leaves to do is done by the next, at once.
            if self.leads.load(Ordering::Relaxed) && machine.wants_round() && !is_not_begun {
                continue;
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = self.wake.notified() => is_due = true,
                _ = ticks.tick() => {
                    is_due = true;
                    machine.tick(self.engine.now());
                }
                Some(ended) = calls.join_next() => {
                    let (id, reply) = reply_of(ended);
                    machine.take_reply(id, reply, self.engine.now());
                }
            }
        }
        calls.shutdown().await;
        machine.let_go();
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

    /// Everything there is to do now, once; waits for every conversation. What goes wrong first is told.
    pub async fn round(&self) -> Result<(), EngineError> {
        let mut machine = self.machine.lock().await;
        let (mut calls, mut ticks) = (Calls::new(), tokio::time::interval(TICK));
        self.begin_round(&mut machine).await?;
        loop {
            self.begin_calls(&mut machine, &mut calls);
            if let Some(Err(error)) = machine.take_ended() {
                machine.let_go();
                return Err(error);
            }
            tokio::select! {
                ended = calls.join_next() => {
                    let Some((id, reply)) = ended.map(reply_of) else {
                        return machine.take_talk_trouble().map_or(Ok(()), Err);
                    };
                    machine.take_reply(id, reply, self.engine.now());
                }
                _ = ticks.tick() => machine.tick(self.engine.now()),
            }
        }
    }

    async fn begin_round(&self, machine: &mut Machine) -> Result<(), EngineError> {
        self.hear().await?;
        self.moved.take(usize::MAX).into_iter().for_each(|(listing, _)| machine.listing_moved(listing));
        machine.begin_round(self.engine.now());
        Ok(())
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
        if !self.opened.load(Ordering::Relaxed) {
            self.desk(DeskCommand::Open).await?;
            self.opened.store(true, Ordering::Relaxed);
        }
        let outcome = self.desk(DeskCommand::ReceiveWebhook(Box::new(webhook))).await?;
        self.nudge();
        Ok(outcome)
    }

    /// A command to the desk; whatever it says, it was heard.
    fn desk(&self, command: DeskCommand) -> BoxFuture<'static, Result<Outcome, EngineError>> {
        self.submit(desk_of(self.tenant), Command::Desk(command))
    }

    fn submit(
        &self,
        listing: ListingId,
        command: Command,
    ) -> BoxFuture<'static, Result<Outcome, EngineError>> {
        let by = Actor::parse(self.provider.name()).map(By::Provider);
        let request = Request { listing, command, key: None, by };
        self.engine.submit(request).map_ok(|answer| answer.outcome).boxed()
    }

    fn begin_calls(&self, machine: &mut Machine, calls: &mut Calls) {
        for (id, call) in machine.take_calls() {
            calls.spawn(self.make(id, call));
        }
    }

    /// Begins a call of the machine; the future is its reply.
    fn make(&self, id: CallId, call: Call) -> BoxFuture<'static, (CallId, Reply)> {
        let reply = match call {
            Call::Listings { kind, after, limit } => {
                let views = self.engine.listings(self.tenant, kind, after, limit);
                ready(Reply::Listings(views.iter().map(|view| view.listing).collect())).boxed()
            }
            Call::AskDesk(query) => {
                let desk = desk_of(self.tenant);
                match self.engine.view(&desk) {
                    Some(_) => self.engine.ask(desk, Query::Desk(query)).map(Reply::Found).boxed(),
                    None => ready(Reply::Found(Ok(Found::Nothing))).boxed(),
                }
            }
            Call::AskListing(listing, query) => {
                self.engine.ask(listing, Query::Orders(query)).map(Reply::Found).boxed()
            }
            Call::Desk(command) => self.desk(command).map(Reply::Decided).boxed(),
            Call::Tell(listing, command) => {
                self.submit(listing, Command::Order(command)).map(Reply::Decided).boxed()
            }
            Call::Charge(ask) => self.said(self.provider.charge(ask).map_ok(Some).boxed()),
            Call::Refund(ask) => self.said(self.provider.refund(ask).map_ok(Some).boxed()),
            Call::LookUp(ask) => self.said(self.provider.look_up(ask)),
            Call::CallOff(ask) => self.said(self.provider.call_off(ask)),
        };
        reply.map(move |reply| (id, reply)).boxed()
    }

    /// What the provider says within its time. A provider that breaks down is one that did not answer.
    fn said(
        &self,
        asked: BoxFuture<'static, Result<Option<ProviderAnswer>, ProviderError>>,
    ) -> BoxFuture<'static, Reply> {
        let answer = tokio::time::timeout(self.patience.answer, AssertUnwindSafe(asked).catch_unwind());
        let said = |answer: Result<std::thread::Result<Result<Option<ProviderAnswer>, ProviderError>>, _>| {
            match answer {
                Ok(Ok(said)) => said.map_err(|error| error.to_string()),
                Ok(Err(_)) => {
                    tracing::error!("a conversation with the payment provider broke off");
                    Err("the conversation broke off".to_owned())
                }
                Err(_) => Err("the provider does not answer".to_owned()),
            }
        };
        answer.map(move |answer: Result<_, tokio::time::error::Elapsed>| Reply::Said(said(answer))).boxed()
    }
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker").field("provider", &self.provider.name()).finish_non_exhaustive()
    }
}

/// A call that broke off is a bug of ours, and the worker breaks off with it.
fn reply_of(ended: Result<(CallId, Reply), JoinError>) -> (CallId, Reply) {
    ended.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}
