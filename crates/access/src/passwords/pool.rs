//! The threads that hash. Each has its memory once and for all, so the most that passwords ever take is threads times
//! the memory of a hash; whoever finds no place in the queue is told so at once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

use argon2::Block;
use parking_lot::Mutex;
use thiserror::Error;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::cost::{HASH_BYTES, PasswordCost};

/// How many hash at the same time, and how many more wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PasswordPool {
    /// Each takes the memory of one hash.
    pub threads: usize,
    /// A place costs a few hundred bytes. At 30 ms a hash and two threads, the last of 200 waits 3 s.
    pub queue: usize,
}

impl Default for PasswordPool {
    fn default() -> PasswordPool {
        PasswordPool { threads: 2, queue: 200 }
    }
}

/// Too many sign in at once. Nothing was done; in a moment there is room again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("too many passwords are being checked")]
pub struct Busy;

#[derive(Debug)]
pub(super) struct Pool {
    /// One for each place: of who hashes and of who waits.
    places: Arc<Semaphore>,
    jobs: mpsc::SyncSender<Job>,
    hashes: Arc<AtomicU64>,
}

/// A place. It stays with its request for all the hashes that the request needs.
#[derive(Debug)]
pub(super) struct Slot {
    _permit: OwnedSemaphorePermit,
}

struct Job {
    password: Vec<u8>,
    salt: Vec<u8>,
    cost: PasswordCost,
    reply: oneshot::Sender<Option<[u8; HASH_BYTES]>>,
}

impl Pool {
    pub(super) fn start(size: PasswordPool) -> std::io::Result<Pool> {
        let places = size.threads.max(1) + size.queue;
        let (jobs, work) = mpsc::sync_channel(places);
        let (work, hashes) = (Arc::new(Mutex::new(work)), Arc::new(AtomicU64::new(0)));
        for number in 0..size.threads.max(1) {
            let (work, hashes) = (work.clone(), hashes.clone());
            std::thread::Builder::new()
                .name(format!("password-{number}"))
                .spawn(move || hash_until_closed(&work, &hashes))?;
        }
        Ok(Pool { places: Arc::new(Semaphore::new(places)), jobs, hashes })
    }

    pub(super) fn reserve(&self) -> Result<Slot, Busy> {
        let permit = self.places.clone().try_acquire_owned().map_err(|_| Busy)?;
        Ok(Slot { _permit: permit })
    }

    pub(super) fn hashes(&self) -> u64 {
        self.hashes.load(Ordering::Relaxed)
    }

    pub(super) async fn hash(
        &self,
        _slot: &Slot,
        password: &str,
        salt: Vec<u8>,
        cost: PasswordCost,
    ) -> Result<[u8; HASH_BYTES], Busy> {
        let (reply, answer) = oneshot::channel();
        let job = Job { password: password.as_bytes().to_vec(), salt, cost, reply };
        // Requests that went away may leave their jobs behind for a moment, so the queue can be full all the same.
        self.jobs.try_send(job).map_err(|_| Busy)?;
        answer.await.ok().flatten().ok_or(Busy)
    }
}

/// Whoever signs in can wait a little; requests that are served beside it cannot.
const NICENESS: i32 = 10;

fn hash_until_closed(work: &Mutex<mpsc::Receiver<Job>>, hashes: &AtomicU64) {
    // On Linux this is the calling thread's alone; elsewhere it would be the whole server's. Without it we hash as well.
    if cfg!(target_os = "linux") {
        let _ = rustix::process::nice(NICENESS);
    }
    let mut memory: Vec<Block> = Vec::new();
    loop {
        // The lock is held while waiting: one thread waits for the next job, the others for their turn.
        let Ok(job) = work.lock().recv() else { return };
        if job.reply.is_closed() {
            continue;
        }
        let blocks = job.cost.blocks();
        if memory.len() < blocks {
            memory.resize(blocks, Block::default());
        }
        let hash = job.cost.hash(&job.password, &job.salt, &mut memory[..blocks]);
        hashes.fetch_add(1, Ordering::Relaxed);
        if hash.is_none() {
            tracing::error!("a password could not be hashed with {:?}", job.cost);
        }
        // Who asked may have gone away meanwhile; then nobody needs the answer.
        let _ = job.reply.send(hash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_flood_fills_the_queue_and_is_told_so_at_once() {
        let pool = Pool::start(PasswordPool { threads: 1, queue: 3 }).expect("threads start");
        let slots: Vec<_> = (0..4).map(|_| pool.reserve().expect("room")).collect();
        assert_eq!(pool.reserve().expect_err("full"), Busy);
        let hash = pool.hash(&slots[0], "word", vec![0; 16], PasswordCost::FOR_TESTS).await;
        assert!(hash.is_ok());
        assert_eq!(pool.reserve().expect_err("a place is kept until its request ends"), Busy);
        drop(slots);
        assert!(pool.reserve().is_ok());
        assert_eq!(pool.hashes(), 1);
    }

    #[tokio::test]
    async fn who_went_away_is_not_hashed_for() {
        let pool = Pool::start(PasswordPool { threads: 1, queue: 3 }).expect("threads start");
        let slot = pool.reserve().expect("room");
        let (reply, gone) = oneshot::channel();
        drop(gone);
        let job = Job { password: vec![1], salt: vec![0; 16], cost: PasswordCost::FOR_TESTS, reply };
        assert!(pool.jobs.try_send(job).is_ok());
        assert!(pool.hash(&slot, "word", vec![0; 16], PasswordCost::FOR_TESTS).await.is_ok());
        assert_eq!(pool.hashes(), 1);
    }
}
