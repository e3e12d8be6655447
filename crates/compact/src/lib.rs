//! Great numbers of small things in little space: slabs, memories, deadlines, people, and numbers as short texts.
//! The rules keep their state in them; nothing here knows a rule, the time or chance.

pub mod base32;
pub mod deadlines;
pub mod gently;
pub mod map;
mod name;
pub mod people;
pub mod recall;
pub mod slab;
