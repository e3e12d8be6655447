//! Lists: one shape, one pair of words to go through them, and cursors that only the list understands that gave them.

use std::fmt::Write as _;
use std::sync::Arc;

use onsale_access::principal::Principal;
use onsale_domain::about::About;
use onsale_domain::limits::EXTERNAL_ID_CHARS_MAX;
use onsale_domain::{ListingId, ListingKind, Millis};
use onsale_engine::View;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

use super::extract::look_up;
use super::named_listing;
use super::problem::Problem;
use super::time::Time;
use crate::app::App;

/// Entries in one page of a list unless the caller asks for fewer or more.
pub const LIMIT_DEFAULT: usize = 50;
pub const LIMIT_MAX: usize = 500;
/// Listings that one request looks at: a filter that hardly anything passes costs no more than this.
const LOOKED_AT_MAX: usize = 2_000;
/// Listings that are read at a time.
const PIECE: usize = 64;
/// Characters of a cursor's check, four bits each.
const CHECK_CHARS: usize = 12;

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub struct List<T> {
    data: Vec<T>,
    /// The cursor of the next page, for `after`; absent on the last. A page may be short or empty and have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

impl<T> List<T> {
    pub fn new(data: Vec<T>, next: Option<String>) -> List<T> {
        List { data, next }
    }

    /// The same page, each entry made into what is told.
    pub fn into_told<U>(self, tell: impl FnMut(T) -> U) -> List<U> {
        List { data: self.data.into_iter().map(tell).collect(), next: self.next }
    }

    /// The same page, each entry as it is told.
    pub fn map<'a, U>(&'a self, tell: impl FnMut(&'a T) -> U) -> List<U> {
        List { data: self.data.iter().map(tell).collect(), next: self.next.clone() }
    }
}

/// What may be asked of every list.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    pub after: Option<String>,
    pub limit: Option<usize>,
}

/// What may be asked of a list of listings that have a status and a start.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, bound = "S: Deserialize<'de>")]
pub struct StatusListQuery<S> {
    pub after: Option<String>,
    pub limit: Option<usize>,
    pub external_id: Option<String>,
    pub status: Option<S>,
    pub starts_after: Option<Time>,
    pub starts_before: Option<Time>,
    pub created_after: Option<Time>,
    pub created_before: Option<Time>,
}

/// What may be asked of a list of listings that have neither.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListQuery {
    pub after: Option<String>,
    pub limit: Option<usize>,
    pub external_id: Option<String>,
    pub created_after: Option<Time>,
    pub created_before: Option<Time>,
}

impl<S: PartialEq> StatusListQuery<S> {
    /// Whether a listing with this status and start is wanted.
    pub fn lets_pass(&self, status: S, starts_at: Millis) -> bool {
        self.status.as_ref().is_none_or(|wanted| *wanted == status)
            && is_within(starts_at, self.starts_after, self.starts_before)
    }
}

/// From an instant on, and before another.
fn is_within(at: Millis, after: Option<Time>, before: Option<Time>) -> bool {
    after.is_none_or(|after| at >= after.0) && before.is_none_or(|before| at < before.0)
}

/// Which listings are looked at, before anybody asks what they are.
#[derive(Debug)]
pub struct ListingFilter<'a> {
    after: Option<&'a str>,
    limit: Option<usize>,
    external_id: Option<&'a str>,
    starts: (Option<Time>, Option<Time>),
    created: (Option<Time>, Option<Time>),
}

impl<'a, S> From<&'a StatusListQuery<S>> for ListingFilter<'a> {
    fn from(asked: &'a StatusListQuery<S>) -> ListingFilter<'a> {
        ListingFilter {
            after: asked.after.as_deref(),
            limit: asked.limit,
            external_id: asked.external_id.as_deref(),
            starts: (asked.starts_after, asked.starts_before),
            created: (asked.created_after, asked.created_before),
        }
    }
}

impl<'a> From<&'a ListQuery> for ListingFilter<'a> {
    fn from(asked: &'a ListQuery) -> ListingFilter<'a> {
        ListingFilter {
            after: asked.after.as_deref(),
            limit: asked.limit,
            external_id: asked.external_id.as_deref(),
            starts: (None, None),
            created: (asked.created_after, asked.created_before),
        }
    }
}

impl ListingFilter<'_> {
    /// Where a page begins, and how long it may be.
    pub fn page(&self) -> (Option<&str>, Option<usize>) {
        (self.after, self.limit)
    }

    pub fn lets_pass(&self, view: &View) -> bool {
        is_within(view.created_at, self.created.0, self.created.1)
    }

    /// Between an instant and the same or an earlier one nothing is, and nothing has a name that cannot be given.
    pub fn check(&self) -> Result<(), Problem> {
        let named = About { external_id: self.external_id.map(str::to_owned), ..About::default() };
        if named.check().is_err() {
            let why = format!("must be 1 to {EXTERNAL_ID_CHARS_MAX} characters without control characters");
            return Err(Problem::parameter("external_id", why));
        }
        for ((after, before), name) in [(self.starts, "starts_before"), (self.created, "created_before")] {
            if let (Some(after), Some(before)) = (after, before)
                && after >= before
            {
                return Err(Problem::parameter(
                    name,
                    format!("must be later than `{}`", name.replace("before", "after")),
                ));
            }
        }
        Ok(())
    }
}

/// A page's size within its bounds.
pub fn limit(asked: Option<usize>) -> Result<usize, Problem> {
    match asked {
        None => Ok(LIMIT_DEFAULT),
        Some(limit) if (1..=LIMIT_MAX).contains(&limit) => Ok(limit),
        Some(_) => Err(Problem::parameter("limit", format!("must be 1 to {LIMIT_MAX}"))),
    }
}

/// Whose cursors these are: an operation, and the listing or person it is asked of. A cursor is a place in the list with
/// a check over both, so that one of another list, or a changed one, is not taken for a place in this.
#[derive(Clone, Copy, Debug)]
pub struct Cursors<'a> {
    operation: &'static str,
    of: &'a str,
}

impl<'a> Cursors<'a> {
    pub fn new(operation: &'static str, of: &'a str) -> Cursors<'a> {
        Cursors { operation, of }
    }

    pub fn write(&self, place: &str) -> String {
        let mut text = self.check(place);
        for byte in place.bytes() {
            // Writing to a `String` cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        text
    }

    /// The place behind which a page begins, as `read` understands it.
    pub fn read<P>(
        &self,
        after: Option<&str>,
        read: impl FnOnce(&str) -> Option<P>,
    ) -> Result<Option<P>, Problem> {
        let Some(text) = after else { return Ok(None) };
        let place = self.place(text).and_then(|place| read(&place));
        place.map(Some).ok_or_else(wrong)
    }

    fn place(&self, text: &str) -> Option<String> {
        let (check, hex) = text.split_at_checked(CHECK_CHARS)?;
        let digit = |byte: &u8| char::from(*byte).to_digit(16).filter(|_| !byte.is_ascii_uppercase());
        let pairs = hex.as_bytes().chunks(2);
        let bytes: Option<Vec<u8>> = pairs
            .map(|pair| match pair {
                [high, low] => u8::try_from(digit(high)? << 4 | digit(low)?).ok(),
                _ => None,
            })
            .collect();
        let place = String::from_utf8(bytes?).ok()?;
        (self.check(&place) == check).then_some(place)
    }

    fn check(&self, place: &str) -> String {
        let mut digest = Sha256::new();
        // No operation and no id has a zero byte: no two inputs run together.
        for part in [self.operation, "\0", self.of, "\0", place] {
            digest.update(part.as_bytes());
        }
        let mut text = String::with_capacity(CHECK_CHARS + 2 * place.len());
        for byte in &digest.finalize()[..CHECK_CHARS / 2] {
            let _ = write!(text, "{byte:02x}");
        }
        text
    }
}

pub fn wrong() -> Problem {
    Problem::parameter("after", "must be `next` of the page before, of this very list")
}

/// A page of things that were read with one more than was asked for: whether there is that one tells whether to go on.
pub fn cut<T>(mut read: Vec<T>, limit: usize, place: impl FnOnce(&T) -> String) -> List<T> {
    let goes_on = read.len() > limit;
    read.truncate(limit);
    let next = if goes_on { read.last().map(place) } else { None };
    List { data: read, next }
}

/// A page of things that are all at hand, in order of a key that none of them changes.
pub fn of_all<T>(
    page: &Page,
    cursors: Cursors<'_>,
    mut all: Vec<T>,
    key: impl Fn(&T) -> String,
) -> Result<List<T>, Problem> {
    let limit = limit(page.limit)?;
    if let Some(after) = cursors.read(page.after.as_deref(), |place| Some(place.to_owned()))? {
        all.retain(|one| key(one) > after);
    }
    all.sort_by_cached_key(&key);
    Ok(cut(all, limit, |last| cursors.write(&key(last))))
}

/// A page of the listings of a kind in the order of their ids, with the cursor of the next one; by the merchant's own name at
/// most the one that has it.
pub async fn listings(
    app: &App,
    principal: &Principal,
    (operation, kind): (&'static str, ListingKind),
    asked: &ListingFilter<'_>,
    is_wanted: impl Fn(&View) -> bool,
) -> Result<(Vec<Arc<View>>, Option<String>), Problem> {
    asked.check()?;
    let is_wanted = |view: &View| asked.lets_pass(view) && is_wanted(view);
    let (after, limit) = asked.page();
    let (limit, cursors) = (self::limit(limit)?, Cursors::new(operation, ""));
    let after = cursors.read(after, |text| ListingId::parse(text).filter(|listing| listing.kind == kind))?;
    if let Some(external_id) = asked.external_id {
        let found = named(app, principal, kind, external_id).await?;
        let is_behind = |view: &View| after.is_none_or(|after| view.listing > after);
        return Ok((found.into_iter().filter(|view| is_behind(view) && is_wanted(view)).collect(), None));
    }
    let read = |place, count| app.engine.listings(principal.tenant, kind, place, count);
    let (found, next) = look(after, limit, read, |view| view.listing, |view| is_wanted(view));
    Ok((found, next.map(|place| cursors.write(&place.to_string()))))
}

/// The listing that its merchant calls so, if there is one.
async fn named(
    app: &App,
    principal: &Principal,
    kind: ListingKind,
    external_id: &str,
) -> Result<Option<Arc<View>>, Problem> {
    let listing = named_listing(principal.tenant, kind, external_id);
    look_up(app, principal, listing).await?;
    let is_it = |view: &Arc<View>| {
        view.about.as_ref().is_some_and(|about| about.external_id.as_deref() == Some(external_id))
    };
    Ok(app.engine.view(&listing).filter(is_it))
}

/// Up to `limit` of those that are wanted behind a place, and the place to go on from if the end was not reached.
pub fn look<K: Copy, V>(
    after: Option<K>,
    limit: usize,
    read: impl Fn(Option<K>, usize) -> Vec<V>,
    key: impl Fn(&V) -> K,
    is_wanted: impl Fn(&V) -> bool,
) -> (Vec<V>, Option<K>) {
    let (mut found, mut place, mut looked_at) = (Vec::new(), after, 0);
    let count = (limit + 1).max(PIECE);
    loop {
        let piece = read(place, count);
        let is_last = piece.len() < count;
        for one in piece {
            let is_wanted = is_wanted(&one);
            if looked_at == LOOKED_AT_MAX || is_wanted && found.len() == limit {
                return (found, place);
            }
            looked_at += 1;
            place = Some(key(&one));
            if is_wanted {
                found.push(one);
            }
        }
        if is_last {
            return (found, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A page of the numbers below `end` that `is_wanted` lets pass, and how many were read for it.
    fn page(
        after: Option<usize>,
        limit: usize,
        end: usize,
        is_wanted: impl Fn(usize) -> bool,
    ) -> (Vec<usize>, Option<usize>, usize) {
        let looked_at = Cell::new(0);
        let read = |place: Option<usize>, count: usize| -> Vec<usize> {
            let first = place.map_or(0, |place| place + 1);
            (first..end.min(first + count)).collect()
        };
        let wanted = |number: &usize| {
            looked_at.set(looked_at.get() + 1);
            is_wanted(*number)
        };
        let (found, next) = look(after, limit, read, |number| *number, wanted);
        (found, next, looked_at.get())
    }

    #[test]
    fn a_page_says_whether_there_is_another() {
        assert_eq!(page(None, 3, 4, |_| true), (vec![0, 1, 2], Some(2), 4));
        assert_eq!(page(Some(2), 3, 4, |_| true), (vec![3], None, 1));
        assert_eq!(page(None, 4, 4, |_| true).1, None, "a full page may be the last");
        assert_eq!(page(None, 3, 0, |_| true), (vec![], None, 0));
        assert_eq!(page(None, 2, 100, |number| number % 40 == 0).0, [0, 40]);
        assert_eq!(
            page(None, 2, 100, |number| number % 40 == 0).1,
            Some(79),
            "behind all that was looked at"
        );
    }

    #[test]
    fn a_filter_that_nothing_passes_costs_a_bounded_look_and_goes_on_from_there() {
        let end = 2 * LOOKED_AT_MAX + 10;
        let is_wanted = |number: usize| number == LOOKED_AT_MAX || number == end - 1;
        let (first, next, looked_at) = page(None, 5, end, is_wanted);
        assert_eq!((first, next), (vec![], Some(LOOKED_AT_MAX - 1)), "empty, and there is more");
        assert!(looked_at <= LOOKED_AT_MAX + 1, "{looked_at}");
        let (second, next, _) = page(next, 5, end, is_wanted);
        assert_eq!((second, next), (vec![LOOKED_AT_MAX], Some(2 * LOOKED_AT_MAX - 1)));
        assert_eq!(page(next, 5, end, is_wanted), (vec![end - 1], None, 10));
    }

    #[test]
    fn a_cursor_is_a_place_in_the_list_that_gave_it_and_in_no_other() {
        let own = Cursors::new("watchers.list", "auc_1");
        let read = |cursors: Cursors<'_>, text: &str| {
            cursors.read(Some(text), |place| Some(place.to_owned())).ok().flatten()
        };
        for place in ["ann", "", "席 & é", "\u{1}"] {
            let text = own.write(place);
            assert!(
                text.bytes().all(|byte| byte.is_ascii_alphanumeric()),
                "goes into a query as it is: {text}"
            );
            assert_eq!(read(own, &text).as_deref(), Some(place));
            for other in [("watchers.list", "auc_2"), ("entries.list", "auc_1"), ("watchers.lista", "uc_1")] {
                assert_eq!(read(Cursors::new(other.0, other.1), &text), None, "{other:?}");
            }
            for at in 0..text.len() {
                let mut changed = text.clone().into_bytes();
                changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
                assert_eq!(read(own, &String::from_utf8(changed).unwrap_or_default()), None);
                assert_eq!(read(own, &text[..at]), None);
            }
            assert_eq!(read(own, &text.to_uppercase()), None, "one place, one text");
        }
        for text in ["", "ann", "x", "000000000000", "éééééééééééé"] {
            assert!(own.read(Some(text), |place| Some(place.to_owned())).is_err(), "{text}");
        }
        assert!(own.read(None, |place| Some(place.to_owned())).is_ok_and(|place| place.is_none()));
    }

    #[test]
    fn what_is_all_at_hand_is_told_once_and_in_order() {
        let cursors = Cursors::new("buyers.holds", "ann");
        let (mut page, mut seen) = (Page { after: None, limit: Some(2) }, Vec::new());
        loop {
            let all = vec![4, 1, 3, 0, 2];
            let told = of_all(&page, cursors, all, |number| number.to_string())
                .unwrap_or_else(|_| List::new(vec![], None));
            seen.push(told.data);
            page.after = told.next;
            if page.after.is_none() {
                break;
            }
        }
        assert_eq!(seen, [vec![0, 1], vec![2, 3], vec![4]]);
    }

    #[test]
    fn a_start_is_wanted_from_an_instant_on_and_before_another() {
        let filter = |status, after: Option<i64>, before: Option<i64>| StatusListQuery {
            after: None,
            limit: None,
            status,
            starts_after: after.map(Time),
            starts_before: before.map(Time),
            external_id: None,
            created_after: None,
            created_before: None,
        };
        assert!(filter(None, None, None).lets_pass('a', 5));
        assert!(filter(Some('a'), Some(5), Some(6)).lets_pass('a', 5));
        assert!(!filter(Some('b'), None, None).lets_pass('a', 5));
        assert!(!filter(None, Some(6), None).lets_pass('a', 5));
        assert!(!filter(None, None, Some(5)).lets_pass('a', 5));
    }
}
