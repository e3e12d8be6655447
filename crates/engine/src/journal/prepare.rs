//! Keeps the next segment ready before it is needed, and says whether there is room.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use parking_lot::{Condvar, Mutex};

use super::{JournalError, Options, Preparation, segment};
use crate::disk::{Disk, DiskFile};

/// How long the helper waits after a failure: a full disk is freed by people, not by milliseconds.
const RETRY: Duration = Duration::from_secs(1);

/// Whether the journal can take new work. Readable from every thread at the cost of a load or three.
#[derive(Debug, Default)]
pub struct Room {
    in_current: AtomicBool,
    in_next: AtomicBool,
    /// The next segment could not be made. Until that is known a slow disk only makes its writer wait.
    failed: AtomicBool,
}

impl Room {
    pub fn has_room(&self) -> bool {
        self.in_current.load(Ordering::Acquire)
            || self.in_next.load(Ordering::Acquire)
            || !self.failed.load(Ordering::Acquire)
    }

    pub(super) fn set_in_current(&self, room: bool) {
        self.in_current.store(room, Ordering::Release);
    }
}

#[derive(Debug)]
pub(super) struct Preparer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    disk: Arc<dyn Disk>,
    segment_bytes: u64,
    room: Arc<Room>,
    slot: Mutex<Slot>,
    changed: Condvar,
}

#[derive(Debug)]
enum Slot {
    Wanted(u64),
    Failed(u64, String),
    Ready(Arc<dyn DiskFile>),
    /// The writer holds the segment that was ready.
    Taken,
    Stopped,
}

impl Preparer {
    /// Starts with segment `number` wanted.
    pub(super) fn start(
        disk: Arc<dyn Disk>,
        options: &Options,
        room: Arc<Room>,
        number: u64,
    ) -> Result<Self, JournalError> {
        let shared = Arc::new(Shared {
            disk,
            segment_bytes: options.segment_bytes,
            room,
            slot: Mutex::new(Slot::Wanted(number)),
            changed: Condvar::new(),
        });
        let thread = match options.preparation {
            Preparation::OnRequest => None,
            Preparation::Background => {
                let shared = shared.clone();
                let helper = thread::Builder::new().name("journal-prepare".to_owned());
                let helper = helper.spawn(move || shared.run());
                Some(helper.map_err(JournalError::io("start the thread for", segment::name(number)))?)
            }
        };
        Ok(Self { shared, thread })
    }

    /// Asks for segment `number`; the one before is in use.
    pub(super) fn want(&self, number: u64) {
        self.shared.set(Slot::Wanted(number));
    }

    /// Makes the wanted segment now, or lets the helper retry now.
    pub(super) fn prepare(&self) {
        if self.thread.is_none() {
            self.shared.prepare_wanted();
            return;
        }
        let mut slot = self.shared.slot.lock();
        if let Slot::Failed(number, _) = *slot {
            *slot = Slot::Wanted(number);
            self.shared.changed.notify_all();
        }
    }

    /// The wanted segment. Waits while it is being made; fails, with nothing changed, if it cannot be.
    pub(super) fn take(&self) -> Result<Arc<dyn DiskFile>, JournalError> {
        if self.thread.is_none() {
            self.shared.prepare_wanted();
        }
        let mut slot = self.shared.slot.lock();
        loop {
            match std::mem::replace(&mut *slot, Slot::Taken) {
                Slot::Ready(file) => {
                    self.shared.room.in_next.store(false, Ordering::Release);
                    return Ok(file);
                }
                Slot::Failed(number, reason) => {
                    let file = segment::name(number);
                    *slot = Slot::Failed(number, reason.clone());
                    return Err(JournalError::NoRoom { file, reason });
                }
                Slot::Wanted(number) => {
                    *slot = Slot::Wanted(number);
                    self.shared.changed.wait(&mut slot);
                }
                // The writer takes once per segment it wanted and lives longer than the helper.
                Slot::Taken | Slot::Stopped => unreachable!("a segment was taken that nobody wanted"),
            }
        }
    }

    /// Puts back a segment that was taken but could not be used.
    pub(super) fn put_back(&self, file: Arc<dyn DiskFile>) {
        self.shared.set(Slot::Ready(file));
        self.shared.room.in_next.store(true, Ordering::Release);
    }
}

impl Drop for Preparer {
    fn drop(&mut self) {
        self.shared.set(Slot::Stopped);
        if let Some(thread) = self.thread.take() {
            // A panic of the helper has been printed by itself; there is nobody left to tell.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn set(&self, slot: Slot) {
        *self.slot.lock() = slot;
        self.changed.notify_all();
    }

    fn run(&self) {
        loop {
            self.prepare_wanted();
            let mut slot = self.slot.lock();
            match *slot {
                Slot::Stopped => return,
                Slot::Wanted(_) => {}
                Slot::Ready(..) | Slot::Taken => self.changed.wait(&mut slot),
                Slot::Failed(..) => {
                    self.changed.wait_for(&mut slot, RETRY);
                }
            }
        }
    }

    /// Makes the segment that is wanted or failed before, outside the lock.
    fn prepare_wanted(&self) {
        let number = match *self.slot.lock() {
            Slot::Wanted(number) | Slot::Failed(number, _) => number,
            Slot::Ready(..) | Slot::Taken | Slot::Stopped => return,
        };
        let made = segment::prepare(&*self.disk, number, self.segment_bytes);
        let mut slot = self.slot.lock();
        if matches!(*slot, Slot::Stopped) {
            return;
        }
        self.room.failed.store(made.is_err(), Ordering::Release);
        *slot = match made {
            Ok(file) => {
                self.room.in_next.store(true, Ordering::Release);
                Slot::Ready(file)
            }
            Err(JournalError::Io { source, .. }) => Slot::Failed(number, source.to_string()),
            Err(error) => Slot::Failed(number, error.to_string()),
        };
        self.changed.notify_all();
    }
}
