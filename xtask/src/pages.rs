//! `cargo xtask pages`: README and the tours in `docs/tour`, typed as they are written on servers of their own, so that
//! no line of theirs says what is not so. `docs/clients.md` is typed the same way by the step that makes clients.

pub(crate) mod page;
pub(crate) mod server;
mod shape;
mod shell;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use crate::step::{Program, Steps};
use crate::{install, workspace};
use page::Page;
use server::Servers;

/// Building the server from nothing.
const BUILD: Duration = Duration::from_secs(900);
/// A quarter of a minute on two quiet cores.
pub(crate) const PAGES: Duration = Duration::from_secs(80);

pub(crate) const REPEAT: &str = "cargo xtask pages";

#[derive(clap::Args, Debug, Default)]
pub(crate) struct Options {
    /// Put what is printed into the pages where they say something else; look at the change before you keep it
    #[arg(long)]
    write: bool,
    /// Only these pages, such as `docs/tour/seats.md`
    pages: Vec<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut steps = Steps::new(3);
    steps.step("tools", BUILD, "cargo xtask tools", install::for_pages)?;
    steps.run("build", BUILD, &Program::new("cargo build --workspace --bin onsale"))?;
    steps.step("pages", PAGES, REPEAT, || typed(options))
}

/// Every page, with the binary that the build has made.
pub(crate) fn check() -> Result<()> {
    typed(&Options::default())
}

/// All pages at once: each has servers of its own, and most of its time is spent waiting for a stream or a deadline.
fn typed(options: &Options) -> Result<()> {
    let pages = if options.pages.is_empty() { all()? } else { options.pages.clone() };
    let complaints = std::thread::scope(|scope| -> Result<Vec<String>> {
        let threads: Vec<_> = pages.iter().map(|page| scope.spawn(|| one(page, options.write))).collect();
        let mut complaints = Vec::new();
        for thread in threads {
            let heard = thread.join().map_err(|_| anyhow!("the thread of a page has panicked"))?;
            // A page that cannot be typed at all is no reason to say nothing of the others.
            complaints.extend(heard.unwrap_or_else(|error| vec![format!("{error:#}")]));
        }
        Ok(complaints)
    })?;
    if !complaints.is_empty() {
        bail!("{}\n`{REPEAT} --write` puts what is printed into the pages", complaints.join("\n"));
    }
    Ok(())
}

/// What is wrong with one page, unless it is to be written.
fn one(page: &Path, write: bool) -> Result<Vec<String>> {
    let name = page.display().to_string();
    let file = workspace::root().join(page);
    let text = std::fs::read_to_string(&file).with_context(|| name.clone())?;
    let servers = Servers::start(page::start(&name, &text)?)?;
    let text = servers.here(&text);
    let page = Page::read(&name, &text)?;
    let folder = servers.folder().join("page");
    std::fs::create_dir_all(&folder)?;
    let said = page.type_in(&folder, Program::new("bash"))?;
    if write {
        std::fs::write(&file, servers.written(&page.with(&said))).with_context(|| name.clone())?;
        return Ok(Vec::new());
    }
    Ok(said.into_iter().filter_map(|one| one.complaint).collect())
}

/// README and every tour, by name.
fn all() -> Result<Vec<PathBuf>> {
    let tours = PathBuf::from("docs").join("tour");
    let mut pages = vec![PathBuf::from("README.md")];
    for entry in std::fs::read_dir(workspace::root().join(&tours)).context("the tours")? {
        pages.push(tours.join(entry?.file_name()));
    }
    pages.sort();
    Ok(pages)
}
