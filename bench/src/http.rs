//! A lean HTTP/1.1 keep-alive client: it takes as little of the shared cores as it can.
//! A closed loop, one request at a time on each connection; answers must carry a content-length.

mod answer;
mod drive;

pub(crate) use answer::Answer;
pub(crate) use drive::{Load, drive};

use anyhow::Result;

/// What one connection sends and makes of the answers.
pub(crate) trait Script: Send + 'static {
    /// The bytes of this connection's next request; `number` counts up from 0.
    fn request(&mut self, number: u64) -> Result<&[u8]>;

    /// Looks at the answer. An error ends the whole measurement: a load that fails measures nothing.
    fn answer(&mut self, answer: &Answer<'_>) -> Result<AnswerKind>;
}

/// Whether an answer counts as an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerKind {
    Yes,
    /// A refusal.
    No,
}

/// A whole POST request as bytes; `headers` are lines that end with `\r\n`.
pub(crate) fn post(path: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n{headers}\r\n{body}"
    )
    .into_bytes()
}
