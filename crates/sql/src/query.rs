//! One statement, from a file of its own. It is written once, in the dialect that both databases share.

/// Made by [`query!`](crate::query): `static FIND: Query = query!("keys/find");`
#[derive(Clone, Copy, Debug)]
pub struct Query {
    /// Its file without the ending, for messages.
    pub name: &'static str,
    pub text: &'static str,
}

/// The query in the file `sql/<path>.sql` of the crate that says it.
#[macro_export]
macro_rules! query {
    ($path:literal) => {
        $crate::Query {
            name: $path,
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/sql/", $path, ".sql")),
        }
    };
}

/// PostgreSQL locks rows that are read in order to be changed. In SQLite a writing transaction is alone, and has no
/// word for it.
const ROW_LOCK: &str = "for update";

/// The same statement for SQLite: `$1` is a name there and would be numbered by its first appearance; `?1` is a place.
pub(crate) fn for_sqlite(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with("--")) {
        lines.push(if line.trim().trim_end_matches(';') == ROW_LOCK { String::new() } else { places(line) });
    }
    lines.join("\n")
}

/// Dollars inside quotes are text.
fn places(line: &str) -> String {
    let mut quoted = false;
    let mut letters = line.chars().peekable();
    let mut out = String::with_capacity(line.len());
    while let Some(letter) = letters.next() {
        quoted ^= letter == '\'';
        let is_place = letter == '$' && !quoted && letters.peek().is_some_and(char::is_ascii_digit);
        out.push(if is_place { '?' } else { letter });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::for_sqlite;

    #[test]
    fn a_place_is_numbered_in_sqlite_and_a_dollar_in_quotes_stays() {
        let text =
            "-- what it does\n-- $1 name\nselect '$1', $2 || '$3' from key\nwhere name = $12\nfor update\n";
        assert_eq!(for_sqlite(text), "select '$1', ?2 || '$3' from key\nwhere name = ?12\n");
    }
}
