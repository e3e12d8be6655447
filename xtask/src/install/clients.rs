//! What the OpenAPI document is linted with, and what makes clients from it: npm packages by the lock file in
//! `web/client`, Python packages by their pins. Each is installed anew only when its list has changed.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::step::Program;
use crate::workspace;

/// The first version that every one of the npm packages accepts.
const NODE: (u32, u32) = (20, 19);

/// Every Python package by its version, the generator's own needs included.
pub(crate) fn python_pins() -> PathBuf {
    workspace::root().join("web").join("python").join("requirements.txt")
}

/// The generator of Python clients and the type checker, in a folder of their own.
pub(crate) fn openapi_python_client() -> PathBuf {
    workspace::target().join("openapi-python-client")
}

pub(super) fn npm_packages() -> Result<()> {
    let told = Program::new("node --version").read()?;
    if node_version(&told).is_none_or(|version| version < NODE) {
        bail!("node is {}, but the client's tools need {}.{}", told.trim(), NODE.0, NODE.1);
    }
    let folder = workspace::root().join("web").join("client");
    let modules = folder.join("node_modules");
    anew("npm packages of web/client", &folder.join("package-lock.json"), &modules, || {
        Program::new("npm ci --silent").folder(&folder).run()
    })
}

pub(super) fn python_packages() -> Result<()> {
    let folder = openapi_python_client();
    anew("openapi-python-client", &python_pins(), &folder, || {
        let pip = "python3 -m pip install -q --disable-pip-version-check --root-user-action=ignore --no-deps";
        let pip = Program::new(pip).args(["--target", &folder.display().to_string()]);
        pip.args(["-r", &python_pins().display().to_string()]).run()
    })
}

/// Installs what `list` names into `folder`, unless that very list was installed there before.
fn anew(title: &str, list: &Path, folder: &Path, install: impl FnOnce() -> Result<()>) -> Result<()> {
    let wanted = std::fs::read_to_string(list).with_context(|| format!("reading {}", list.display()))?;
    let installed = folder.join(".onsale-installed");
    if std::fs::read_to_string(&installed).is_ok_and(|installed| installed == wanted) {
        println!("  {title}: {}", folder.display());
        return Ok(());
    }
    println!("  {title}: missing or of another list, {}", list.display());
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
        Ok(()) | Err(_) => {}
    }
    install()?;
    std::fs::write(&installed, wanted).with_context(|| format!("writing {}", installed.display()))
}

/// `v20.20.2`.
fn node_version(told: &str) -> Option<(u32, u32)> {
    let mut parts = told.trim().strip_prefix('v')?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_of_node_is_two_numbers_that_count() {
        assert_eq!(node_version("v20.20.2\n"), Some((20, 20)));
        assert_eq!(node_version("20"), None);
        assert!(node_version("v18.19.0").is_some_and(|version| version < NODE));
    }

    #[test]
    fn a_list_is_installed_once_and_a_changed_one_again() {
        let place = tempfile::tempdir().expect("a folder");
        let (list, folder) = (place.path().join("list"), place.path().join("made"));
        let times = std::cell::Cell::new(0);
        let install = || {
            times.set(times.get() + 1);
            std::fs::create_dir_all(&folder)?;
            std::fs::write(folder.join(format!("from-{}", times.get())), "")?;
            Ok(())
        };
        std::fs::write(&list, "one").expect("written");
        anew("it", &list, &folder, install).expect("installed");
        anew("it", &list, &folder, install).expect("there");
        assert_eq!(times.get(), 1);
        std::fs::write(&list, "two").expect("written");
        anew("it", &list, &folder, install).expect("installed");
        assert_eq!(times.get(), 2);
        assert!(!folder.join("from-1").exists(), "nothing of the list before is left");
    }

    #[test]
    fn the_lock_names_no_registry() {
        let lock = workspace::root().join("web").join("client").join("package-lock.json");
        let lock = std::fs::read_to_string(lock).expect("the lock file");
        assert!(!lock.contains("\"resolved\""), "npm writes none with omit-lockfile-registry-resolved");
    }
}
