//! Flat lists of names over nested enums: one list for everybody who needs all verbs or all kinds of facts.

/// How many names the lists have together.
pub(crate) const fn count(lists: &[&[&'static str]]) -> usize {
    let (mut list, mut sum) = (0, 0);
    while list < lists.len() {
        sum += lists[list].len();
        list += 1;
    }
    sum
}

/// All lists behind one another. `N` must be the sum of their lengths.
pub(crate) const fn joined<const N: usize>(lists: &[&[&'static str]]) -> [&'static str; N] {
    let mut all = [""; N];
    let (mut list, mut next) = (0, 0);
    while list < lists.len() {
        let mut at = 0;
        while at < lists[list].len() {
            all[next] = lists[list][at];
            (next, at) = (next + 1, at + 1);
        }
        list += 1;
    }
    assert!(next == N, "the lists are as long as was said");
    all
}
