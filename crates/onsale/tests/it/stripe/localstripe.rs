//! `localstripe` as a process of its own, which ends with the test.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::SECRET_KEY;
use crate::house::Answer;

pub(crate) struct Localstripe {
    process: Child,
    port: u16,
    pub base_url: String,
}

/// `cargo xtask tools` puts it below the build folder, and a copy of the sources may be built further down.
fn folder() -> PathBuf {
    let folders = Path::new(env!("CARGO_TARGET_TMPDIR")).ancestors();
    let found =
        folders.map(|folder| folder.join("localstripe")).find(|folder| folder.join("localstripe").is_dir());
    found.expect("localstripe is missing; `cargo xtask tools` installs it")
}

impl Localstripe {
    pub(crate) fn start() -> Localstripe {
        let mut command = Command::new("python3");
        command
            .args(["-c", include_str!("localstripe.py")])
            .env("PYTHONPATH", folder())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let mut process = onsale_reaper::spawn(&mut command).expect("python3 runs");
        let mut line = String::new();
        let output = process.stdout.take().expect("its output is ours");
        BufReader::new(output).read_line(&mut line).expect("it says its port");
        let port = line.trim().parse().unwrap_or_else(|_| panic!("localstripe does not start: {line}"));
        Localstripe { process, port, base_url: format!("http://127.0.0.1:{port}") }
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        self.send(&format!("GET {path} HTTP/1.1\r\n"), "").json()
    }

    pub(crate) fn post(&self, path: &str, form: &[(&str, &str)]) -> Answer {
        let fields: Vec<_> = form.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let body = fields.join("&");
        let answer = self.send(&format!("POST {path} HTTP/1.1\r\n"), &body);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer
    }

    /// A card whose bank wants to ask its holder.
    pub(crate) fn careful_card(&self) -> String {
        let card = [
            ("type", "card"),
            ("card[number]", "4000002500003155"),
            ("card[exp_month]", "12"),
            ("card[exp_year]", "2040"),
            ("card[cvc]", "123"),
        ];
        self.post("/v1/payment_methods", &card).json()["id"].as_str().expect("an id").to_owned()
    }

    fn send(&self, head: &str, body: &str) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("connects");
        let text = format!(
            "{head}host: x\r\nconnection: close\r\nauthorization: Bearer {SECRET_KEY}\r\ncontent-type: \
             application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(text.as_bytes()).expect("written");
        Answer::read(&mut BufReader::new(stream))
    }
}

impl Drop for Localstripe {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
