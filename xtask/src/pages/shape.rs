//! Whether what is printed is what a page says. Ids, tokens and times differ from run to run and are compared by their
//! form, and an id that a page names twice must be one and the same both times. Everything else is compared exactly.

use std::collections::BTreeMap;

/// What a page has instead of what its reader need not see.
pub(super) const ANYTHING: char = '…';
/// `2026-11-16T00:02:40.954Z`, digit by digit.
const TIME: &str = "0000-00-00T00:00:00.000Z";
/// An id or a token: a word of two or three letters, `_`, and at least this many letters and digits.
const ID_LETTERS: usize = 13;
/// A request's id, in hexadecimal digits.
const REQUEST_ID: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece<'a> {
    Letter(char),
    Id(&'a str),
    Time,
    /// The rest of a line, or a part of it.
    Anything,
    /// Any number of lines.
    AnyLines,
}

/// Which id of the page is which id of this run.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(BTreeMap<String, String>);

impl Names {
    /// What a command names by its id is that very thing.
    pub(super) fn typed(&mut self, command: &str) {
        for piece in pieces(command) {
            if let Piece::Id(id) = piece {
                self.0.insert(id.to_owned(), id.to_owned());
            }
        }
    }

    /// Compares a whole output, and remembers which ids stood where the page has its own.
    pub(super) fn are_same(&mut self, written: &str, printed: &str) -> bool {
        let named = matched(&pieces(written.trim_end()), &plain(printed.trim_end()), self);
        match named {
            Some(names) => {
                *self = names;
                true
            }
            None => false,
        }
    }

    fn is_same(&mut self, written: &str, printed: &str) -> bool {
        if let Some(known) = self.0.get(written) {
            return known == printed;
        }
        let form = |id: &str| (id.split_once('_').map(|(prefix, _)| prefix.to_owned()), id.len());
        if form(written) != form(printed) || self.0.values().any(|taken| taken == printed) {
            return false;
        }
        self.0.insert(written.to_owned(), printed.to_owned());
        true
    }
}

fn matched(mut written: &[Piece<'_>], mut printed: &[Piece<'_>], names: &Names) -> Option<Names> {
    let mut names = names.clone();
    while let Some((first, rest)) = written.split_first() {
        match first {
            Piece::Anything | Piece::AnyLines => {
                let line = printed.iter().position(|piece| *piece == Piece::Letter('\n'));
                let most = line.filter(|_| *first == Piece::Anything).unwrap_or(printed.len());
                return (0..=most).find_map(|some| matched(rest, printed.get(some..)?, &names));
            }
            Piece::Letter(_) | Piece::Id(_) | Piece::Time => {
                let (next, others) = printed.split_first()?;
                let same = match (first, next) {
                    (Piece::Id(written), Piece::Id(printed)) => names.is_same(written, printed),
                    (one, other) => one == other,
                };
                if !same {
                    return None;
                }
                printed = others;
            }
        }
        written = rest;
    }
    printed.is_empty().then_some(names)
}

/// A page's pieces: in it `…` stands for others.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = plain(text);
    for at in 0..found.len() {
        if found[at] == Piece::Letter(ANYTHING) {
            let ends = |piece: Option<&Piece<'_>>| piece.is_none_or(|piece| *piece == Piece::Letter('\n'));
            let alone =
                ends(at.checked_sub(1).and_then(|before| found.get(before))) && ends(found.get(at + 1));
            found[at] = if alone { Piece::AnyLines } else { Piece::Anything };
        }
    }
    found
}

fn plain(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let word = rest.find(|next| !is_of_word(next)).unwrap_or(rest.len());
        let took = if is_time(rest) {
            found.push(Piece::Time);
            TIME.len()
        } else if is_id(&rest[..word]) {
            found.push(Piece::Id(&rest[..word]));
            word
        } else if word > 0 {
            found.extend(rest[..word].chars().map(Piece::Letter));
            word
        } else {
            found.push(Piece::Letter(letter));
            letter.len_utf8()
        };
        rest = &rest[took..];
    }
    found
}

fn is_of_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

fn is_time(text: &str) -> bool {
    text.len() >= TIME.len()
        && text.bytes().zip(TIME.bytes()).all(|(one, form)| match form {
            b'0' => one.is_ascii_digit(),
            _ => one == form,
        })
}

fn is_id(word: &str) -> bool {
    let small = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    match word.split_once('_') {
        Some((prefix, number)) => {
            (2..=3).contains(&prefix.len())
                && prefix.chars().all(|letter| letter.is_ascii_lowercase())
                && number.len() >= ID_LETTERS
                && number.chars().all(small)
                && number.contains(|letter: char| letter.is_ascii_digit())
        }
        None => {
            word.len() == REQUEST_ID && word.chars().all(|letter| small(letter) && letter.is_ascii_hexdigit())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(written: &str, printed: &str) -> bool {
        Names::default().are_same(written, printed)
    }

    #[test]
    fn what_differs_from_run_to_run_is_compared_by_its_form() {
        assert!(same("at 2026-11-16T00:02:40.954Z", "at 2031-01-06T10:12:00.000Z\n"));
        assert!(!same("at 2026-11-16T00:02:40.954Z", "at 2026-11-16T00:02:40Z"));
        assert!(same("{\"id\":\"hld_000000000theatreeat68c\"}", "{\"id\":\"hld_000000000theatree0123a\"}"));
        assert!(!same("hld_000000000theatreeat68c", "ord_000000000theatreeat68c"), "another kind");
        assert!(!same("hld_000000000theatreeat68c", "hld_000000000theatreeat68c2"), "another length");
        assert!(same("\"request_id\": \"8c1d5f0a9be24c37\"", "\"request_id\": \"0123456789012345\""));
    }

    #[test]
    fn everything_else_is_compared_exactly() {
        assert!(same("total 17000", "total 17000"));
        assert!(!same("total 17000", "total 17001"));
        assert!(!same("seat_held", "seat_sold"));
        assert!(!same("one", "one\ntwo"));
        assert!(!same("one\ntwo", "one"));
        assert!(!same("", "something"));
    }

    #[test]
    fn an_id_that_is_named_twice_is_the_same_twice() {
        let (one, other) = ("hld_000000000theatre0123a", "hld_000000000theatre9876b");
        let mut names = Names::default();
        assert!(names.are_same("hld_0000000000000000000aa", one));
        assert!(names.are_same("hld_0000000000000000000aa", one));
        assert!(!names.are_same("hld_0000000000000000000aa", other));
        assert!(!names.are_same("hld_0000000000000000000bb", one), "two names of one thing");
        names.typed(&format!("curl /v1/holds/{other}"));
        assert!(names.are_same(other, other));
        assert!(
            !Names(names.0.clone()).are_same(other, "hld_000000000theatre5555b"),
            "a command has named it"
        );
    }

    #[test]
    fn three_dots_stand_for_anything() {
        assert!(same("{…,\"status\":\"closed\",…}", "{\"id\":1,\"status\":\"closed\",\"bids\":2}"));
        assert!(!same("{…,\"status\":\"closed\",…}", "{\"id\":1,\"status\":\"open\",\"bids\":2}"));
        assert!(!same("checked … facts", "checked 3\nfacts"), "of one line");
        assert!(same("first\n…\nlast", "first\n2\n3\nlast"));
        assert!(!same("first\n…\nlast", "first\n2\n3\n"));
        assert!(same("…\nexact", "a\nb\nexact"));
    }
}
