//! A page of the documentation as something to be typed: its files are made, its commands run in their order, and what
//! it says they print is what they print. Only what it installs is compared instead, with what is installed here.

use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::shape::{ANYTHING, Names};
use super::{server::Start, shell};
use crate::step::Program;
use crate::{install, programs, workspace};

const FENCE: &str = "\n```";

/// A fenced block of the page; where its text is.
#[derive(Debug, PartialEq, Eq)]
enum Block<'a> {
    /// Commands that fetch something: `sh install`.
    Install,
    /// The command that starts the servers which all others talk to: `sh start`.
    Start,
    Commands,
    /// What the commands before it print.
    Output,
    /// Commands after `$ `, each with what it prints under it.
    Console,
    /// A file with its name.
    File(&'a str),
}

/// A command, and where in the page stands what it prints; a command of `sh` may say nothing about that.
#[derive(Debug, PartialEq, Eq)]
struct Entry<'a> {
    command: &'a str,
    printed: Option<Range<usize>>,
}

#[derive(Debug)]
pub(crate) struct Page<'a> {
    name: &'a str,
    text: &'a str,
    files: Vec<(&'a str, &'a str)>,
    entries: Vec<Entry<'a>>,
}

/// What a command has printed, and what is wrong with what the page says of that.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    printed: String,
    pub complaint: Option<String>,
}

/// Which servers a page wants.
pub(crate) fn start(name: &str, text: &str) -> Result<Start> {
    let found = blocks(text).with_context(|| name.to_owned())?;
    let wanted = found.iter().find(|(block, _)| *block == Block::Start);
    let (_, at) = wanted.with_context(|| format!("{name} does not say what starts its server"))?;
    let line = text[at.clone()].lines().last().unwrap_or_default();
    Start::of(line).with_context(|| format!("{name}: `{line}` starts nothing that is known here"))
}

impl<'a> Page<'a> {
    pub(crate) fn read(name: &'a str, text: &'a str) -> Result<Self> {
        let mut page = Self { name, text, files: Vec::new(), entries: Vec::new() };
        for (block, at) in blocks(text).with_context(|| name.to_owned())? {
            let inside = &text[at.clone()];
            match block {
                Block::Install => installed(name, inside)?,
                Block::Start => {}
                Block::File(file) => page.files.push((file, inside)),
                Block::Commands => page.entries.push(Entry { command: inside, printed: None }),
                Block::Output => {
                    let last = page.entries.last_mut().filter(|last| last.printed.is_none());
                    last.with_context(|| format!("{name}: what prints this?\n{inside}"))?.printed = Some(at);
                }
                Block::Console => page.entries.extend(console(text, at).with_context(|| name.to_owned())?),
            }
        }
        Ok(page)
    }

    /// Types everything in `folder`.
    pub(crate) fn type_in(&self, folder: &Path, shell: Program) -> Result<Vec<CommandOutput>> {
        for (name, text) in &self.files {
            std::fs::write(folder.join(name), text).with_context(|| format!("{}: {name}", self.name))?;
        }
        let commands: Vec<&str> = self.entries.iter().map(|entry| entry.command).collect();
        let begun = std::time::Instant::now();
        let outputs =
            shell::typed(&commands, with_onsale(shell)?, folder).with_context(|| self.name.to_owned())?;
        let mut names = Names::default();
        commands.iter().for_each(|command| names.typed(command));
        let mut said = Vec::new();
        for (entry, printed) in self.entries.iter().zip(outputs) {
            let written = entry.printed.clone().map(|at| &self.text[at]);
            let complaint = written.filter(|written| !names.are_same(written, &printed)).map(|written| {
                let (name, command) = (self.name, entry.command.trim_end());
                format!("{name}: {command}\nis said to print\n{written}\nbut prints\n{printed}")
            });
            said.push(CommandOutput { printed, complaint });
        }
        let seconds = begun.elapsed().as_secs_f64();
        println!("  {}: {} commands in {seconds:.1} s", self.name, commands.len());
        Ok(said)
    }

    /// The page with what was printed, if it says something else anywhere: ids that belong together come from one run.
    /// Only what has `…` and is true stays as somebody has shortened it.
    pub(crate) fn with(&self, said: &[CommandOutput]) -> String {
        let mut text = self.text.to_owned();
        if said.iter().all(|one| one.complaint.is_none()) {
            return text;
        }
        for (entry, one) in self.entries.iter().zip(said).rev() {
            let Some(at) = &entry.printed else { continue };
            let written = &self.text[at.clone()];
            if one.complaint.is_some() || !written.contains(ANYTHING) {
                let (line, blank) = (one.printed.trim_end(), written.ends_with("\n\n"));
                let line = if line.is_empty() { String::new() } else { format!("{line}\n") };
                text.replace_range(at.clone(), &(line + if blank { "\n" } else { "" }));
            }
        }
        text
    }
}

/// The page calls `onsale` as one who has it on the path.
fn with_onsale(shell: Program) -> Result<Program> {
    let binary = programs::binary("onsale");
    let folder = binary.parent().context("the binary has a folder")?;
    let around = std::env::var_os("PATH").unwrap_or_default();
    let before = shell.variable("PATH").map_or(around, Into::into);
    let path =
        std::env::join_paths(std::iter::once(folder.to_path_buf()).chain(std::env::split_paths(&before)))?;
    Ok(shell.env("PATH", path.to_string_lossy()))
}

/// Every `name@version` and `name==version` that the page installs is the one that is tried here.
fn installed(page: &str, lines: &str) -> Result<()> {
    let lock = workspace::root().join("web").join("client").join("package-lock.json");
    let lock: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(lock)?)?;
    let pins = std::fs::read_to_string(install::python_pins())?;
    for word in lines.split_whitespace() {
        let same = if word.contains("==") {
            pins.lines().any(|pin| pin == word)
        } else if let Some((name, version)) = word.rsplit_once('@').filter(|(name, _)| !name.is_empty()) {
            lock["packages"][format!("node_modules/{name}")]["version"] == version
        } else {
            continue;
        };
        if !same {
            bail!("{page} installs {word}, which is not the version that is tried here");
        }
    }
    Ok(())
}

fn blocks(page: &str) -> Result<Vec<(Block<'_>, Range<usize>)>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(fence) = page[at..].find(FENCE) {
        let opened = at + fence + FENCE.len();
        let info = page[opened..].lines().next().unwrap_or_default();
        let begin = opened + info.len() + 1;
        // A block without a line closes where it opens.
        let inside = page.get(begin - 1..).with_context(|| format!("`{info}` is not closed"))?;
        let end = begin + inside.find(FENCE).with_context(|| format!("`{info}` is not closed"))?;
        let mut words = info.split(' ');
        let block = match (words.next(), words.next()) {
            (Some("sh"), None) => Block::Commands,
            (Some("sh"), Some("install")) => Block::Install,
            (Some("sh"), Some("start")) => Block::Start,
            (Some("text"), None) => Block::Output,
            (Some("console"), None) => Block::Console,
            (Some(_), Some(name)) => Block::File(name),
            _ => bail!("nobody knows what to do with a block of `{info}`"),
        };
        found.push((block, begin..end));
        at = end - 1 + FENCE.len();
    }
    Ok(found)
}

/// The commands of a console. One goes on in the next line after `\`, and while a quote of its is open.
fn console(page: &str, block: Range<usize>) -> Result<Vec<Entry<'_>>> {
    let mut found: Vec<Entry<'_>> = Vec::new();
    let mut at = block.start;
    let mut goes_on = false;
    for line in page[block.clone()].split_inclusive('\n') {
        let next = at + line.len();
        if goes_on {
            // The command is one piece of the page, from its first line to this one.
            let last = found.last_mut().context("a command")?;
            let begin = at - last.command.len();
            last.command = &page[begin..next];
            last.printed = Some(next..next);
        } else if let Some(command) = line.strip_prefix("$ ") {
            found.push(Entry { command, printed: Some(next..next) });
        } else {
            let last = found.last_mut().with_context(|| format!("what prints `{line}`?"))?;
            last.printed = last.printed.take().map(|printed| printed.start..next);
        }
        let last = found.last().filter(|last| last.printed == Some(next..next));
        goes_on = last.is_some_and(|last| {
            last.command.ends_with("\\\n") || last.command.matches('\'').count() % 2 == 1
        });
        at = next;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_files_commands_and_what_they_print() {
        let page = "# Page\n\n```sh install\nnpm install a@1\n```\nthen\n```ts hold.ts\nlet a = 1;\nlet b;\n```\n\n```sh\nnode a\n```\n```text\n1\n```\n";
        let found = blocks(page).expect("blocks");
        let found: Vec<_> = found.into_iter().map(|(block, at)| (block, &page[at])).collect();
        assert_eq!(
            found,
            [
                (Block::Install, "npm install a@1\n"),
                (Block::File("hold.ts"), "let a = 1;\nlet b;\n"),
                (Block::Commands, "node a\n"),
                (Block::Output, "1\n"),
            ]
        );
        assert!(blocks("\n```json\n{}\n```\n").is_err(), "a file has a name");
        assert!(blocks("\n```sh\nrm\n").is_err(), "a block has an end");
    }

    #[test]
    fn a_console_has_what_each_command_prints_under_it() {
        let page = "\n```console\n$ A='{\"a\":1,\n  \"b\":2}'\n$ curl \\\n    $A\n1\n2\n\n$ true\n```\n";
        let read = Page::read("page", page).expect("a page");
        let told: Vec<_> = read
            .entries
            .iter()
            .map(|entry| (entry.command, &page[entry.printed.clone().expect("a place")]))
            .collect();
        assert_eq!(
            told,
            [("A='{\"a\":1,\n  \"b\":2}'\n", ""), ("curl \\\n    $A\n", "1\n2\n\n"), ("true\n", "")]
        );
        assert!(Page::read("page", "\n```console\n1\n```\n").is_err(), "nothing has printed it");
        assert!(Page::read("page", "\n```text\n1\n```\n").is_err(), "nothing has printed it");
    }

    #[test]
    fn a_page_gets_what_was_printed_where_it_says_something_else() {
        let page = "\n```console\n$ a\n1\n\n$ b\n2 …\n$ c\n```\n";
        let read = Page::read("page", page).expect("a page");
        let said = |printed: &str, wrong: bool| CommandOutput {
            printed: printed.to_owned(),
            complaint: wrong.then(|| "wrong".to_owned()),
        };
        let with = read.with(&[said("one\n", true), said("2 two\n", false), said("three\n", true)]);
        assert_eq!(with, "\n```console\n$ a\none\n\n$ b\n2 …\n$ c\nthree\n```\n");
        assert_eq!(read.with(&[said("1", false), said("2 two", false), said("", false)]), page);
    }

    #[test]
    fn a_page_says_what_starts_its_servers() {
        let page = |line: &str| format!("# Page\n```sh start\ncd onsale\n{line}\n```\n");
        assert_eq!(start("page", &page("cargo xtask run")).expect("one"), Start::Demo);
        assert_eq!(start("page", &page("cargo xtask run --redis")).expect("two"), Start::Redis);
        assert!(start("page", &page("cargo xtask walk")).is_err());
        assert!(start("page", "# Page\n").is_err());
    }

    #[test]
    fn what_is_installed_is_what_is_tried() {
        assert!(installed("page", "npm install openapi-fetch@0.17.0\n").is_ok());
        let error = installed("page", "npm install openapi-fetch@0.16.0\n").expect_err("another version");
        assert!(error.to_string().contains("openapi-fetch@0.16.0"), "{error}");
        assert!(installed("page", "python3 -m pip install openapi-python-client==0.29.1\n").is_ok());
        assert!(installed("page", "python3 -m pip install openapi-python-client==0.20.0\n").is_err());
    }
}
