//! A program as one visible step: what is run, how long it took, how to repeat it.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::{process, watchdog, workspace};

/// A command line with its environment; prints as something one can paste into a shell.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    words: Vec<String>,
    env: Vec<(String, String)>,
    folder: PathBuf,
}

impl Program {
    pub(crate) fn new(line: &str) -> Self {
        let words = line.split_whitespace().map(str::to_owned).collect();
        Self { words, env: Vec::new(), folder: workspace::root() }
    }

    pub(crate) fn arg(mut self, word: impl Into<String>) -> Self {
        self.words.push(word.into());
        self
    }

    pub(crate) fn args(mut self, words: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.words.extend(words.into_iter().map(Into::into));
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// What a variable is set to, if it is.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.env.iter().rfind(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn folder(mut self, folder: &Path) -> Self {
        self.folder = folder.to_path_buf();
        self
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(self.words.first().map_or("", String::as_str));
        for (name, _) in std::env::vars_os() {
            if is_of_our_package(&name.to_string_lossy()) {
                command.env_remove(name);
            }
        }
        command.args(self.words.iter().skip(1)).envs(self.env.iter().map(|(name, value)| (name, value)));
        command.current_dir(&self.folder);
        command
    }

    /// Runs it with its output shown; anything but success is an error that names the command.
    pub(crate) fn run(&self) -> Result<()> {
        let mut child = process::start(self, Stdio::inherit(), Stdio::inherit())?;
        match process::wait(&mut child, self)? {
            Some(status) if status.success() => Ok(()),
            Some(status) => bail!("`{self}` ended with {status}"),
            None => bail!("`{self}` took too long and was ended"),
        }
    }

    /// The same for a program that may ask the person at the keyboard something, such as a password.
    pub(crate) fn ask(&self) -> Result<()> {
        let status = self.command().status().with_context(|| format!("`{self}` could not be started"))?;
        if !status.success() {
            bail!("`{self}` ended with {status}");
        }
        Ok(())
    }

    /// Runs it silently and returns its standard output.
    pub(crate) fn read(&self) -> Result<String> {
        let output = self.command().stderr(Stdio::inherit()).output();
        let output = output.with_context(|| format!("`{self}` could not be started"))?;
        if !output.status.success() {
            bail!("`{self}` ended with {}", output.status);
        }
        String::from_utf8(output.stdout)
            .with_context(|| format!("`{self}` printed something that is no text"))
    }
}

/// What `cargo run` tells xtask about xtask. The build script of ring is run again when one of these changes: with
/// them, a build from here and one from a shell would each build everything above ring anew.
fn is_of_our_package(name: &str) -> bool {
    ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|start| name.starts_with(start))
}

impl fmt::Display for Program {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.env {
            write!(out, "{name}={value} ")?;
        }
        write!(out, "{}", self.words.join(" "))
    }
}

/// Numbers the steps of a longer run and times each.
#[derive(Debug)]
pub(crate) struct Steps {
    total: usize,
    begun: usize,
    started: Instant,
}

impl Steps {
    pub(crate) fn new(total: usize) -> Self {
        Self { total, begun: 0, started: Instant::now() }
    }

    /// Runs `work` as the next step; its error is extended by the command that repeats the step. At twice the budget
    /// everything that the step runs is ended.
    pub(crate) fn step<T>(
        &mut self,
        title: &str,
        budget: Duration,
        repeat: &str,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        self.begun += 1;
        let place = format!("[{}/{}]", self.begun, self.total);
        println!("\n{place} {title}: {repeat}");
        std::io::stdout().flush()?;
        let started = Instant::now();
        let outcome = watchdog::guard(title, budget, work);
        let seconds = started.elapsed().as_secs_f64();
        match outcome {
            Ok(value) => {
                println!("{place} {title}: ok in {seconds:.1} s");
                Ok(value)
            }
            Err(error) => {
                println!("{place} {title}: FAILED after {seconds:.1} s");
                Err(error.context(format!("step {place} {title} failed; repeat it with: {repeat}")))
            }
        }
    }

    pub(crate) fn run(&mut self, title: &str, budget: Duration, program: &Program) -> Result<()> {
        self.step(title, budget, &program.to_string(), || program.run())
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_names_the_command_to_repeat_it() {
        let _alone = watchdog::alone();
        let mut steps = Steps::new(1);
        let error = steps
            .run("nothing good", Duration::from_secs(60), &Program::new("false"))
            .expect_err("false never succeeds");
        assert!(format!("{error:#}").contains("repeat it with: false"), "{error:#}");
    }

    #[test]
    fn a_build_from_here_is_the_build_from_a_shell() {
        let told = Program::new("env").read().expect("env is everywhere");
        let ours: Vec<&str> = told.lines().filter(|line| is_of_our_package(line)).collect();
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some(), "cargo tells a test about its package");
        assert!(ours.is_empty(), "{ours:?}");
    }

    #[test]
    fn a_program_prints_as_one_would_type_it() {
        let program = Program::new("cargo test -p onsale").env("ONSALE_BIN", "target/release/onsale");
        assert_eq!(program.to_string(), "ONSALE_BIN=target/release/onsale cargo test -p onsale");
    }
}
