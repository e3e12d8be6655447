//! A raw HTTP/1.1 keep-alive client: it knows whether a request was sent and whether an answer came, and no more.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

use crate::document::{self, Seen};

/// Longer than any answer of a healthy server.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Wire {
    stream: TcpStream,
    read: Vec<u8>,
}

#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// It must be one that the document describes.
    pub(crate) fn check(&self, request: &[u8]) {
        let headers = self.head.lines().filter_map(|line| line.split_once(':'));
        let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim())).collect();
        document::check(request, &Seen { status: self.status, headers, body: &self.body });
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// A request as it goes over the wire.
pub(crate) fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let mut text =
        format!("{method} {path} HTTP/1.1\r\nhost: onsale\r\nauthorization: Bearer {}\r\n", crate::KEY);
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    if !body.is_empty() {
        text.push_str("content-type: application/json\r\n");
    }
    text.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
    text.into_bytes()
}

impl Wire {
    pub(crate) fn connect(address: SocketAddr) -> io::Result<Wire> {
        let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Wire { stream, read: Vec::new() })
    }

    pub(crate) fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.stream.write_all(request)
    }

    /// Reads one answer with a content-length.
    pub(crate) fn receive(&mut self) -> io::Result<Answer> {
        let end = loop {
            if let Some(at) = self.read.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            self.more()?;
        };
        let head = String::from_utf8_lossy(&self.read[..end]).into_owned();
        let status = head.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0);
        let mut answer = Answer { status, head, body: Vec::new() };
        let length: usize = answer.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
        while self.read.len() < end + length {
            self.more()?;
        }
        answer.body = self.read[end..end + length].to_vec();
        self.read.drain(..end + length);
        Ok(answer)
    }

    /// Reads whatever comes next, for streams that have no end.
    pub(crate) fn receive_some(&mut self) -> io::Result<String> {
        self.more()?;
        Ok(String::from_utf8_lossy(&std::mem::take(&mut self.read)).into_owned())
    }

    pub(crate) fn exchange(&mut self, request: &[u8]) -> io::Result<Answer> {
        self.send(request)?;
        let answer = self.receive()?;
        answer.check(request);
        Ok(answer)
    }

    fn more(&mut self) -> io::Result<()> {
        let mut buffer = [0; 64 << 10];
        let count = self.stream.read(&mut buffer)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.read.extend_from_slice(&buffer[..count]);
        Ok(())
    }
}
