//! How tables come to be: once, whole, by one of several, and never by an older program.

use onsale_sql::{Migration, Migrations, Place, Sql, SqlError};

use crate::home::{FIRST, Home, TABLES, count};

const SECOND: Migration = Migration {
    number: 2,
    name: "002_halls",
    sqlite: "create table hall (name text primary key) strict",
    postgres: "create table hall (name text primary key)",
};
static NEWER: Migrations = Migrations { name: "shop", list: &[FIRST, SECOND] };
/// The second half of its second step is wrong.
static BROKEN: Migrations = Migrations {
    name: "shop",
    list: &[
        FIRST,
        Migration {
            sqlite: "create table hall (name text) strict; create table seat (name text) strict",
            postgres: "create table hall (name text); create table seat (name text)",
            ..SECOND
        },
    ],
};
static CHANGED: Migrations = Migrations { name: "shop", list: &[Migration { name: "001_chairs", ..FIRST }] };
static STRANGE: Migrations = Migrations { name: "cinema", list: &[FIRST] };

fn homes() -> [Home; 2] {
    [Home::sqlite(), Home::postgres()]
}

async fn refusal(place: &Place, migrations: &'static Migrations) -> SqlError {
    Sql::open(place, migrations).await.expect_err("it is refused")
}

#[tokio::test]
async fn a_newer_schema_is_refused_with_a_sentence() {
    for home in homes() {
        drop(Sql::open(&home.place(), &NEWER).await.expect("it opens"));
        let error = refusal(&home.place(), &TABLES).await;
        assert_eq!(error, SqlError::NewerSchema { found: 2, known: 1 });
        assert!(error.to_string().contains("start the newer program"), "{error}");
        assert!(Sql::open_shared(&home.place(), &TABLES).await.is_err());
        Sql::open(&home.place(), &NEWER).await.expect("it was not touched");
    }
}

#[tokio::test]
async fn a_step_that_fails_leaves_nothing_of_itself() {
    for home in homes() {
        home.open().await;
        let error = refusal(&home.place(), &BROKEN).await;
        assert!(matches!(error, SqlError::Statement(_)), "{error:?}");
        // The table of its first half would be in the way.
        Sql::open(&home.place(), &NEWER).await.expect("the right step applies");
    }
}

#[tokio::test]
async fn another_rooms_database_and_a_changed_step_are_refused() {
    for home in homes() {
        home.open().await;
        for other in [&CHANGED, &STRANGE] {
            let error = refusal(&home.place(), other).await;
            assert!(matches!(error, SqlError::Configuration(_)), "{error:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_start_together_migrate_once() {
    for home in homes() {
        let place = home.place();
        let tasks: Vec<_> = (0..6)
            .map(|_| {
                let place = place.clone();
                tokio::spawn(async move {
                    // On SQLite one of them at a time may be a server, but commands run beside each other.
                    loop {
                        match Sql::open_shared(&place, &NEWER).await {
                            Ok(sql) => return count(&sql).await,
                            Err(SqlError::OlderSchema { found: 0, needed: 2 }) => {
                                tokio::task::yield_now().await
                            }
                            Err(error) => panic!("{error}"),
                        }
                    }
                })
            })
            .collect();
        for task in tasks {
            assert_eq!(task.await.expect("no panic"), 0);
        }
    }
}
