//! The ceiling of any axum server here: a handler that reads a small JSON body and decides nothing.
//! Runs as a process of its own, like the real server.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use axum::{Json, Router, http::StatusCode, routing::post};
use serde::{Deserialize, Serialize};

use crate::contest::{Contestant, Round};
use crate::http::{Answer, AnswerKind, Load, Script, drive, post as post_bytes};
use crate::process::Running;

const CONNECTIONS: usize = 64;
const PATH: &str = "/v1/events/evt_1/holds";
const BODY: &str = r#"{"seats":["A-12-7"]}"#;

#[derive(Debug, Default)]
pub(crate) struct TrivialPost {
    server: Option<(Running, std::net::SocketAddr)>,
}

impl Contestant for TrivialPost {
    fn subject(&self) -> String {
        "trivial_post".to_owned()
    }

    fn prepare(&mut self) -> Result<()> {
        let mut command = Command::new(std::env::current_exe().context("our own path")?);
        command.arg("trivial-server").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = Running::start(&mut command, "-TERM")?;
        let output = server.child().stdout.take().context("the server's output")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).context("the server's address")?;
        let address = line.trim().parse().context("the server's address")?;
        self.server = Some((server, address));
        Ok(())
    }

    fn round(&mut self, length: Duration) -> Result<Round> {
        let (_, address) = self.server.as_ref().context("not prepared")?;
        let load = Load { address: *address, connections: CONNECTIONS, threads: 1, length };
        let outcome = drive(&load, |_| Same(post_bytes(PATH, "", BODY)))?;
        Ok(outcome.latency.round(outcome.counted, outcome.took))
    }
}

/// The same request again and again.
struct Same(Vec<u8>);

impl Script for Same {
    fn request(&mut self, _number: u64) -> Result<&[u8]> {
        Ok(&self.0)
    }

    fn answer(&mut self, answer: &Answer<'_>) -> Result<AnswerKind> {
        ensure!(answer.status == 201, "the empty handler answered {}", answer.status);
        Ok(AnswerKind::Yes)
    }
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "read from the body, as a real handler would, and then not used")]
struct Hold {
    seats: Vec<String>,
}

#[derive(Serialize)]
struct HoldAnswer {
    hold: &'static str,
    until: u64,
}

/// Prints its address and serves until its standard input closes, so that it never outlives the bench.
pub(crate) fn serve() -> Result<()> {
    std::thread::spawn(|| {
        let mut nothing = Vec::new();
        let _ = std::io::stdin().read_to_end(&mut nothing);
        std::process::exit(0);
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener =
            tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.context("binding a free port")?;
        println!("{}", listener.local_addr()?);
        axum::serve(listener, Router::new().route(PATH, post(hold))).await.context("serving")
    })
}

async fn hold(Json(_hold): Json<Hold>) -> (StatusCode, Json<HoldAnswer>) {
    (StatusCode::CREATED, Json(HoldAnswer { hold: "hld_1", until: 1_800_000_000_000 }))
}
