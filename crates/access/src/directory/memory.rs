//! By what an entry must be forgotten. Each subject that an entry depends on has one mark, shared by all such entries; when
//! the subject changes, the mark is taken away, and whoever finds the entry sees that.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::changes::{Changes, Subject};

/// Changes that are remembered for entries that are being made while they happen: far more than in one read of a database.
const RECENT_MAX: usize = 4_096;
/// Marks that nobody has are swept out when there are twice as many as after the last time, and at least so many.
const SWEEP_MIN: usize = 1_024;

/// Whether something still holds.
#[derive(Debug, Default)]
struct Mark {
    is_over: AtomicBool,
}

/// All that an entry depends on.
#[derive(Clone, Debug)]
pub(super) struct Marks(Box<[Arc<Mark>]>);

impl Marks {
    pub(super) fn hold(&self) -> bool {
        // Marks are taken away before the feed counts as read, and whoever asks here has looked at that first.
        !self.0.iter().any(|mark| mark.is_over.load(Ordering::Acquire))
    }
}

#[derive(Debug)]
pub(super) struct Memory(Mutex<State>);

#[derive(Debug)]
struct State {
    /// The number of the last change that was read.
    position: i64,
    /// Of changes up to this number it is not known any more what they changed.
    floor: i64,
    recent: VecDeque<(i64, Subject)>,
    marks: HashMap<Subject, Weak<Mark>>,
    sweep_at: usize,
}

impl Memory {
    pub(super) fn new(position: i64) -> Memory {
        let (recent, marks) = (VecDeque::new(), HashMap::new());
        Memory(Mutex::new(State { position, floor: position, recent, marks, sweep_at: SWEEP_MIN }))
    }

    pub(super) fn position(&self) -> i64 {
        self.0.lock().position
    }

    /// For an entry that was read when changes were known up to `position`: its marks, or nothing if one of its subjects may
    /// have changed since.
    pub(super) fn admit(&self, position: i64, subjects: &[Subject]) -> Option<Marks> {
        let mut state = self.0.lock();
        let has_changed = || {
            let newer = state.recent.iter().rev().take_while(|(number, _)| *number > position);
            newer.into_iter().any(|(_, changed)| subjects.contains(changed))
        };
        if position < state.floor || has_changed() {
            return None;
        }
        state.sweep();
        Some(Marks(subjects.iter().map(|subject| state.mark(subject)).collect()))
    }

    /// Takes away what has changed. Returns whether everything else is to be forgotten as well.
    pub(super) fn apply(&self, changes: Changes) -> bool {
        let mut state = self.0.lock();
        let before = state.position;
        // Two reads at once: the later one has told more.
        if changes.subjects.is_some() && changes.last <= before {
            return false;
        }
        state.position = changes.last;
        let Some(subjects) = changes.subjects else {
            state.forget_all();
            return true;
        };
        for (number, subject) in (before + 1..).zip(subjects) {
            if let Some(mark) = state.marks.remove(&subject).and_then(|mark| mark.upgrade()) {
                mark.is_over.store(true, Ordering::Release);
            }
            state.recent.push_back((number, subject));
        }
        while state.recent.len() > RECENT_MAX {
            if let Some((number, _)) = state.recent.pop_front() {
                state.floor = number;
            }
        }
        false
    }
}

impl State {
    fn mark(&mut self, subject: &Subject) -> Arc<Mark> {
        if let Some(mark) = self.marks.get(subject).and_then(Weak::upgrade) {
            return mark;
        }
        let mark = Arc::new(Mark::default());
        self.marks.insert(subject.clone(), Arc::downgrade(&mark));
        mark
    }

    fn forget_all(&mut self) {
        for mark in self.marks.drain().filter_map(|(_, mark)| mark.upgrade()) {
            mark.is_over.store(true, Ordering::Release);
        }
        self.recent.clear();
        self.floor = self.position;
    }

    fn sweep(&mut self) {
        if self.marks.len() >= self.sweep_at {
            self.marks.retain(|_, mark| mark.strong_count() > 0);
            self.sweep_at = (self.marks.len() * 2).max(SWEEP_MIN);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changes::SubjectKind;

    fn key(id: &str) -> Subject {
        Subject::new(SubjectKind::Key, id)
    }

    fn changes(last: i64, ids: &[&str]) -> Changes {
        let subjects = ids.iter().map(|id| key(id)).collect();
        Changes { last, subjects: Some(subjects), is_full: false }
    }

    #[test]
    fn what_depends_on_a_changed_subject_holds_no_more_and_the_rest_does() {
        let memory = Memory::new(7);
        let first = memory.admit(7, &[key("a"), key("b")]).expect("marks");
        let second = memory.admit(7, &[key("b"), key("c")]).expect("marks");
        memory.apply(changes(8, &["c"]));
        assert!(first.hold() && !second.hold());
        memory.apply(changes(10, &["x", "a"]));
        assert!(!first.hold());
    }

    #[test]
    fn what_changes_while_an_entry_is_read_is_not_remembered_as_it_was() {
        let memory = Memory::new(7);
        let position = memory.position();
        memory.apply(changes(9, &["a", "b"]));
        assert!(memory.admit(position, &[key("a")]).is_none());
        assert!(memory.admit(position, &[key("b")]).is_none());
        assert!(memory.admit(position, &[key("c")]).is_some_and(|marks| marks.hold()));
        assert!(memory.admit(8, &[key("a")]).is_some(), "it was read after its change");
        assert!(memory.admit(9, &[key("b")]).is_some());
    }

    #[test]
    fn after_a_gap_nothing_holds_and_nothing_that_was_being_read_is_remembered() {
        let memory = Memory::new(7);
        let marks = memory.admit(7, &[key("a")]).expect("marks");
        assert!(memory.apply(Changes { last: 99, subjects: None, is_full: false }));
        assert!(!marks.hold());
        assert!(memory.admit(7, &[key("a")]).is_none());
        assert!(memory.admit(99, &[key("a")]).is_some());
    }

    #[test]
    fn what_was_changed_too_long_ago_to_remember_counts_as_changed() {
        let memory = Memory::new(0);
        let ids = vec!["x"; RECENT_MAX];
        memory.apply(changes(1, &["a"]));
        memory.apply(changes(1 + RECENT_MAX as i64, &ids));
        assert!(memory.admit(0, &[key("b")]).is_none());
        assert!(memory.admit(1, &[key("b")]).is_some());
    }

    #[test]
    fn a_read_that_comes_late_takes_nothing_back() {
        let memory = Memory::new(0);
        memory.apply(changes(2, &["a", "b"]));
        memory.apply(changes(1, &["a"]));
        assert_eq!(memory.position(), 2);
    }

    #[test]
    fn marks_that_nobody_has_are_swept_out() {
        let memory = Memory::new(0);
        for number in 0..SWEEP_MIN * 4 {
            drop(memory.admit(0, &[key(&number.to_string())]));
        }
        assert!(memory.0.lock().marks.len() <= SWEEP_MIN + 1);
    }
}
