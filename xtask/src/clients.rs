//! `cargo xtask clients`: the OpenAPI document as strangers use it. It is linted, clients in two languages are made
//! from it, type-checked and run against a server, and what `docs/clients.md` says is typed as it is written.

mod lint;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::pages::page::Page;
use crate::pages::server::Server;
use crate::step::{Program, Steps};
use crate::{install, process, programs, workspace};

/// Building the server from nothing.
const BUILD: Duration = Duration::from_secs(900);
/// A quarter of a minute of work on two quiet cores.
pub(crate) const CLIENTS: Duration = Duration::from_secs(120);
/// Each program takes some seconds; the step's own end comes first.
const BOUND: Duration = Duration::from_secs(240);

pub(crate) const REPEAT: &str = "cargo xtask clients";

const PAGE: &str = "docs/clients.md";
/// Where the page's server is; the one here has another port.
const WRITTEN: &str = "127.0.0.1:7070";

pub(crate) fn run() -> Result<()> {
    let mut steps = Steps::new(3);
    steps.step("tools", BUILD, "cargo xtask tools", install::for_clients)?;
    steps.run("build", BUILD, &Program::new("cargo build --workspace --bin onsale"))?;
    steps.step("clients", CLIENTS, REPEAT, check)
}

/// Everything, with the binary that the build has made.
pub(crate) fn check() -> Result<()> {
    let document = document()?;
    let text = std::fs::read_to_string(&document).context("reading the document")?;
    let described: Value = serde_json::from_str(&text).context("the document is no JSON")?;
    let lints = lint::errors(&document)?;
    let bare = lint::without_example(&described);
    lints.iter().for_each(|line| println!("  {line}"));
    bare.iter().for_each(|line| println!("  without an example: {line}"));
    println!("  openapi_lint_errors: {}", lints.len());
    println!("  openapi_without_example: {}", bare.len());
    if !(lints.is_empty() && bare.is_empty()) {
        bail!("the OpenAPI document has {} errors, {} operations lack an example", lints.len(), bare.len());
    }
    typescript_made(&document)?;
    python_made(&document)?;
    let server = Server::start()?;
    typescript_run(&server)?;
    python_run(&server)?;
    page_typed(&server)
}

/// `docs/clients.md`, with the tools that the clients above were made with.
fn page_typed(server: &Server) -> Result<()> {
    let text = std::fs::read_to_string(workspace::root().join(PAGE)).context(PAGE)?;
    let text = text.replace(WRITTEN, &server.address);
    let folder = server.folder.path().join("page");
    std::fs::create_dir_all(&folder)?;
    let modules = typescript().join("node_modules");
    std::os::unix::fs::symlink(&modules, folder.join("node_modules")).context("the page's node_modules")?;
    let said = Page::read(PAGE, &text)?.type_in(&folder, with_generator(Program::new("bash"))?)?;
    let wrong: Vec<String> = said.into_iter().filter_map(|one| one.complaint).collect();
    if !wrong.is_empty() {
        bail!("{}", wrong.join("\n"));
    }
    Ok(())
}

/// What `onsale openapi` prints, where `web/client` looks for it.
fn document() -> Result<PathBuf> {
    let file = workspace::target().join("openapi.json");
    let onsale = programs::binary("onsale").display().to_string();
    let text = Program::new("").arg(onsale).arg("openapi").read()?;
    std::fs::write(&file, text).with_context(|| format!("writing {}", file.display()))?;
    Ok(file)
}

/// The folder of the client in TypeScript: the hand-written half is committed, the other half is made here.
fn typescript() -> PathBuf {
    workspace::root().join("web").join("client")
}

/// What the client in Python is made into.
fn python() -> PathBuf {
    workspace::target().join("clients").join("python")
}

fn npm_program(name: &str) -> Program {
    let program = typescript().join("node_modules").join(".bin").join(name);
    Program::new("").arg(program.display().to_string()).folder(&typescript()).env("REDOCLY_TELEMETRY", "off")
}

/// Python that finds the generator, and the programs that the generator calls.
fn with_generator(program: Program) -> Result<Program> {
    let libraries = install::openapi_python_client();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path =
        std::env::join_paths(std::iter::once(libraries.join("bin")).chain(std::env::split_paths(&path)))?;
    let found = std::env::join_paths([python(), libraries])?;
    let program = program.env("PATH", path.to_string_lossy()).env("PYTHONPATH", found.to_string_lossy());
    // What is installed stays as it was installed.
    Ok(program.env("PYTHONDONTWRITEBYTECODE", "1"))
}

fn typescript_made(document: &Path) -> Result<()> {
    let made = typescript().join("src").join("generated").join("schema.d.ts");
    let generator = npm_program("openapi-typescript").arg(document.display().to_string());
    succeed("openapi-typescript", &generator.arg("--output").arg(made.display().to_string()))?;
    succeed("tsc", &npm_program("tsc"))
}

fn typescript_run(server: &Server) -> Result<()> {
    let tests = Program::new("node --test dist/test/").folder(&typescript());
    succeed("the client in TypeScript", &server.known_to(tests))
}

fn python_made(document: &Path) -> Result<()> {
    let folder = workspace::root().join("web").join("python");
    let package = python().join("onsale_client");
    let generate = Program::new("python3 -m openapi_python_client generate --overwrite --meta none")
        .args(["--fail-on-warning", "--config", &folder.join("generator.yaml").display().to_string()])
        .args(["--path", &document.display().to_string()])
        .args(["--output-path", &package.display().to_string()]);
    std::fs::create_dir_all(python())?;
    succeed("openapi-python-client", &with_generator(generate)?)?;
    // The generator's own code is not strict; ours and how it uses what was generated is.
    let cache = workspace::target().join("clients").join("mypy");
    let check = Program::new("python3 -m mypy --strict --follow-imports silent --cache-dir")
        .arg(cache.display().to_string())
        .arg(folder.join("holds.py").display().to_string())
        .env("MYPYPATH", python().display().to_string());
    succeed("mypy", &with_generator(check)?)
}

fn python_run(server: &Server) -> Result<()> {
    let script = workspace::root().join("web").join("python").join("holds.py");
    let program = Program::new("python3").arg(script.display().to_string());
    succeed("the client in Python", &server.known_to(with_generator(program)?))
}

/// Runs a program to its end; what it has said is shown only if it fails.
fn succeed(title: &str, program: &Program) -> Result<()> {
    let ended = process::bounded(program, BOUND, None)?;
    match ended.status {
        Some(status) if status.success() => {
            println!("  {title}: {:.1} s", ended.took.as_secs_f64());
            Ok(())
        }
        Some(status) => bail!("{title} ended with {status}\n{}\nrepeat it with: {program}", ended.output),
        None => bail!("{title} took too long\n{}", ended.report),
    }
}
