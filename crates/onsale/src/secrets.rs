//! The house's own secrets: read from the configuration, or made once and kept in the data folder for its owner alone.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use onsale_domain::id::write_base32;

/// The key that guards every route, and the key that signs hold tokens.
#[derive(Clone)]
pub struct Secrets {
    /// `None`: only keys that were made open anything.
    pub api_key: Option<String>,
    pub house_key: Vec<u8>,
    /// Where the API key can be read, if it was not configured.
    pub api_key_file: Option<PathBuf>,
}

/// What stands in for an API key that is not configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unconfigured {
    /// One is made, and kept in the data folder: there is no other way in.
    Make,
    /// Keys are made in the database of accounts. A file from before there were any still opens.
    OnlyIfThere,
}

impl Secrets {
    /// Takes what is configured; the rest is read from `data`, and made there on the first start.
    pub fn open(
        data: &Path,
        api_key: Option<&str>,
        unconfigured: Unconfigured,
        house_key: Option<&str>,
    ) -> io::Result<Secrets> {
        let file = data.join("api_key");
        let (api_key, api_key_file) = match (api_key, unconfigured) {
            (Some(configured), _) => (Some(configured.to_owned()), None),
            (None, Unconfigured::OnlyIfThere) if !file.exists() => (None, None),
            (None, Unconfigured::OnlyIfThere | Unconfigured::Make) => {
                (Some(read_or_make(&file, "key_")?), Some(file))
            }
        };
        let house_key = match house_key {
            Some(configured) => configured.to_owned(),
            None => read_or_make(&data.join("house_key"), "")?,
        };
        Ok(Secrets { api_key, house_key: house_key.into_bytes(), api_key_file })
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secrets").field("api_key_file", &self.api_key_file).finish_non_exhaustive()
    }
}

/// A name that is drawn once and kept in the data folder: no secret, but nobody else's.
pub fn named(data: &Path, file: &str) -> io::Result<String> {
    read_or_make(&data.join(file), "")
}

fn read_or_make(file: &Path, prefix: &str) -> io::Result<String> {
    match fs::read_to_string(file) {
        Ok(text) if !text.trim().is_empty() => return Ok(text.trim().to_owned()),
        // An empty file is what a crash right after creating it leaves; nobody has seen a key from it.
        Ok(_) => fs::remove_file(file)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut secret = prefix.to_owned();
    for _ in 0..2 {
        secret.push_str(std::str::from_utf8(&write_base32(rand::random::<u128>())).unwrap_or_default());
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut made = options.open(file)?;
    writeln!(made, "{secret}")?;
    made.sync_all()?;
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_made_once_and_for_the_owner_alone() -> io::Result<()> {
        let data = tempfile::tempdir()?;
        let first = Secrets::open(data.path(), None, Unconfigured::Make, None)?;
        let second = Secrets::open(data.path(), None, Unconfigured::Make, None)?;
        assert_eq!(first.api_key, second.api_key);
        assert_eq!(first.house_key, second.house_key);
        assert!(first.api_key.as_ref().is_some_and(|key| key.len() > 50));
        #[cfg(unix)]
        for file in ["api_key", "house_key"] {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(data.path().join(file))?.permissions().mode() & 0o777, 0o600, "{file}");
        }
        Ok(())
    }

    #[test]
    fn with_accounts_no_key_is_made_and_one_from_before_still_opens() -> io::Result<()> {
        let data = tempfile::tempdir()?;
        let without = Secrets::open(data.path(), None, Unconfigured::OnlyIfThere, None)?;
        assert_eq!((without.api_key, data.path().join("api_key").exists()), (None, false));
        let made = Secrets::open(data.path(), None, Unconfigured::Make, None)?;
        let found = Secrets::open(data.path(), None, Unconfigured::OnlyIfThere, None)?;
        assert_eq!(found.api_key, made.api_key);
        let configured = Secrets::open(data.path(), Some("configured"), Unconfigured::OnlyIfThere, None)?;
        assert_eq!(configured.api_key.as_deref(), Some("configured"));
        Ok(())
    }
}
