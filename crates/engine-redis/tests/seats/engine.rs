//! The port over a script caller, as small as the contract allows: pictures fed by answers, a clock set by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use futures_core::future::BoxFuture;
use onsale_domain::seats::{EventFound, EventQuery};
use onsale_domain::{BuyerId, Command, ListingId, ListingKind, Millis, Step, Tenant};
use onsale_domain::{Found, Query};
use onsale_engine::contract::Harness;
use onsale_engine::engine::Tail;
use onsale_engine::{
    Answer, Engine, EngineError, EngineStatus, FactPage, Follower, HeldAt, MovedListings, Movements,
    Position, Request, View,
};
use onsale_engine_redis::caller::{ScriptCaller, Stamp};
use onsale_engine_redis::commands::Terms;
use onsale_engine_redis::facts::{self, Fields};
use onsale_engine_redis::picture::Picture;
use onsale_engine_redis::reply::Reply;
use onsale_engine_redis::{Keys, Link, Scripts, state};
use parking_lot::Mutex;
use redis::Value;
use tokio::runtime::Handle;

/// How often a command is prepared anew before the test gives up.
const TRIES: usize = 5;

pub(crate) struct LuaEngine {
    handle: Handle,
    inner: Arc<Inner>,
}

struct Inner {
    caller: ScriptCaller,
    clock: AtomicI64,
    operations: AtomicU64,
    pictures: Mutex<BTreeMap<ListingId, Picture>>,
    /// Which listings there are: an index that a server keeps by following, not a matter of scripts.
    known: Mutex<BTreeSet<ListingId>>,
    movements: Movements,
}

impl LuaEngine {
    /// A house of its own on a shared server.
    pub(crate) fn new(
        handle: Handle,
        link: Link,
        scripts: Scripts,
        prefix: String,
        compact_from: usize,
    ) -> LuaEngine {
        let terms = Terms { epoch: 1, compact_from, strict: true, plain: true };
        let caller = ScriptCaller { link, scripts, prefix, terms };
        let (clock, operations) = (AtomicI64::new(0), AtomicU64::new(0));
        let (pictures, known) = (Mutex::default(), Mutex::default());
        LuaEngine {
            handle,
            inner: Arc::new(Inner {
                caller,
                clock,
                operations,
                pictures,
                known,
                movements: Movements::default(),
            }),
        }
    }

    fn wait<T: Send + 'static>(&self, future: impl Future<Output = T> + Send + 'static) -> T {
        let task = self.handle.spawn(future);
        let (done, waiting) = std::sync::mpsc::sync_channel(1);
        self.handle.spawn(async move {
            let _ = done.send(task.await);
        });
        waiting.recv().expect("the runtime lives").expect("no panic")
    }

    fn away<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> BoxFuture<'static, T> {
        let task = self.handle.spawn(future);
        Box::pin(async move { task.await.expect("no panic") })
    }

    fn picture(&self, listing: &ListingId) -> Option<Picture> {
        let (inner, listing) = (self.inner.clone(), *listing);
        let picture = self.wait(async move { inner.picture(listing).await });
        picture.listing.exists().then_some(picture)
    }
}

impl Inner {
    async fn picture(&self, listing: ListingId) -> Picture {
        if let Some(known) = self.pictures.lock().get(&listing) {
            return known.clone();
        }
        let read = self.caller.picture(listing).await.expect("a state that reads");
        self.pictures.lock().insert(listing, read.clone());
        read
    }

    async fn submit(&self, request: Request) -> Result<Answer, EngineError> {
        let clock = self.clock.load(Ordering::Relaxed);
        let stamp = match (request.key, &request.command) {
            (Some(key), _) => Stamp::Key(key),
            (None, Command::ExpireDue { .. }) => Stamp::None,
            (None, _) => {
                Stamp::Operation(u128::from(self.operations.fetch_add(1, Ordering::Relaxed)) | 1 << 100)
            }
        };
        for _ in 0..TRIES {
            let picture = self.picture(request.listing).await;
            let from = (stamp, request.by.as_ref());
            let reply = self.caller.submit(&picture, &request.command, from, clock, clock).await;
            match reply.map_err(|error| EngineError::Read(error.to_string()))? {
                Reply::Answer(answer) => {
                    if let Some(step) = answer.step().filter(|_| !answer.replayed) {
                        self.take(request.listing, step);
                    }
                    return Ok(*answer);
                }
                Reply::Retry { .. } => {
                    self.pictures.lock().remove(&request.listing);
                }
                Reply::Trimmed { epoch, first, .. } => {
                    return Err(EngineError::Reload(Position { epoch, offset: first }));
                }
                Reply::Damaged => return Err(EngineError::Damaged("keys without a head".to_owned())),
            }
        }
        Err(EngineError::Busy)
    }

    fn take(&self, listing: ListingId, step: &Step) {
        self.known.lock().insert(listing);
        let mut pictures = self.pictures.lock();
        let Some(picture) = pictures.get_mut(&listing) else { return };
        let created = step.first == 1;
        if !picture.apply(step) || created {
            // The layout of a new event is in its head.
            pictures.remove(&listing);
        }
    }

    async fn page(&self, listing: ListingId, after: u64) -> Vec<Arc<Step>> {
        let keys = Keys::new(&self.caller.prefix, &listing);
        let command = redis::cmd("XRANGE").arg(keys.facts()).arg("-").arg("+").to_owned();
        let Ok(Value::Array(entries)) = self.caller.link.query(&command).await else { return Vec::new() };
        let mut steps = Vec::new();
        let mut open: Option<(u64, u64, usize, Vec<Fields>)> = None;
        for entry in entries {
            let (epoch, offset, fields) = read_entry(entry);
            let (epoch, first, count, mut told) = open.take().unwrap_or_else(|| {
                (epoch, offset, facts::length(&fields).expect("a first fact counts its step"), Vec::new())
            });
            told.push(fields);
            if told.len() == count {
                steps.push(Arc::new(facts::decode_step(listing, epoch, first, &told).expect("a step")));
            } else {
                open = Some((epoch, first, count, told));
            }
        }
        assert!(open.is_none(), "a step in the stream is whole");
        steps.retain(|step| step.last() > after);
        steps
    }

    /// Redis read back, the picture fed by facts, and what Redis keeps twice: all the same.
    async fn check(&self, listing: ListingId) -> Result<(), String> {
        let Some(kept) = self.caller.state(listing).await.map_err(|error| error.to_string())? else {
            return Ok(());
        };
        state::check(&kept, listing)?;
        let read = kept.picture(listing).map_err(|error| error.to_string())?;
        let known = self.picture(listing).await;
        if known.listing.canonical_image() != read.listing.canonical_image() {
            return Err("the state in redis is not what its facts say".into());
        }
        if known.versions != read.versions {
            return Err(format!("versions {:?}, by its facts {:?}", read.versions, known.versions));
        }
        Ok(())
    }
}

fn read_entry(entry: Value) -> (u64, u64, Fields) {
    let Value::Array(parts) = entry else { panic!("an entry has two parts") };
    let [Value::BulkString(id), Value::Array(flat)] = <[Value; 2]>::try_from(parts).expect("two") else {
        panic!("an id and fields")
    };
    let id = String::from_utf8(id).expect("text");
    let (epoch, offset) = id.split_once('-').expect("an id has two parts");
    let flat = flat.into_iter().map(|value| {
        let Value::BulkString(bytes) = value else { panic!("{value:?} is no field") };
        bytes
    });
    let fields = Fields::from_flat(flat.collect()).expect("fields");
    (epoch.parse().expect("a number"), offset.parse().expect("a number"), fields)
}

impl Engine for LuaEngine {
    fn submit(&self, request: Request) -> BoxFuture<'static, Result<Answer, EngineError>> {
        let inner = self.inner.clone();
        self.away(async move {
            let listing = request.listing;
            let answer = inner.submit(request).await?;
            if answer.step().is_some() {
                inner.movements.publish(listing, answer.position);
            }
            Ok(answer)
        })
    }

    fn view(&self, listing: &ListingId) -> Option<Arc<View>> {
        let picture = self.picture(listing)?;
        view(&picture)
    }

    fn listings(
        &self,
        tenant: Tenant,
        kind: ListingKind,
        after: Option<ListingId>,
        limit: usize,
    ) -> Vec<Arc<View>> {
        let known: Vec<ListingId> = self.inner.known.lock().iter().copied().collect();
        let fits =
            |id: &ListingId| id.tenant == tenant && id.kind == kind && after.is_none_or(|after| *id > after);
        known.iter().filter(|id| fits(id)).filter_map(|id| self.view(id)).take(limit).collect()
    }

    fn ask(&self, listing: ListingId, query: Query) -> BoxFuture<'static, Result<Found, EngineError>> {
        let found = self.picture(&listing).map_or(Found::Nothing, |it| it.listing.ask(&query, self.now()));
        Box::pin(std::future::ready(Ok(found)))
    }

    fn holds_of(
        &self,
        tenant: Tenant,
        buyer: BuyerId,
    ) -> BoxFuture<'static, Result<Vec<HeldAt>, EngineError>> {
        let known: Vec<ListingId> = self.inner.known.lock().iter().copied().collect();
        let query = Query::Event(EventQuery::HoldsOf(buyer));
        let mut all = Vec::new();
        for listing in known.into_iter().filter(|id| id.tenant == tenant) {
            let Some(picture) = self.picture(&listing) else { continue };
            if let Found::Event(EventFound::Holds(holds)) = picture.listing.ask(&query, self.now())
                && !holds.is_empty()
            {
                all.push(HeldAt { listing, position: position(&picture), holds });
            }
        }
        Box::pin(std::future::ready(Ok(all)))
    }

    fn facts_after(
        &self,
        listing: ListingId,
        after: Position,
        limit: usize,
    ) -> BoxFuture<'static, Result<FactPage, EngineError>> {
        let (inner, picture) = (self.inner.clone(), self.picture(&listing));
        self.away(async move {
            let picture = picture.filter(|picture| !picture.listing.is_deleted());
            let position = position(&picture.ok_or(EngineError::UnknownListing)?);
            if after.offset > position.offset || after.offset > 0 && after.epoch != position.epoch {
                return Err(EngineError::Reload(position));
            }
            let mut count = 0;
            let steps = inner.page(listing, after.offset).await.into_iter().take_while(|step| {
                let room = count < limit;
                count += step.facts.len();
                room
            });
            Ok(FactPage { steps: steps.collect(), position })
        })
    }

    fn follow(
        &self,
        listing: ListingId,
        after: Position,
    ) -> BoxFuture<'static, Result<Follower, EngineError>> {
        let (inner, handle, picture) = (self.inner.clone(), self.handle.clone(), self.picture(&listing));
        Box::pin(std::future::ready((|| {
            let picture = picture.filter(|picture| !picture.listing.is_deleted());
            let position = position(&picture.ok_or(EngineError::UnknownListing)?);
            if after.offset > position.offset || after.offset > 0 && after.epoch != position.epoch {
                return Err(EngineError::Reload(position));
            }
            Ok(Follower::of(Box::new(Polled { inner, handle, listing, offset: after.offset })))
        })()))
    }

    fn moved(&self, kinds: &'static [ListingKind]) -> MovedListings {
        self.inner.movements.subscribe(kinds)
    }

    fn now(&self) -> Millis {
        self.inner.clock.load(Ordering::Relaxed)
    }

    fn status(&self) -> EngineStatus {
        EngineStatus::default()
    }
}

struct Polled {
    inner: Arc<Inner>,
    handle: Handle,
    listing: ListingId,
    offset: u64,
}

impl Tail for Polled {
    fn next(&mut self) -> BoxFuture<'_, Result<Vec<Arc<Step>>, EngineError>> {
        Box::pin(async move {
            loop {
                let (inner, listing, offset) = (self.inner.clone(), self.listing, self.offset);
                let pause = std::time::Duration::from_millis(5);
                let read = self.handle.spawn(async move {
                    let steps = inner.page(listing, offset).await;
                    if steps.is_empty() {
                        tokio::time::sleep(pause).await;
                    }
                    steps
                });
                let steps = read.await.expect("no panic");
                if let Some(last) = steps.last() {
                    self.offset = last.last();
                    return Ok(steps);
                }
            }
        })
    }
}

fn position(picture: &Picture) -> Position {
    Position { epoch: picture.listing.epoch, offset: picture.listing.offset }
}

fn view(picture: &Picture) -> Option<Arc<View>> {
    View::of(&picture.listing).map(Arc::new)
}

impl Harness for LuaEngine {
    fn engine(&self) -> &dyn Engine {
        self
    }

    fn set_clock(&self, now: Millis) {
        self.inner.clock.store(now, Ordering::Relaxed);
    }

    fn restart(&mut self) {
        self.inner.pictures.lock().clear();
    }

    fn check_invariants(&self, listing: &ListingId) -> Result<(), String> {
        let (inner, listing) = (self.inner.clone(), *listing);
        self.wait(async move { inner.check(listing).await })
    }
}
