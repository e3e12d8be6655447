//! An empty cluster that is made once for each version of PostgreSQL and copied for every server: `initdb` takes a second
//! of both cores, a copy some milliseconds, and each test is a program of its own.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::owner::{Owner, find, output};

/// Bytes of the write-ahead log's files, so that a copy is small.
const LOG_FILE: &str = "--wal-segsize=1";
/// The one user with a password is `locked`; everybody else is let in.
const DOORS: &str = "local all locked scram-sha-256\nlocal all all trust\nhost all locked all scram-sha-256\nhost all all all trust\n";

/// Copies an empty cluster to `data`, which must not be there yet; `owner` is given all of it.
pub(crate) fn copy_to(data: &Path, owner: Owner) {
    let template = template(owner);
    let mut copy = Command::new("cp");
    copy.args(["-a", "--reflink=auto"]).arg(template).arg(data);
    output(copy).expect("the empty cluster is copied");
}

fn template(owner: Owner) -> PathBuf {
    let version = output(version_of()).expect("postgres says its version");
    let version: String = version.chars().filter(|one| one.is_ascii_digit() || *one == '.').take(5).collect();
    let folder = build_folder();
    let template = folder.join(format!("postgres-{version}"));
    let lock = File::create(folder.join("postgres.lock")).expect("a file in the build folder");
    // Programs that start together make it once.
    lock.lock().expect("the file can be locked");
    if !template.is_dir() {
        make(&template, owner);
    }
    template
}

fn version_of() -> Command {
    let mut command = Command::new(find("postgres"));
    command.arg("--version");
    command
}

/// In a folder that the other user can come to, then moved: a half-made one is never found.
fn make(template: &Path, owner: Owner) {
    let folder = tempfile::Builder::new().prefix("onsale-postgres-").tempdir().expect("a folder");
    owner.give(folder.path());
    let data = folder.path().join("data");
    let mut init = owner.command("initdb");
    init.args([
        "--auth=trust",
        "--username=postgres",
        "--encoding=UTF8",
        "--locale=C",
        "--no-sync",
        LOG_FILE,
    ]);
    init.arg("-D").arg(&data);
    output(init).expect("initdb makes a cluster");
    fs::write(data.join("pg_hba.conf"), DOORS).expect("a file of ours");
    let half = template.with_extension("half");
    let _ = fs::remove_dir_all(&half);
    let mut copy = Command::new("cp");
    copy.arg("-a").arg(&data).arg(&half);
    output(copy).expect("the empty cluster is copied");
    fs::rename(half, template).expect("a folder beside it");
}

/// The test that runs was built below that folder.
fn build_folder() -> PathBuf {
    let test = std::env::current_exe().expect("the program that runs");
    let built = test.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == "deps"));
    let folder =
        built.and_then(|folder| folder.ancestors().nth(2)).map_or_else(std::env::temp_dir, Path::to_path_buf);
    fs::create_dir_all(&folder).expect("the build folder");
    folder
}
