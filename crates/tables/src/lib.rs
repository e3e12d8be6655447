//! Text that several suites read: the tables of auctions and of orders with the words that they are written in, and one
//! fact of every kind. The domain's own tests play them, and so does the contract that every engine keeps. And `damage`, strange bytes for decoders.
//! It knows the rules and no engine; nothing that ships calls it.

pub mod auction;
pub mod damage;
pub mod facts;
#[expect(clippy::wildcard_enum_match_arm, reason = "a table tells only what it is about")]
pub mod order;

/// One table: the file it stands in, the sentence it proves, its lines.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    pub file: &'static str,
    pub name: &'static str,
    pub text: &'static str,
}

/// A heading `== sentence` begins a table.
pub fn cut(files: &[(&'static str, &'static str)]) -> Vec<Table> {
    let mut tables = Vec::new();
    for (file, text) in files {
        for part in text.split("\n== ").skip(1) {
            let (name, text) = part.split_once('\n').unwrap_or((part, ""));
            tables.push(Table { file, name: name.trim(), text });
        }
    }
    tables
}
