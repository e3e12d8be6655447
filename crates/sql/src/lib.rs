//! Databases: SQLite in a file, or PostgreSQL, behind one small face. It knows no table.
