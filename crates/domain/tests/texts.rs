//! Texts that come from outside: ids, names, what is said of a listing, pictures.

#[path = "texts/about.rs"]
mod about;
#[path = "texts/ids.rs"]
mod ids;
#[path = "texts/pictures.rs"]
mod pictures;
