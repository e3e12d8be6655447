//! Databases: SQLite in a file, or PostgreSQL, behind one small face. It knows no table.
//! Rooms bring their migrations and one file for each query; what they decide, they decide inside one transaction.

mod check;
mod error;
mod handle;
mod migration;
mod postgres;
mod query;
mod row;
mod sqlite;
mod value;

pub use error::SqlError;
pub use handle::{Place, Sql, Tx};
pub use migration::{Migration, Migrations};
pub use query::Query;
pub use row::Row;
pub use value::Value;
