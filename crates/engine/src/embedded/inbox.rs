//! A shard's mailbox: bounded, and emptied whole. A full one says so at once; it never grows.

use std::time::Duration;

use parking_lot::{Condvar, Mutex};

#[derive(Debug)]
pub struct Inbox<T> {
    waiting: Mutex<Waiting<T>>,
    arrived: Condvar,
    bound: usize,
}

#[derive(Debug)]
struct Waiting<T> {
    items: Vec<T>,
    /// Commands in `items`: one item may carry several.
    weight: usize,
    closed: bool,
    /// Whether the reader sleeps; waking costs a system call that a busy reader does not need.
    asleep: bool,
}

/// Why something was not taken; it comes back to its sender.
#[derive(Debug)]
pub enum InboxError<T> {
    Full(T),
    Closed(T),
}

impl<T> Inbox<T> {
    pub fn new(bound: usize) -> Inbox<T> {
        let waiting = Waiting { items: Vec::new(), weight: 0, closed: false, asleep: false };
        Inbox { waiting: Mutex::new(waiting), arrived: Condvar::new(), bound }
    }

    pub fn send(&self, item: T, weight: usize) -> Result<(), InboxError<T>> {
        let mut waiting = self.waiting.lock();
        if waiting.closed {
            return Err(InboxError::Closed(item));
        }
        // An item heavier than the whole bound is still taken by an empty inbox.
        if waiting.weight > 0 && waiting.weight + weight > self.bound {
            return Err(InboxError::Full(item));
        }
        waiting.items.push(item);
        waiting.weight += weight;
        let wake = waiting.asleep;
        drop(waiting);
        if wake {
            self.arrived.notify_one();
        }
        Ok(())
    }

    /// Moves all that waits into `into`. Waits up to `patience` if there is nothing. `false`: closed and empty.
    pub fn take(&self, into: &mut Vec<T>, patience: Option<Duration>) -> bool {
        let mut waiting = self.waiting.lock();
        if waiting.items.is_empty() && !waiting.closed {
            waiting.asleep = true;
            match patience {
                Some(patience) => {
                    self.arrived.wait_for(&mut waiting, patience);
                }
                None => self.arrived.wait(&mut waiting),
            }
            waiting.asleep = false;
        }
        waiting.weight = 0;
        std::mem::swap(&mut waiting.items, into);
        !(waiting.closed && into.is_empty())
    }

    /// No more is taken; what waits is still handed out.
    pub fn close(&self) {
        self.waiting.lock().closed = true;
        self.arrived.notify_all();
    }

    pub fn weight(&self) -> usize {
        self.waiting.lock().weight
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_inbox_gives_the_item_back() {
        let inbox = Inbox::new(2);
        assert!(inbox.send(1, 1).is_ok());
        assert!(inbox.send(2, 1).is_ok());
        assert!(matches!(inbox.send(3, 1), Err(InboxError::Full(3))));
        let mut taken = Vec::new();
        assert!(inbox.take(&mut taken, None));
        assert_eq!(taken, [1, 2]);
        assert!(inbox.send(3, 1).is_ok());
    }

    #[test]
    fn a_closed_inbox_hands_out_what_waits_and_then_ends() {
        let inbox = Inbox::new(2);
        assert!(inbox.send(1, 1).is_ok());
        inbox.close();
        assert!(matches!(inbox.send(2, 1), Err(InboxError::Closed(2))));
        let mut taken = Vec::new();
        assert!(inbox.take(&mut taken, None));
        taken.clear();
        assert!(!inbox.take(&mut taken, None));
    }
}
