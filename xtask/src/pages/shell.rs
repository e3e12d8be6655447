//! Types commands one after the other in one shell, as a person at a terminal does, and hears each by itself.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail};

use crate::process;
use crate::step::Program;

/// A page takes some seconds; the step's own end may come first.
const BOUND: Duration = Duration::from_secs(120);

/// What each command prints as its answer; its complaints, which may be about this machine, are heard only if it fails.
/// The first that fails ends all.
pub(super) fn typed(commands: &[&str], shell: Program, folder: &Path) -> Result<Vec<String>> {
    let heard = tempfile::tempdir()?;
    let file = |number: usize| heard.path().join(number.to_string());
    let mut script = String::from("set -e\n");
    for (number, command) in commands.iter().enumerate() {
        writeln!(script, "exec >'{0}' 2>'{0}.complaints'\n{1}", file(number).display(), command.trim_end())?;
    }
    // Only who has typed everything gets here.
    let end = file(commands.len());
    writeln!(script, "exec >'{}'", end.display())?;
    let ended = process::bounded(&shell.arg("-c").arg(script).folder(folder), BOUND, None)?;
    let read = |file: PathBuf| Some(String::from_utf8_lossy(&std::fs::read(file).ok()?).into_owned());
    let outputs: Vec<String> = (0..commands.len()).map_while(|number| read(file(number))).collect();
    if !ended.status.is_some_and(|status| status.success()) || !end.exists() {
        let last = outputs.len().saturating_sub(1);
        let command = commands.get(last).copied().unwrap_or_default();
        let output = outputs.last().map_or("", String::as_str);
        let complaints = read(file(last).with_extension("complaints")).unwrap_or_default();
        let why = if ended.status.is_none() { "this does not end" } else { "this fails" };
        bail!("{why}:\n{command}\n{output}{complaints}{}", ended.output);
    }
    Ok(outputs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watchdog;

    fn typed_here(commands: &[&str]) -> Result<Vec<String>> {
        let _alone = watchdog::alone();
        typed(commands, Program::new("bash"), &std::env::temp_dir())
    }

    #[test]
    fn each_command_is_heard_by_itself_and_knows_those_before_it() {
        let outputs = typed_here(&["A=5", "echo $A; echo no >&2", "f() { echo \"$1$A\"; }", "f x"]);
        assert_eq!(outputs.expect("they run"), ["", "5\n", "", "x5\n"]);
    }

    #[test]
    fn the_command_that_fails_is_named() {
        let error = typed_here(&["echo fine", "echo what; echo why >&2; false\necho on", "echo last"])
            .expect_err("it fails");
        assert_eq!(error.to_string(), "this fails:\necho what; echo why >&2; false\necho on\nwhat\nwhy\n");
        let error = typed_here(&["exit 0", "echo last"]).expect_err("nothing is typed after it");
        assert!(error.to_string().contains("exit 0"), "{error}");
    }
}
