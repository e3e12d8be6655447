//! Servers that a test, the bench or xtask starts end with it, however it ends: interrupted, killed or crashed.
//! A shell stands by and reads process ids from a pipe; the pipe closes when its writer is gone, and whoever is still
//! alive then is ended. Used by tests, bench and xtask, never by what ships.

use std::io::{Error, Result, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// A process id may be given to a stranger after its owner is gone; the time of its birth (the 22nd field of
/// `/proc/…/stat`, the 20th after the name) is not. Who leads a group of its own goes with the group.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
born() { read -r line < "/proc/$1/stat" || return 0; set -- ${line##*) }; echo "${20}"; }
watched=
while read -r pid; do
    watched="$watched $pid:$(born "$pid")"
done
for one in $watched; do
    pid=${one%%:*} birth=${one#*:}
    if [ -n "$birth" ] && [ "$(born "$pid")" = "$birth" ]; then
        kill -s KILL -- "-$pid"
        kill -s KILL "$pid"
    fi
done
"#;

struct Reaper {
    shell: Child,
    pids: ChildStdin,
}

/// One for the whole program, started with the first server.
static REAPER: Mutex<Option<Reaper>> = Mutex::new(None);

/// Starts a program that ends with ours at the latest.
pub fn spawn(command: &mut Command) -> Result<Child> {
    let mut child = command.spawn()?;
    if let Err(error) = watch(child.id()) {
        // A server that nobody would end is not started at all.
        let _ = child.kill();
        let _ = child.wait();
        return Err(error);
    }
    Ok(child)
}

/// Ends now whatever is still alive, and returns when it has been told to. For whoever is about to exit and wants to
/// remove the folders of those servers.
pub fn end_all() {
    let taken = REAPER.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(Reaper { mut shell, pids }) = taken {
        drop(pids);
        let _ = shell.wait();
    }
}

fn watch(pid: u32) -> Result<()> {
    let mut reaper = REAPER.lock().unwrap_or_else(PoisonError::into_inner);
    if reaper.is_none() {
        *reaper = Some(start()?);
    }
    match reaper.as_mut() {
        Some(reaper) => reaper.pids.write_all(format!("{pid}\n").as_bytes()),
        None => Err(Error::other("the reaper did not start")),
    }
}

fn start() -> Result<Reaper> {
    let mut command = Command::new("sh");
    command.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // In a group of its own: who ends ours as a whole, or presses Ctrl-C, must not end the one who tidies up.
    let mut shell = command.process_group(0).spawn()?;
    let pids = shell.stdin.take().ok_or_else(|| Error::other("the reaper has no pipe"))?;
    Ok(Reaper { shell, pids })
}
