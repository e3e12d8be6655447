//! Keys that were kept for servers: one file in the user's folder of settings, readable by its owner alone.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

const FILE: &str = "keys.toml";

/// Keys by the address of their server.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Kept {
    keys: BTreeMap<String, String>,
}

/// The key that was kept for this address, if any was.
pub fn find(url: &str) -> anyhow::Result<Option<String>> {
    let Some(file) = file() else { return Ok(None) };
    Ok(read(&file)?.keys.remove(url))
}

/// Keeps a key for this address; the answer is where.
pub fn keep(url: &str, key: &str) -> anyhow::Result<PathBuf> {
    let Some(file) = file() else {
        bail!("there is no folder for settings: set HOME or XDG_CONFIG_HOME, or give the key in ONSALE_KEY");
    };
    let mut kept = read(&file)?;
    kept.keys.insert(url.to_owned(), key.to_owned());
    write(&file, &kept)?;
    Ok(file)
}

/// Whether there was one.
pub fn forget(url: &str) -> anyhow::Result<bool> {
    let Some(file) = file() else { return Ok(false) };
    let mut kept = read(&file)?;
    let was_kept = kept.keys.remove(url).is_some();
    if was_kept {
        write(&file, &kept)?;
    }
    Ok(was_kept)
}

fn file() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = named("XDG_CONFIG_HOME").or_else(|| named("HOME").map(|home| home.join(".config")));
    folder.map(|folder| folder.join("onsale").join(FILE))
}

fn read(file: &Path) -> anyhow::Result<Kept> {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Kept::default()),
        Err(error) => return Err(error).with_context(|| format!("reading {}", file.display())),
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if fs::metadata(file)?.permissions().mode() & 0o077 != 0 {
            bail!("others can read {0}, and there are keys in it: chmod 600 {0}", file.display());
        }
    }
    // What is wrong with it is not repeated: it may have a key in it.
    toml::from_str(&text).map_err(|_| {
        anyhow::anyhow!("{} is not as `onsale login` writes it; remove it and sign in again", file.display())
    })
}

/// A new file that takes the old one's place: nobody reads half of it, and it never was for others.
fn write(file: &Path, kept: &Kept) -> anyhow::Result<()> {
    let told = || format!("writing {}", file.display());
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).with_context(told)?;
    }
    let new = file.with_extension(format!("new-{}", std::process::id()));
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut made = options.open(&new).with_context(told)?;
    made.write_all(toml::to_string(kept)?.as_bytes()).and_then(|()| made.sync_all()).with_context(told)?;
    fs::rename(&new, file).with_context(told)
}
