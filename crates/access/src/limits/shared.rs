//! Limits that several servers keep together. Each takes slices of tokens from a common store and gives of them without asking; only
//! what is counted exactly asks every time. In any stretch of time all servers together give no more than the limit allows, and for each
//! server twice a slice (an eighth of a burst, at least 1): one that it held before, one that it gave in advance.

mod book;
mod redis;

#[cfg(test)]
mod tests;

use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use onsale_domain::Tenant;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use tokio::sync::{Notify, watch};
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use self::book::{Asked, Book, Found};
pub use self::redis::{CHARGE_ATTEMPT, RedisTokens, ScriptCaller, ScriptText, TAKE_TOKENS};
use super::attempt::{Attempt, Decision};
use super::gcra::{Level, Micros, Rate};
use super::rulebook::Rulebook;
use super::table::{CHARGES_MAX, Charge};

/// How often what was given is told to the store.
pub const ROUND: Duration = Duration::from_millis(50);
/// How long a request waits for the store at most; a store that is slower is away.
pub const WAIT_MAX: Duration = Duration::from_millis(250);
/// How often an attempt asks for a slice that others then took.
const TRIES: u32 = 3;
/// Rounds between two looks for what can be forgotten.
const SWEEP_ROUNDS: u32 = 20;
/// A longer identifier stands in a key as its hash.
const IDENTIFIER_MAX: usize = 64;

/// The store does not answer, or not in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Away;

pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, Away>> + Send + 'a>>;

/// Tokens in a place that several servers share.
pub trait SharedTokens: Send + Sync + Debug {
    /// Takes a slice of each bucket, as much of it as there is; answers are in the order of the requests.
    fn take<'a>(&'a self, requests: &'a [SliceRequest]) -> Pending<'a, Vec<Slice>>;

    /// Takes one token from each bucket, or from none; true: taken. All buckets are of one tenant.
    fn charge<'a>(&'a self, buckets: &'a [Bucket]) -> Pending<'a, (bool, Vec<Level>)>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    pub tenant: Tenant,
    /// `bid_user_60:usr_…`: the limit, and whom it counts.
    pub name: Arc<str>,
    pub rate: Rate,
}

#[derive(Clone, Debug)]
pub struct SliceRequest {
    pub bucket: Bucket,
    /// Given already, and charged whether there is as much or not.
    pub spent: u32,
    pub wanted: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    pub granted: u32,
    /// Of the bucket afterwards.
    pub level: Level,
}

/// The slices of this server.
#[derive(Debug)]
pub struct Shared {
    tokens: Arc<dyn SharedTokens>,
    book: Mutex<Book>,
    /// Somebody waits for a slice.
    wanted: Notify,
    /// The last round that the store has answered, or not answered.
    ended: watch::Sender<u64>,
    is_away: AtomicBool,
    servers: AtomicU32,
    begun: Instant,
}

impl Shared {
    pub(super) fn new(tokens: Arc<dyn SharedTokens>) -> Shared {
        Shared {
            tokens,
            book: Mutex::new(Book::default()),
            wanted: Notify::new(),
            ended: watch::channel(0).0,
            // Until it has answered once.
            is_away: AtomicBool::new(true),
            servers: AtomicU32::new(1),
            begun: Instant::now(),
        }
    }

    /// How many servers there are: while the store is away each gives its share.
    pub fn set_servers(&self, servers: u32) {
        self.servers.store(servers.max(1), Ordering::Relaxed);
    }

    pub(super) fn servers(&self) -> u32 {
        self.servers.load(Ordering::Relaxed)
    }

    pub fn is_away(&self) -> bool {
        self.is_away.load(Ordering::Relaxed)
    }

    /// Tells the store what was given and takes new slices, until told to stop.
    pub async fn run(&self, stop: CancellationToken) {
        let mut rounds = interval(ROUND);
        rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut until_sweep = SWEEP_ROUNDS;
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                () = self.wanted.notified() => self.round().await,
                _ = rounds.tick() => {
                    self.round().await;
                    until_sweep -= 1;
                }
            }
            if until_sweep == 0 {
                until_sweep = SWEEP_ROUNDS;
                self.book.lock().sweep(self.now());
            }
        }
        self.set_away(true);
    }

    async fn round(&self) {
        let (round, mut asked) = self.book.lock().collect();
        if asked.is_empty() && self.is_away() {
            // Asks for nothing, to hear whether it answers.
            let bucket = Bucket { tenant: Tenant::DEFAULT, name: "away".into(), rate: Rate::new(1, 1, 1) };
            asked.push(Asked { name: 0, request: SliceRequest { bucket, spent: 0, wanted: 0 } });
        }
        if !asked.is_empty() {
            let requests: Vec<SliceRequest> = asked.iter().map(|asked| asked.request.clone()).collect();
            let reply = timeout(WAIT_MAX, self.tokens.take(&requests)).await.unwrap_or(Err(Away));
            let mut book = self.book.lock();
            let now = self.now();
            match &reply {
                Ok(slices) => {
                    asked.iter().zip(slices).for_each(|(asked, slice)| book.take_in(asked, *slice, now));
                }
                Err(Away) => asked.iter().for_each(|asked| book.put_back(asked)),
            }
            drop(book);
            self.set_away(reply.is_err());
        }
        self.ended.send_replace(round);
    }

    fn set_away(&self, is_away: bool) {
        if is_away != self.is_away.swap(is_away, Ordering::Relaxed) {
            if is_away {
                tracing::warn!("the store of shared limits does not answer; each server gives its share");
            } else {
                tracing::info!("limits are shared with the other servers");
            }
        }
    }

    fn now(&self) -> Micros {
        self.begun.elapsed().as_micros() as Micros
    }

    /// `None`: this server's own share decides.
    pub(super) async fn take_all(
        &self,
        rules: &Rulebook,
        attempt: &Attempt<'_>,
        charges: &[Charge],
    ) -> Option<Decision> {
        let bucket = |charge: &Charge| bucket_of(rules, attempt, charge);
        let waiting = async {
            for _ in 0..TRIES {
                if self.is_away() {
                    return None;
                }
                let mut levels = [Level::default(); CHARGES_MAX];
                let levels = &mut levels[..charges.len()];
                let found = self.book.lock().take_all(charges, bucket, levels, self.now());
                match found {
                    Found::Passed => return Some(Decision::of(true, charges, levels)),
                    Found::Limited => return Some(Decision::of(false, charges, levels)),
                    Found::Crowded => return None,
                    Found::Lacking { round } => {
                        self.wanted.notify_one();
                        self.ended.subscribe().wait_for(|ended| *ended >= round).await.ok()?;
                    }
                }
            }
            // Others on this server took each slice that came.
            let level = Level { remaining: 0, next_in_us: ROUND.as_micros() as Micros, full_in_us: 0 };
            Some(Decision::of(false, charges, &[level; CHARGES_MAX][..charges.len()]))
        };
        timeout(WAIT_MAX, waiting).await.unwrap_or(None)
    }

    pub(super) async fn charge_exactly(
        &self,
        rules: &Rulebook,
        attempt: &Attempt<'_>,
        charges: &[Charge],
    ) -> Result<Decision, Away> {
        if charges.is_empty() {
            return Ok(Decision::FREE);
        }
        let buckets: Vec<Bucket> = charges.iter().map(|charge| bucket_of(rules, attempt, charge)).collect();
        let reply = timeout(WAIT_MAX, self.tokens.charge(&buckets)).await.unwrap_or(Err(Away));
        let (is_passed, levels) = reply?;
        Ok(Decision::of(is_passed, charges, &levels))
    }
}

fn bucket_of(rules: &Rulebook, attempt: &Attempt<'_>, charge: &Charge) -> Bucket {
    let rule = rules.rule(charge.policy as u16);
    let mut identifier = attempt.identifier(rule.subject);
    if identifier.len() > IDENTIFIER_MAX {
        let hash = Sha256::digest(identifier.as_bytes());
        identifier = hash.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
    }
    let name = format!("{}:{identifier}", rule.name);
    Bucket { tenant: attempt.tenant, name: name.into(), rate: rule.rate }
}
