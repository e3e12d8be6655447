//! PostgreSQL refuses to run as root, so root lends its folders to the user `postgres`, or to `nobody`.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Owner {
    Myself,
    Other { user: u32, group: u32 },
}

impl Owner {
    /// Of a folder that we have just made.
    pub(crate) fn of(folder: &Path) -> Owner {
        if std::fs::metadata(folder).expect("our folder").uid() != 0 {
            return Owner::Myself;
        }
        let users = std::fs::read_to_string("/etc/passwd").expect("the list of users");
        let find = |name: &str| {
            let fields = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
            let found = fields.into_iter().find(|fields| fields.first() == Some(&name))?;
            Some(Owner::Other { user: found.get(2)?.parse().ok()?, group: found.get(3)?.parse().ok()? })
        };
        find("postgres").or_else(|| find("nobody")).expect("a user that is not root, to run PostgreSQL")
    }

    /// Hands a folder over and lets its owner come to it.
    pub(crate) fn give(self, folder: &Path) {
        let Owner::Other { user, group } = self else { return };
        chown(folder, Some(user), Some(group)).expect("root may hand over its folder");
        let above = folder.parent().expect("a folder above");
        let mode = std::fs::metadata(above).expect("the folder above").mode();
        if mode & 0o777 == 0o700 {
            std::fs::set_permissions(above, std::fs::Permissions::from_mode(0o711)).expect("our folder");
        }
    }

    /// PostgreSQL takes no key that others could read.
    pub(crate) fn give_secret(self, file: &Path) {
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).expect("our file");
        if let Owner::Other { user, group } = self {
            chown(file, Some(user), Some(group)).expect("root may hand over its file");
        }
    }

    /// `setpriv` becomes the program, so its process id is the server's own.
    pub(crate) fn command(self, program: &str) -> Command {
        let program = find(program);
        match self {
            Owner::Myself => Command::new(program),
            Owner::Other { user, group } => {
                let mut command = Command::new("setpriv");
                command.args([format!("--reuid={user}"), format!("--regid={group}")]);
                command.args(["--clear-groups", "--"]).arg(program).current_dir("/");
                command
            }
        }
    }
}

/// PostgreSQL's own programs, where Debian keeps them, else on the PATH.
pub(crate) fn find(program: &str) -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let kept = versions.map(|version| version.path().join("bin").join(program)).max();
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&paths).map(|folder| folder.join(program));
    kept.into_iter()
        .chain(on_path)
        .find(|file| file.is_file())
        .unwrap_or_else(|| panic!("{program} is missing; `cargo xtask tools` installs it"))
}

/// Runs a program to its end and returns what it printed.
pub(crate) fn output(mut command: Command) -> Result<String, String> {
    let told = format!("{command:?}");
    let output = command.output().unwrap_or_else(|error| panic!("{told}: {error}"));
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("{told}: {}", String::from_utf8_lossy(&output.stderr)))
}
