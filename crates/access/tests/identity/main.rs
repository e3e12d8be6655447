//! Tenants, keys, buyer tokens, audit, answers and the directory, each on SQLite and on PostgreSQL.

mod answers;
mod audit;
mod directory;
mod faults;
mod home;
mod keys;
mod statements;
mod tenants;
mod vouchers;
