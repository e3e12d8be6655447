//! The scripts under test: this release's own, or, while bugs are planted, those of the folder that `ONSALE_LUA` names.
//! Only tests read that variable.

use std::path::PathBuf;

use onsale_engine_redis::Scripts;

/// Where they come from, if not from this crate.
pub(crate) fn folder() -> Option<PathBuf> {
    std::env::var_os("ONSALE_LUA").map(PathBuf::from)
}

/// A file below the folder, if there is one: it must have every file that is asked for.
pub(crate) fn planted(name: &str) -> Option<String> {
    let path = folder()?.join(name).with_extension("lua");
    Some(std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

pub(crate) fn scripts(generation: &str) -> Scripts {
    Scripts::of_texts(generation, |source| {
        let parts: Option<Vec<String>> = source.fragments.iter().map(|name| planted(name)).collect();
        parts.map_or_else(|| source.text.to_owned(), |parts| parts.join("\n") + "\n")
    })
}
