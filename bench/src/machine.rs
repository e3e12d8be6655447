//! The machine under everybody: what one flush of its disk costs, how busy it was, and a private folder on it.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::contest::{Contestant, Round};
use crate::latency::Latency;

const BLOCK: usize = 4096;
const BLOCKS: u64 = 256;

/// A folder of our own that goes when the run ends.
pub(crate) fn private_folder(above: &Path) -> Result<TempDir> {
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    let above = above.canonicalize().with_context(|| format!("the folder {}", above.display()))?;
    if kind_of_disk(&mounts, &above).is_some_and(|kind| kind == "tmpfs" || kind == "ramfs") {
        bail!("{} is in memory, where a flush costs nothing: choose another with --folder", above.display());
    }
    tempfile::Builder::new().prefix("onsale-bench-").tempdir_in(&above).context("making a private folder")
}

/// Ctrl-C reaches the servers we started as well; what is left for us is the folder, which may hold gigabytes.
pub(crate) fn tidy_up_on_interrupt(folder: &Path) -> Result<()> {
    let folder = folder.to_path_buf();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::spawn(move || {
        if runtime.block_on(tokio::signal::ctrl_c()).is_ok() {
            // A server that is still writing may put a file back; the second try takes it.
            let _ = std::fs::remove_dir_all(&folder).or_else(|_| std::fs::remove_dir_all(&folder));
            std::process::exit(130);
        }
    });
    Ok(())
}

/// The file system that holds `path`: the mount with the longest matching name.
fn kind_of_disk<'a>(mounts: &'a str, path: &Path) -> Option<&'a str> {
    let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let holding = fields.filter(|fields| fields.len() > 2 && path.starts_with(fields[1]));
    holding.max_by_key(|fields| fields[1].len()).map(|fields| fields[2])
}

/// fdatasync of one overwritten 4 KiB block in a zero-filled file. Measured in every round, beside everybody:
/// a disk has better and worse minutes.
#[derive(Debug)]
pub(crate) struct Fdatasync {
    folder: PathBuf,
    file: Option<File>,
}

impl Fdatasync {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf(), file: None }
    }
}

impl Contestant for Fdatasync {
    fn subject(&self) -> String {
        "fdatasync".to_owned()
    }

    fn prepare(&mut self) -> Result<()> {
        let mut file = tempfile::tempfile_in(&self.folder).context("a file to flush")?;
        for _ in 0..BLOCKS {
            file.write_all(&[0; BLOCK])?;
        }
        file.sync_all()?;
        self.file = Some(file);
        Ok(())
    }

    fn round(&mut self, length: Duration) -> Result<Round> {
        let file = self.file.as_mut().context("not prepared")?;
        let mut latency = Latency::new()?;
        let (started, mut flushes) = (Instant::now(), 0);
        while started.elapsed() < length / 2 {
            file.seek(SeekFrom::Start((flushes % BLOCKS) * BLOCK as u64))?;
            let begun = Instant::now();
            file.write_all(&[7; BLOCK])?;
            file.sync_data()?;
            latency.record(begun.elapsed());
            flushes += 1;
        }
        Ok(latency.round(flushes, started.elapsed()))
    }
}

/// How busy the machine was before we came: figures from a busy one are worth little.
pub(crate) fn load_before() -> Option<(String, f64)> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    Some(("machine_load_before".to_owned(), text.split(' ').next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_mount_says_what_kind_of_disk_it_is() {
        let mounts = "/dev/vda / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n";
        assert_eq!(kind_of_disk(mounts, Path::new("/tmp/onsale")), Some("tmpfs"));
        assert_eq!(kind_of_disk(mounts, Path::new("/var/tmp")), Some("ext4"));
    }
}
