//! A place for one test, some statements, and its tables.

use onsale_postgres_servers::Database;
use onsale_sql::{Migration, Migrations, Place, Query, Sql};
use tempfile::TempDir;

/// Where a test's database is; it goes with the test.
pub(crate) enum Home {
    Folder(TempDir),
    Database(Database),
}

impl Home {
    pub(crate) fn sqlite() -> Home {
        Home::Folder(tempfile::tempdir().expect("a folder"))
    }

    pub(crate) fn postgres() -> Home {
        Home::Database(Database::fresh())
    }

    pub(crate) fn place(&self) -> Place {
        match self {
            Home::Folder(folder) => Place::Sqlite(folder.path().join("shop.sqlite")),
            Home::Database(database) => Place::Postgres { url: database.url(), schema: "shop".to_owned() },
        }
    }

    pub(crate) async fn open(&self) -> Sql {
        Sql::open(&self.place(), &TABLES).await.expect("it opens")
    }
}

pub(crate) static TABLES: Migrations = Migrations { name: "shop", list: &[FIRST] };
pub(crate) const FIRST: Migration = Migration {
    number: 1,
    name: "001_seats",
    sqlite: "create table seat (name text primary key, row_number integer, photo blob, \
        price integer not null check (price > 0)) strict",
    postgres: "create table seat (name text primary key, row_number bigint, photo bytea, \
        price bigint not null check (price > 0))",
};

pub(crate) static ADD: Query = Query {
    name: "seats/add",
    text: "-- adds a seat\n-- $1 name, $2 row, $3 photo, $4 price\n\
        insert into seat (name, row_number, photo, price) values ($1, $2, $3, $4)",
};
pub(crate) static FIND: Query = Query {
    name: "seats/find",
    text: "-- finds a seat\n-- $1 name\n\
        select name, row_number, photo, price, price > 10, '$1' from seat where name = $1",
};
/// The parameters are named in another order than they are numbered.
pub(crate) static RAISE: Query = Query {
    name: "seats/raise",
    text: "-- raises a price\n-- $1 name, $2 more\n\
        update seat set price = price + $2 where name = $1",
};
pub(crate) static LOCK: Query = Query {
    name: "seats/lock",
    text: "-- reads a price that is about to change\n-- $1 name\n\
        select price from seat where name = $1\nfor update",
};
pub(crate) static COUNT: Query =
    Query { name: "seats/count", text: "-- counts\n-- none\nselect count(*) from seat" };
pub(crate) static WRONG: Query = Query { name: "seats/wrong", text: "select colour from seat" };

pub(crate) async fn count(sql: &Sql) -> i64 {
    sql.query(&COUNT, &[]).await.expect("a count")[0].int(0).expect("a number")
}
