//! Which Onsale this is. The commit is told by whoever builds what is shipped (`ONSALE_COMMIT`, set by `cargo xtask
//! package`): a build from a working tree knows none, and a new commit alone builds nothing anew.

/// As in the manifest.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit of a shipped build; `unknown` for one from a working tree.
pub const COMMIT: &str = match option_env!("ONSALE_COMMIT") {
    Some(commit) => commit,
    None => "unknown",
};
