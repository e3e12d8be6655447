//! The tables of this room: which migrations make them, in their order.

use onsale_sql::{Migrations, migrations};

pub static TABLES: Migrations = migrations!("access", 1 => "001_tenants_and_keys", 2 => "002_people");
