//! How a room's tables came to be: numbered steps, applied in one transaction and never changed afterwards.
//! The runner is our own. refinery reads what was applied in one transaction and applies the rest in another, so two
//! servers that start together would both apply it; and it knows no schema that is newer than the program.

use crate::SqlError;

/// Made by [`migrations!`](crate::migrations).
#[derive(Debug)]
pub struct Migrations {
    /// Whose tables these are. A database that another room has filled is refused.
    pub name: &'static str,
    pub list: &'static [Migration],
}

#[derive(Debug)]
pub struct Migration {
    /// 1, 2, 3 …
    pub number: i64,
    pub name: &'static str,
    pub sqlite: &'static str,
    pub postgres: &'static str,
}

/// `static TABLES: Migrations = migrations!("access", 1 => "001_tenants", 2 => "002_users");` reads
/// `migrations/sqlite/001_tenants.sql` and `migrations/postgres/001_tenants.sql` of the crate that says it.
#[macro_export]
macro_rules! migrations {
    ($name:literal $(, $number:literal => $file:literal)* $(,)?) => {
        $crate::Migrations {
            name: $name,
            list: &[$($crate::Migration {
                number: $number,
                name: $file,
                sqlite: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/sqlite/", $file, ".sql")),
                postgres: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/postgres/", $file, ".sql")),
            }),*],
        }
    };
}

/// What stands in a database's own table `migration`: number, room and name.
pub(crate) type Applied = (i64, String, String);

pub(crate) const CREATE: &str = "create table if not exists migration \
    (number bigint primary key, room text not null, name text not null)";
pub(crate) const READ: &str = "select number, room, name from migration order by number";
pub(crate) const WRITE: &str = "insert into migration (number, room, name) values ($1, $2, $3)";

impl Migrations {
    /// Those that the database has not seen, or why it must not be touched.
    pub(crate) fn missing(&self, applied: &[Applied]) -> Result<&'static [Migration], SqlError> {
        for (place, step) in (1..).zip(self.list) {
            assert!(step.number == place, "migration {} of {} stands in place {place}", step.name, self.name);
        }
        for (number, room, name) in applied {
            if room != self.name {
                return Err(SqlError::Configuration(format!(
                    "this database holds the tables of {room}, not of {}: give each its own file or schema",
                    self.name
                )));
            }
            let ours = usize::try_from(*number - 1).ok().and_then(|place| self.list.get(place));
            match ours {
                None => {
                    let newest = applied.last().map_or(0, |(number, _, _)| *number);
                    return Err(SqlError::NewerSchema { found: newest, known: self.list.len() as i64 });
                }
                Some(step) if step.name != name => {
                    return Err(SqlError::Configuration(format!(
                        "migration {number} of this database is {name}, but {} for this program: \
                         start the program that made it, or restore a backup of before",
                        step.name
                    )));
                }
                Some(_) => {}
            }
        }
        Ok(&self.list[applied.len().min(self.list.len())..])
    }
}
