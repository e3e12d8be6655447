//! Letters as files in a folder, for a server without mail: each one `.eml`, which any mail program opens. They hold links that open
//! accounts, so only the owner reads them.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use super::config::MailError;
use super::stationery::Message;
use super::{SendError, Sending, Transport};

/// More than anybody looks through; a demo that runs for weeks must not fill the disk.
pub const FILES_MAX: usize = 1_000;

#[derive(Debug)]
pub struct Files {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    /// Names of all letters there; a name begins with its time, so the first is the oldest.
    names: Mutex<BTreeSet<String>>,
}

impl Files {
    /// Makes the folder if there is none; letters that are there already count.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Files, MailError> {
        let folder = folder.into();
        let names = open(&folder).map_err(|error| MailError::File { path: folder.clone(), error })?;
        Ok(Files { inner: Arc::new(Inner { folder, names: Mutex::new(names) }) })
    }

    pub fn folder(&self) -> &Path {
        &self.inner.folder
    }
}

fn open(folder: &Path) -> io::Result<BTreeSet<String>> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        if let Ok(name) = entry?.file_name().into_string()
            && is_ours(&name)
        {
            names.insert(name);
        }
    }
    Ok(names)
}

/// As `write` names them; no other file is ever deleted.
fn is_ours(name: &str) -> bool {
    let time = name.split('-').next().unwrap_or_default();
    name.ends_with(".eml") && time.len() == 15 && time.bytes().all(|byte| byte.is_ascii_digit())
}

impl Inner {
    fn write(&self, message: &Message) -> io::Result<()> {
        let name = format!("{:015}-{}-{}.eml", message.written_at, message.kind.as_str(), message.id);
        let mut names = self.names.lock();
        // Under another name first: whoever looks into the folder sees whole letters.
        let part = self.folder.join(format!("{name}.part"));
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&part)?.write_all(&message.bytes)?;
        fs::rename(&part, self.folder.join(&name))?;
        names.insert(name);
        while names.len() > FILES_MAX {
            let Some(oldest) = names.pop_first() else { break };
            match fs::remove_file(self.folder.join(oldest)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }
}

impl Transport for Files {
    fn send<'a>(&'a self, message: &'a Message) -> Sending<'a> {
        let (inner, message) = (self.inner.clone(), message.clone());
        Box::pin(async move {
            let written = tokio::task::spawn_blocking(move || inner.write(&message)).await;
            let written = written.map_err(|error| SendError::Later(error.to_string()))?;
            written.map_err(|error| SendError::Later(format!("the file could not be written: {error}")))
        })
    }

    fn newest(&self) -> Option<PathBuf> {
        self.inner.names.lock().last().map(|name| self.inner.folder.join(name))
    }
}
