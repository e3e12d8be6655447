//! Both databases promise the same: each test of `both` runs on SQLite and on PostgreSQL.

mod both;
mod home;
mod migrations;
mod postgres;
mod sqlite;
