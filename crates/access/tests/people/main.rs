//! People, their sessions and their letters: each test runs on SQLite and on PostgreSQL.

#[macro_use]
mod shop;

mod data;
mod devices;
mod email_change;
mod flood;
mod guests;
mod letters;
mod once;
mod register;
mod reset;
mod roles;
mod rotation;
mod sign_in;
