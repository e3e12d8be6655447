//! The machine under everybody: what one flush of its disk costs, how busy it was, and a private folder on it.

use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::contest::Figures;
use crate::latency::Latency;

const BLOCK: usize = 4096;
const BLOCKS: u64 = 256;
const FLUSHES: u64 = 1_000;

/// A folder of our own that goes when the run ends.
pub fn private_folder(above: &Path) -> Result<TempDir> {
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    let above = above.canonicalize().with_context(|| format!("the folder {}", above.display()))?;
    if kind_of_disk(&mounts, &above).is_some_and(|kind| kind == "tmpfs" || kind == "ramfs") {
        bail!("{} is in memory, where a flush costs nothing: choose another with --folder", above.display());
    }
    tempfile::Builder::new().prefix("onsale-bench-").tempdir_in(&above).context("making a private folder")
}

/// The file system that holds `path`: the mount with the longest matching name.
fn kind_of_disk<'a>(mounts: &'a str, path: &Path) -> Option<&'a str> {
    let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let holding = fields.filter(|fields| fields.len() > 2 && path.starts_with(fields[1]));
    holding.max_by_key(|fields| fields[1].len()).map(|fields| fields[2])
}

/// fdatasync of one overwritten 4 KiB block in a zero-filled file.
pub fn figures(folder: &Path) -> Result<Figures> {
    let mut file = tempfile::tempfile_in(folder).context("a file to flush")?;
    let block = [7_u8; BLOCK];
    for _ in 0..BLOCKS {
        file.write_all(&[0; BLOCK])?;
    }
    file.sync_all()?;
    let mut latency = Latency::new()?;
    for number in 0..FLUSHES {
        file.seek(SeekFrom::Start((number % BLOCKS) * BLOCK as u64))?;
        let started = Instant::now();
        file.write_all(&block)?;
        file.sync_data()?;
        latency.record(started.elapsed());
    }
    Ok(Figures::from([
        ("fdatasync_p50_ms".to_owned(), latency.quantile_ms(0.5)),
        ("fdatasync_p99_ms".to_owned(), latency.quantile_ms(0.99)),
    ]))
}

/// How busy the machine was before we came: figures from a busy one are worth little.
pub fn load_before() -> Option<(String, f64)> {
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
