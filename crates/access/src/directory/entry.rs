//! What is remembered of one credential.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use onsale_domain::time::is_over;

use super::memory::Marks;
use crate::principal::{Principal, Who};

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) principal: Arc<Principal>,
    pub(super) marks: Marks,
    /// When it ends, or is to be read again.
    pub(super) until_ms: i64,
    used_ms: AtomicI64,
    noted_ms: AtomicI64,
}

impl Entry {
    pub(super) fn new(principal: Arc<Principal>, marks: Marks, until_ms: i64, now_ms: i64) -> Entry {
        Entry { principal, marks, until_ms, used_ms: AtomicI64::new(now_ms), noted_ms: AtomicI64::new(0) }
    }

    pub(super) fn use_at(&self, now_ms: i64) -> Option<Arc<Principal>> {
        if is_over(self.until_ms, now_ms) || !self.marks.hold() {
            return None;
        }
        self.used_ms.store(now_ms, Ordering::Relaxed);
        Some(Arc::clone(&self.principal))
    }

    /// When it was used, if nobody has asked since then; of what is not written back, nothing.
    pub(super) fn new_use(&self) -> Option<Use> {
        let at_ms = self.used_ms.load(Ordering::Relaxed);
        if self.noted_ms.swap(at_ms, Ordering::Relaxed) == at_ms {
            return None;
        }
        match &self.principal.who {
            Who::Key(holder) => Some(Use::Key(Arc::clone(&holder.key), at_ms)),
            Who::Person(person) => Some(Use::Session(Arc::clone(&person.session), at_ms)),
            Who::Nobody | Who::Vouched(_) => None,
        }
    }
}

/// Of what, and when.
#[derive(Debug)]
pub(super) enum Use {
    Key(Arc<str>, i64),
    Session(Arc<str>, i64),
}
