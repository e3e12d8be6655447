//! The one hash map of the domain. Its order differs from run to run, so nothing may ever iterate it;
//! it only answers "where is the thing with this id". Lists that are shown come from ordered collections.

/// A map for look-ups alone; see the module's words on iteration.
pub type Map<K, V> = hashbrown::HashMap<K, V>;

/// A table of indexes into a slab, hashed by what they point at.
pub type Table<T> = hashbrown::HashTable<T>;

pub use hashbrown::DefaultHashBuilder as Hasher;
