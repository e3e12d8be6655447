//! What is said about the bound: that it comes near, and that nothing can be done about it. Each once, until there was
//! room in between.

use std::collections::BTreeSet;
use std::sync::Arc;

/// From so much of the bound on it is said that answers will be forgotten.
const NEARLY_PERCENT: u64 = 80;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Fill {
    #[default]
    Room,
    Nearly,
    Over,
}

impl Fill {
    fn of(bytes: u64, bound: u64) -> Fill {
        match bytes {
            _ if bytes > bound => Fill::Over,
            _ if bytes >= bound / 100 * NEARLY_PERCENT => Fill::Nearly,
            _ => Fill::Room,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Notices {
    /// Of the fullest master, as it was last looked at.
    fill: Fill,
    /// Masters that are over the bound and have nothing to give.
    stuck: BTreeSet<Arc<str>>,
}

impl Notices {
    /// True: it has become worth a word.
    pub(super) fn is_nearly(&mut self, bytes: u64, bound: u64) -> bool {
        let fill = Fill::of(bytes, bound);
        let before = std::mem::replace(&mut self.fill, fill);
        fill == Fill::Nearly && before == Fill::Room
    }

    /// A master is over the bound, and nothing of it could go. True: nobody has said so.
    pub(super) fn is_stuck(&mut self, node: &Arc<str>) -> bool {
        self.stuck.insert(node.clone())
    }

    /// It is below, or something could go.
    pub(super) fn is_loose(&mut self, node: &Arc<str>) {
        self.stuck.remove(node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_once_before_anything_is_forgotten() {
        let mut notices = Notices::default();
        let said =
            [0, 799, 800, 900, 1_000, 1_001, 950, 700, 850].map(|bytes| notices.is_nearly(bytes, 1_000));
        assert_eq!(said, [false, false, true, false, false, false, false, false, true]);
    }

    #[test]
    fn that_nothing_can_go_is_said_once_for_each_master() {
        let (mut notices, [a, b]) = (Notices::default(), ["a", "b"].map(Arc::from));
        assert_eq!([&a, &a, &b, &b].map(|node| notices.is_stuck(node)), [true, false, true, false]);
        notices.is_loose(&a);
        assert_eq!([&a, &b].map(|node| notices.is_stuck(node)), [true, false]);
    }
}
