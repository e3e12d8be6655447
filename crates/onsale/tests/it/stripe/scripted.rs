//! A Stripe that says what it is told to, one answer for each request, and writes down what it was asked.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::house::read_head;

/// What happens to one request.
#[derive(Clone, Debug)]
pub(crate) enum ScriptedAnswer {
    Says(u16, Value),
    /// The same with one more header.
    With(u16, &'static str, Value),
    /// The connection is closed without a word.
    Hangs,
}

#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    /// `POST /v1/refunds`.
    pub line: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl ReceivedRequest {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

pub(crate) struct Scripted {
    pub base_url: String,
    asked: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl Scripted {
    pub(crate) fn play(turns: Vec<ScriptedAnswer>) -> Scripted {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let base_url = format!("http://{}", listener.local_addr().expect("an address"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        std::thread::spawn({
            let asked = asked.clone();
            let mut turns = VecDeque::from(turns);
            move || {
                while let Some(turn) = turns.pop_front() {
                    let Ok((stream, _)) = listener.accept() else { return };
                    take(stream, &turn, &asked);
                }
            }
        });
        Scripted { base_url, asked }
    }

    pub(crate) fn asked(&self) -> Vec<ReceivedRequest> {
        self.asked.lock().expect("no panic before").clone()
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.line).collect()
    }
}

fn take(stream: TcpStream, turn: &ScriptedAnswer, asked: &Mutex<Vec<ReceivedRequest>>) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).expect("a request");
    let line = line.trim_end().trim_end_matches(" HTTP/1.1").to_owned();
    // The head of a request reads like that of an answer whose first line is gone.
    let (_, headers) = read_head(&mut BufReader::new("HTTP/1.1 200 OK\r\n".as_bytes()).chain(&mut reader));
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().expect("a number"))];
    reader.read_exact(&mut body).expect("the whole body");
    let body = String::from_utf8(body).expect("text");
    asked.lock().expect("no panic before").push(ReceivedRequest { line, headers, body });
    let (status, header, body) = match turn {
        ScriptedAnswer::Says(status, body) => (*status, "x-nothing: 1", body),
        ScriptedAnswer::With(status, header, body) => (*status, *header, body),
        ScriptedAnswer::Hangs => return,
    };
    let body = body.to_string();
    let text = format!(
        "HTTP/1.1 {status} X\r\n{header}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let _ = reader.into_inner().write_all(text.as_bytes());
}
