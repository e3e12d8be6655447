//! Where the workspace is and how its cargo is called.

use std::path::{Path, PathBuf};

/// The folder with the workspace's Cargo.toml: xtask's parent.
pub(crate) fn root() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    manifest.parent().map_or(manifest.clone(), Path::to_path_buf)
}

/// The release binary that `cargo build --release -p onsale` leaves behind.
pub(crate) fn release_binary() -> PathBuf {
    target().join("release").join("onsale")
}

/// The build folder; somebody may have moved it.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}
