//! One deployment of scripts on all masters: which generation decides, and which nodes may be believed to have
//! forgotten nothing. A call to any other node is refused with `Recovering`, and one server puts the node right.

pub mod accounts;
mod examine;
mod generation;
mod knowledge;
mod owed;
mod raise;
mod recover;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use redis::Value;
use tokio::sync::{Notify, watch};
use tokio_util::sync::{CancellationToken, DropGuard};

use self::examine::{Process, Verdict};
pub use self::generation::Generation;
pub use self::knowledge::{Knowledge, knowledge};
use self::owed::OwedListings;
pub use self::recover::RecoveryReport;
pub(crate) use self::recover::keys;
use crate::inspect::notify;
use crate::link::config;
use crate::link::{Complaint, Link, LinkError, StartTimer};
use crate::scripts::{Script, Scripts};

/// A call meets at most a script that nobody has called yet and a node that has to be recovered.
const TRIES: usize = 3;
/// Many callers may miss the same listing; one recovery answers them all.
const SUSPECT_AGAIN: Duration = Duration::from_secs(30);

const RAISE_EPOCH: &str = include_str!("../lua/recovery/raise_epoch.lua");

/// The scripts of a release, for any generation. A node gets each when it is first called there: what Lua has to keep
/// makes every call dearer, and no house needs all of them.
pub trait ScriptSet: Send + Sync + Sized + 'static {
    fn of_generation(generation: &str) -> Self;

    /// The script that puts one listing of a recovered node under a new epoch.
    fn raise_epoch(generation: &str) -> Script {
        Script::new("raise_epoch", generation, RAISE_EPOCH)
    }
}

impl ScriptSet for Scripts {
    fn of_generation(generation: &str) -> Scripts {
        Scripts::of_generation(generation)
    }
}

/// A generation and its scripts.
#[derive(Debug)]
pub struct CurrentScripts<S> {
    pub generation: Generation,
    pub scripts: S,
}

/// Cheap to clone; watches the nodes until the last clone is gone.
#[derive(Debug)]
pub struct Deployment<S = Scripts> {
    inner: Arc<Inner<S>>,
    watched: Arc<DropGuard>,
}

#[derive(Debug)]
struct Inner<S> {
    link: Link,
    prefix: String,
    /// Names this server in the lease.
    server: String,
    current: ArcSwap<CurrentScripts<S>>,
    /// By node, under which generation and replication id it was found to have forgotten nothing.
    believed: Mutex<BTreeMap<String, (Generation, String)>>,
    /// By node, when a missing listing last made us recover it.
    suspected: Mutex<BTreeMap<String, Instant>>,
    owed: OwedListings,
    /// By node, the connection over which it is examined.
    processes: Mutex<BTreeMap<String, Arc<Process>>>,
    /// Many callers may miss the same script; one of them brings it.
    bringing: tokio::sync::Mutex<()>,
    /// One examination or recovery at a time in this server.
    settling: tokio::sync::Mutex<()>,
    /// Somebody met a node that does not know a script.
    wanted: Notify,
    /// Counts how often all nodes were examined.
    settled: watch::Sender<u64>,
    recovered: watch::Sender<u64>,
    stop: CancellationToken,
}

impl<S> Clone for Deployment<S> {
    fn clone(&self) -> Self {
        Deployment { inner: self.inner.clone(), watched: self.watched.clone() }
    }
}

impl<S: ScriptSet> Deployment<S> {
    /// Finds the deployment's generation and the nodes that have forgotten nothing; makes the first generation, or
    /// recovers nodes, where that is needed. If a master of a living deployment is away, what cannot be put right
    /// without it is put right when it is back.
    pub async fn join(link: &Link) -> Result<Deployment<S>, LinkError> {
        let generation = Generation::default();
        let current = CurrentScripts { scripts: S::of_generation(&generation.to_string()), generation };
        let inner = Arc::new(Inner {
            prefix: link.config().prefix.clone(),
            link: link.clone(),
            server: format!("{:016x}", rand::random::<u64>()),
            current: ArcSwap::from_pointee(current),
            believed: Mutex::new(BTreeMap::new()),
            suspected: Mutex::new(BTreeMap::new()),
            owed: OwedListings::default(),
            processes: Mutex::new(BTreeMap::new()),
            bringing: tokio::sync::Mutex::new(()),
            settling: tokio::sync::Mutex::new(()),
            wanted: Notify::new(),
            settled: watch::Sender::new(0),
            recovered: watch::Sender::new(0),
            stop: CancellationToken::new(),
        });
        let mut timer = StartTimer::new();
        loop {
            match inner.settle().await {
                Ok(true) => break,
                // Another server is at it.
                Ok(false) => timer.with(LinkError::Recovering).await?,
                Err(error) if error.is_retryable() && inner.goes_on_without() => {
                    tracing::warn!(%error, "redis is not whole, and the start goes on: {error}");
                    break;
                }
                Err(error) if error.is_retryable() => timer.with(error).await?,
                Err(error) => return Err(error),
            }
        }
        tokio::spawn(keep(inner.clone()));
        Ok(Deployment { watched: Arc::new(inner.stop.clone().drop_guard()), inner })
    }

    pub fn link(&self) -> &Link {
        &self.inner.link
    }

    /// What decides now. A new listing starts under the epoch `generation.number`: a listing of the same id that was
    /// forgotten had a lower one.
    pub fn current(&self) -> Arc<CurrentScripts<S>> {
        self.inner.current.load_full()
    }

    /// Calls the script that `pick` finds among the current ones, on the node of KEYS\[1\], if it has forgotten nothing.
    /// It may be sent again, so what it changes must be under an operation id.
    pub async fn call(
        &self,
        pick: impl Fn(&S) -> &Script,
        keys: &[String],
        args: &[Vec<u8>],
    ) -> Result<Value, LinkError> {
        let key = keys.first().map_or("", String::as_str);
        for _ in 0..TRIES {
            let current = self.current();
            self.inner.believe(key, &current.generation)?;
            if let Some(listing) = self.inner.owed.of_key(key) {
                self.inner.raise_owed(listing, &current).await?;
            }
            let script = pick(&current.scripts);
            match self.inner.link.script(script, keys, args).await {
                // Nobody may have called it yet: that is no harm.
                Err(LinkError::Forgotten { node }) if self.inner.bring(&node, script, &current).await => {}
                Err(LinkError::Forgotten { node }) => {
                    self.inner.doubt(&node);
                    self.inner.settled_soon().await;
                }
                answer => return answer,
            }
        }
        Err(LinkError::Recovering)
    }

    /// Somebody knows a listing that its node does not know any more: the node may have forgotten it. It is recovered
    /// at most once in a while; a listing that is missing after that is gone.
    pub fn suspect(&self, key: &str) -> LinkError {
        if let Some(node) = self.inner.link.master_of(key)
            && self.inner.may_suspect(node.name())
        {
            self.inner.doubt(node.name());
            let inner = self.inner.clone();
            let name = node.name().to_owned();
            tokio::spawn(async move { inner.settle_forgotten(&name).await });
        }
        LinkError::Recovering
    }

    /// The number of the newest generation, as it changes: after each change listings may have another epoch, and
    /// what a server remembers of them must be read again.
    pub fn recoveries(&self) -> watch::Receiver<u64> {
        self.inner.recovered.subscribe()
    }

    /// Whether the master of a key may be believed under the current generation; one that is being looked at may not.
    pub fn is_believed(&self, key: &str) -> bool {
        let current = self.current();
        let Some(node) = self.inner.link.master_of(key) else { return false };
        let believed = self.inner.believed.lock();
        believed.get(node.name()).is_some_and(|(generation, _)| *generation == current.generation)
    }

    /// Whether every master may be believed under the current generation.
    pub fn is_whole(&self) -> bool {
        let current = self.current();
        let map = self.inner.link.map();
        let believed = self.inner.believed.lock();
        map.uncovered() == 0
            && map.masters.iter().all(|node| {
                believed.get(node.name()).is_some_and(|(generation, _)| *generation == current.generation)
            })
    }
}

impl<S: ScriptSet> Inner<S> {
    fn believe(&self, key: &str, generation: &Generation) -> Result<(), LinkError> {
        // Nobody serves the slot: the link says that better.
        let Some(node) = self.link.master_of(key) else { return Ok(()) };
        match self.believed.lock().get(node.name()) {
            Some((under, _)) if under == generation => Ok(()),
            Some(_) | None if node.is_up() => {
                self.link.nudge();
                Err(LinkError::Recovering)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Some masters may be believed, and another one is away.
    fn goes_on_without(&self) -> bool {
        let map = self.link.map();
        let away = map.uncovered() > 0 || map.masters.iter().any(|node| !node.is_up());
        away && !self.believed.lock().is_empty()
    }

    fn may_suspect(&self, node: &str) -> bool {
        let mut suspected = self.suspected.lock();
        let now = Instant::now();
        let young = suspected.get(node).is_some_and(|at| now.duration_since(*at) < SUSPECT_AGAIN);
        if !young {
            suspected.insert(node.to_owned(), now);
        }
        !young
    }

    fn doubt(&self, node: &str) {
        self.believed.lock().remove(node);
    }

    /// Has the nodes examined, and waits for that as long as a command may take: a recovery goes on without us.
    async fn settled_soon(&self) {
        let mut settled = self.settled.subscribe();
        self.wanted.notify_one();
        let _ = tokio::time::timeout(self.link.config().command(), settled.changed()).await;
    }

    /// Examines every master and recovers those that may have forgotten. True: all of them may be believed.
    async fn settle(&self) -> Result<bool, LinkError> {
        let _one_at_a_time = self.settling.lock().await;
        self.adopt_published().await?;
        if self.examine_all().await? {
            return Ok(true);
        }
        self.recover(None).await
    }

    async fn settle_forgotten(&self, node: &str) {
        let _one_at_a_time = self.settling.lock().await;
        if let Err(error) = self.recover(Some(node)).await {
            tracing::warn!(node, %error, "recovering {node} failed: {error}");
        }
    }

    /// True: no master is in doubt. Masters that cannot be reached decide nothing and wait.
    async fn examine_all(&self) -> Result<bool, LinkError> {
        let current = self.current.load_full();
        let map = self.link.map();
        let mut whole = current.generation.number > 0;
        for node in map.masters.iter().filter(|node| node.is_up()) {
            match self.examine(node, &current).await {
                Ok(Verdict::Believed(replication)) => {
                    let believed = (current.generation.clone(), replication);
                    let news = self.believed.lock().insert(node.name().to_owned(), believed).is_none();
                    if news && self.link.config().notify == config::Notify::Set {
                        // Never needed, so a node that refuses it is used all the same.
                        if let Err(error) = notify::turn_on(node).await {
                            let name = node.name();
                            tracing::warn!(node = name, %error, "no notifications from {name}: {error}");
                        }
                    }
                }
                Ok(Verdict::Forgot) => {
                    self.doubt(node.name());
                    whole = false;
                }
                // Who does not answer is the watch's affair; it decides nothing meanwhile.
                Err(error) if error.is_retryable() => {
                    self.doubt(node.name());
                    self.link.nudge();
                }
                Err(error) => return Err(error),
            }
        }
        Ok(whole)
    }

    fn adopt(&self, generation: Generation) {
        if generation > self.current.load().generation {
            let (number, text) = (generation.number, generation.to_string());
            tracing::info!(generation = text, "generation {text} of the scripts decides now");
            let scripts = S::of_generation(&text);
            self.current.store(Arc::new(CurrentScripts { generation, scripts }));
            self.recovered.send_replace(number);
        }
    }
}

/// Looks after every look of the link: once a second, and more often while something is wrong.
async fn keep<S: ScriptSet>(inner: Arc<Inner<S>>) {
    let mut looks = inner.link.looks();
    let mut complaint = Complaint::default();
    loop {
        tokio::select! {
            () = inner.stop.cancelled() => return,
            () = inner.wanted.notified() => {}
            seen = looks.changed() => if seen.is_err() { return },
        }
        match inner.settle().await {
            Ok(_) => complaint.is_over(),
            // A node that cannot be reached is told of by the link.
            Err(error)
                if inner.link.map().masters.iter().all(|node| node.is_up()) && complaint.is_due(&error) =>
            {
                tracing::warn!(%error, "the nodes cannot be examined or recovered now: {error}");
            }
            Err(error) => tracing::debug!(%error, "the nodes cannot be examined or recovered now: {error}"),
        }
        inner.settled.send_modify(|times| *times += 1);
    }
}
