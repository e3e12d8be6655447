//! Recovery of nodes that may have forgotten, where no records say what: one server, under a lease, raises the epoch
//! of every listing there and begins a new generation on every master, last. Until then nobody decides there.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use onsale_domain::ListingId;
use redis::Value;

use super::examine::{Process, copy_key, generation_key};
use super::generation::Generation;
use super::owed::owed_key;
use super::raise::{Raise, RaiseOutcome};
use super::{Inner, ScriptSet};
use crate::damage::{self, Damage};
use crate::index;
use crate::keys::Keys;
use crate::link::LinkError;
use crate::scripts::Script;

/// Longer than a recovery takes; who dies in the middle of one holds the others up for so long.
const LEASE: Duration = Duration::from_secs(5);
/// Renewed when so much of it is left.
const RENEW: Duration = Duration::from_secs(3);
/// Keys that a node looks at in one step of a scan.
const SCAN: usize = 1_000;
/// How long a replica may take to have what was recovered, before we go on without it.
const REPLICA_MS: u64 = 500;

const PUBLISH: &str = include_str!("../../lua/recovery/publish_generation.lua");

/// What a recovery did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecoveryReport {
    pub generation: Generation,
    /// The nodes that may have forgotten, and how many listings each has.
    pub nodes: Vec<(String, usize)>,
    /// Listings that need somebody, each once.
    pub damaged: Vec<Damage>,
}

/// A master, the history it has, and whether that is the one we knew.
struct Patient {
    process: Arc<Process>,
    history: String,
    replicas: usize,
    forgot: bool,
}

struct Lease {
    process: Arc<Process>,
    key: String,
    taken: Instant,
}

impl<S: ScriptSet> Inner<S> {
    /// True: done, by us. False: another server is at it. `also` is taken to have forgotten whatever it says.
    pub(super) async fn recover(&self, also: Option<&str>) -> Result<bool, LinkError> {
        let Some(mut lease) = self.take_lease().await? else { return Ok(false) };
        // Somebody may have recovered all of it while we waited for the lease.
        self.adopt_published().await?;
        if also.is_none() && self.examine_all().await? {
            self.give_back(&lease).await?;
            return Ok(true);
        }
        let recovered = match self.under_lease(also, &mut lease).await {
            Ok(recovered) => recovered,
            Err(error) => {
                // The next one to try need not wait until the lease is over.
                let _ = self.give_back(&lease).await;
                return Err(error);
            }
        };
        let generation = recovered.generation.to_string();
        for (node, listings) in &recovered.nodes {
            if *listings == 0 {
                // As at the very first start: whether it ever had one, nothing can tell.
                tracing::info!(node, generation, "{node} has no listing yet, generation {generation}");
                continue;
            }
            tracing::warn!(
                node,
                listings,
                generation,
                "{node} may have forgotten something: {listings} listings go on under a new epoch, generation {generation}"
            );
        }
        for damage in &recovered.damaged {
            let (listing, key) = (damage.listing, &damage.key);
            tracing::error!(%listing, key, "{listing} is damaged and was not recovered with the others: {damage}");
        }
        self.adopt(recovered.generation);
        self.examine_all().await
    }

    async fn under_lease(&self, also: Option<&str>, lease: &mut Lease) -> Result<RecoveryReport, LinkError> {
        let patients = self.patients(also).await?;
        let generation = Generation::numbered(self.reserve(&patients).await?);
        let (mut nodes, mut damaged, mut owed) = (Vec::new(), Vec::new(), Vec::new());
        let indexed = self.indexed().await;
        for patient in patients.iter().filter(|patient| patient.forgot) {
            let mut listings = 0;
            for raised in self.raise_epochs(patient, generation.number, &indexed, lease).await? {
                match raised {
                    RaiseOutcome::To { damage, .. } => {
                        listings += 1;
                        damaged.extend(damage);
                    }
                    RaiseOutcome::Damaged(damage) => {
                        owed.push(damage.listing);
                        damaged.push(damage);
                    }
                    RaiseOutcome::Gone => {}
                }
            }
            nodes.push((patient.process.name().to_owned(), listings));
        }
        self.owe(&owed, lease).await?;
        for patient in patients.iter().filter(|patient| patient.replicas > 0) {
            // A second failover right after this one shall not bring the old epochs back.
            patient.process.send::<Value>(redis::cmd("WAIT").arg(1).arg(REPLICA_MS)).await?;
        }
        for patient in &patients {
            patient.process.load(&generation.witness(&patient.history)).await?;
            self.renew(lease).await?;
        }
        self.publish(&generation, lease).await?;
        Ok(RecoveryReport { generation, nodes, damaged })
    }

    /// Every master that answers. One that does not gets no witness, and is recovered when it comes back.
    async fn patients(&self, also: Option<&str>) -> Result<Vec<Patient>, LinkError> {
        let current = self.current.load_full();
        let mut patients = Vec::new();
        for node in self.link.map().masters.iter().filter(|node| node.is_up()) {
            let process = self.process(node).await?;
            let (history, replicas) = process.history().await?;
            let known = process.knows(&[&current.generation.witness(&history)]).await?;
            let forgot = also == Some(node.name()) || known != [true];
            patients.push(Patient { process, history, replicas, forgot });
        }
        Ok(patients)
    }

    /// The next number, above all that any master or we ourselves have heard of, written down before it is used.
    async fn reserve(&self, patients: &[Patient]) -> Result<u64, LinkError> {
        let map = self.link.map();
        let keys: Vec<(&Patient, String)> = patients
            .iter()
            .map(|patient| {
                let node = self.link.node(patient.process.name());
                let key = copy_key(&self.prefix, &map, &node).unwrap_or_else(|| generation_key(&self.prefix));
                (patient, reserved_key(&key))
            })
            .collect();
        let mut number = self.current.load().generation.number;
        for (patient, key) in &keys {
            let told: Option<u64> = patient.process.ask(redis::cmd("GET").arg(key)).await?;
            number = number.max(told.unwrap_or(0));
        }
        number += 1;
        for (patient, key) in &keys {
            patient.process.send::<Value>(redis::cmd("SET").arg(key).arg(number)).await?;
        }
        Ok(number)
    }

    /// Every listing of the node goes on with its state under an epoch that it never had. One that is damaged stops
    /// none of the others.
    async fn raise_epochs(
        &self,
        patient: &Patient,
        number: u64,
        indexed: &BTreeSet<ListingId>,
        lease: &mut Lease,
    ) -> Result<Vec<RaiseOutcome>, LinkError> {
        let raise = Raise::under::<S>(number);
        patient.process.load(&raise.script).await?;
        let pattern = Keys::meta_pattern(&self.prefix);
        let (mut cursor, mut seen, mut all) = ("0".to_owned(), BTreeSet::new(), Vec::new());
        loop {
            let mut scan = redis::cmd("SCAN");
            scan.arg(&cursor).arg("MATCH").arg(&pattern).arg("COUNT").arg(SCAN);
            let (next, keys) = damage::scanned(patient.process.send(&scan).await?)?;
            for listing in keys.iter().filter_map(|key| Keys::of_meta(key.strip_prefix(&self.prefix)?)) {
                if seen.insert(listing) {
                    all.push(self.raise_epoch(patient, &raise, listing).await?);
                }
            }
            self.renew(lease).await?;
            if next == "0" {
                break;
            }
            cursor = next;
        }
        // Whose meta is gone is in the index still, and its head goes on with the others'.
        let here = |listing: &&ListingId| {
            let home = self.link.master_of(Keys::new(&self.prefix, listing).meta());
            home.is_some_and(|node| node.name() == patient.process.name())
        };
        for listing in indexed.difference(&seen).filter(here) {
            all.push(self.raise_epoch(patient, &raise, *listing).await?);
            self.renew(lease).await?;
        }
        Ok(all)
    }

    async fn raise_epoch(
        &self,
        patient: &Patient,
        raise: &Raise,
        listing: ListingId,
    ) -> Result<RaiseOutcome, LinkError> {
        let keys = Keys::new(&self.prefix, &listing);
        let (names, args) = raise.call_of(&listing, &keys);
        let mut call = redis::cmd("EVALSHA");
        call.arg(&raise.script.sha).arg(names.len()).arg(&names).arg(&args);
        match patient.process.send::<Value>(&call).await {
            Ok(told) => Ok(raise.read(listing, &keys, told)),
            // About this listing alone, whatever it is.
            Err(LinkError::WrongType { why } | LinkError::Refused { why }) => {
                let what = format!("cannot be recovered: {why}");
                Ok(RaiseOutcome::Damaged(Damage { listing, key: keys.head().to_owned(), what }))
            }
            Err(error) => Err(error),
        }
    }

    /// The index of listings, as far as it is there: it only finds what a scan does not.
    async fn indexed(&self) -> BTreeSet<ListingId> {
        index::all(&self.link).await.unwrap_or_default()
    }

    /// Before the generation is published, so that whoever adopts it knows of them.
    async fn owe(&self, listings: &[ListingId], lease: &Lease) -> Result<(), LinkError> {
        if listings.is_empty() {
            return Ok(());
        }
        let key = owed_key(&self.prefix);
        let ids: Vec<String> = listings.iter().map(ListingId::to_string).collect();
        lease.process.send::<Value>(redis::cmd("SADD").arg(&key).arg(ids)).await?;
        self.owed.add(listings.iter().copied());
        Ok(())
    }

    async fn publish(&self, generation: &Generation, lease: &Lease) -> Result<(), LinkError> {
        let publish = Script::new("publish_generation", &generation.to_string(), PUBLISH);
        lease.process.load(&publish).await?;
        let mut call = redis::cmd("EVALSHA");
        call.arg(&publish.sha).arg(2).arg(generation_key(&self.prefix)).arg(&lease.key);
        call.arg(&self.server).arg(generation.number).arg(generation.to_string());
        let done: u64 = lease.process.send(&call).await?;
        if done != 1 {
            return Err(LinkError::Recovering);
        }
        let map = self.link.map();
        for node in map.masters.iter().filter(|node| node.is_up()) {
            if let Some(key) = copy_key(&self.prefix, &map, node) {
                node.send(redis::cmd("SET").arg(key).arg(generation.to_string())).await?;
            }
        }
        Ok(())
    }

    async fn take_lease(&self) -> Result<Option<Lease>, LinkError> {
        let key = lease_key(&self.prefix);
        let Some(node) = self.link.master_of(&key) else {
            return Err(LinkError::ClusterDown {
                why: "nobody has the slot of the recovery's lease".to_owned(),
            });
        };
        let process = self.process(&node).await?;
        let mut take = redis::cmd("SET");
        take.arg(&key).arg(&self.server).arg("NX").arg("PX").arg(millis(LEASE));
        let taken = Instant::now();
        let told: Value = process.send(&take).await?;
        if told == Value::Nil {
            // It is ours already if the answer to an earlier try was lost.
            let holder: Option<String> = process.ask(redis::cmd("GET").arg(&key)).await?;
            if holder.as_deref() != Some(&self.server) {
                return Ok(None);
            }
        }
        Ok(Some(Lease { process, key, taken }))
    }

    /// Fails if the lease is another's by now: then we stop where we are, and nothing of ours decides.
    async fn renew(&self, lease: &mut Lease) -> Result<(), LinkError> {
        if LEASE.saturating_sub(lease.taken.elapsed()) > RENEW {
            return Ok(());
        }
        let holder: Option<String> = lease.process.ask(redis::cmd("GET").arg(&lease.key)).await?;
        if holder.as_deref() != Some(&self.server) {
            return Err(LinkError::Recovering);
        }
        let taken = Instant::now();
        let mut keep = redis::cmd("SET");
        keep.arg(&lease.key).arg(&self.server).arg("XX").arg("PX").arg(millis(LEASE));
        lease.process.send::<Value>(&keep).await?;
        lease.taken = taken;
        Ok(())
    }

    async fn give_back(&self, lease: &Lease) -> Result<(), LinkError> {
        let holder: Option<String> = lease.process.ask(redis::cmd("GET").arg(&lease.key)).await?;
        if holder.as_deref() == Some(&self.server) {
            lease.process.send::<Value>(redis::cmd("DEL").arg(&lease.key)).await?;
        }
        Ok(())
    }
}

fn lease_key(prefix: &str) -> String {
    format!("{prefix}recovery:{{onsale}}")
}

/// The keys of a deployment in the slot of the lease, with their types.
pub(crate) fn keys(prefix: &str) -> [(String, &'static str); 4] {
    let generation = generation_key(prefix);
    let reserved = reserved_key(&generation);
    [(reserved, "string"), (generation, "string"), (lease_key(prefix), "string"), (owed_key(prefix), "set")]
}

/// How far generations were counted, beside the generation or its copy.
fn reserved_key(generation: &str) -> String {
    format!("{generation}:reserved")
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
