//! Reads an HTTP answer out of a buffer: the status line, the content-length, nothing it does not need.

use anyhow::{Context, Result, bail};

/// One complete answer; it borrows from the connection's buffer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer<'a> {
    pub status: u16,
    /// Status line and headers, without the empty line.
    pub head: &'a [u8],
    pub body: &'a [u8],
}

impl<'a> Answer<'a> {
    /// The answer at the start of `bytes` and its length, or nothing while parts of it are missing.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Option<(Self, usize)>> {
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { return Ok(None) };
        let head = &bytes[..end];
        let status = head.get(9..12).and_then(|digits| std::str::from_utf8(digits).ok());
        let status = status.and_then(|digits| digits.parse().ok()).context("no HTTP status line")?;
        let length = match header(head, b"content-length") {
            Some(value) => std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()),
            None if status == 204 || status == 304 => Some(0),
            None => bail!("an answer without content-length: {}", String::from_utf8_lossy(head)),
        };
        let length: usize = length.context("content-length is no number")?;
        let whole = end + 4 + length;
        Ok(bytes.get(end + 4..whole).map(|body| (Self { status, head, body }, whole)))
    }

    #[cfg_attr(not(test), expect(dead_code, reason = "our own server answers with a token in a header"))]
    pub(crate) fn header(&self, name: &[u8]) -> Option<&'a [u8]> {
        header(self.head, name)
    }
}

/// `name` in lower case.
fn header<'a>(head: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    head.split(|byte| *byte == b'\n').skip(1).find_map(|line| {
        let (found, value) = line.split_at_checked(name.len())?;
        let value = value.strip_prefix(b":")?;
        found.eq_ignore_ascii_case(name).then(|| value.trim_ascii())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &[u8] = b"HTTP/1.1 201 Created\r\nHold-Token: a.1.b\r\nContent-Length: 2\r\n\r\n{}HTTP";

    #[test]
    fn an_answer_ends_where_its_length_says() {
        let (answer, length) = Answer::parse(WHOLE).expect("a good answer").expect("a whole one");
        assert_eq!((answer.status, answer.body, length), (201, &b"{}"[..], WHOLE.len() - 4));
        assert_eq!(answer.header(b"hold-token"), Some(&b"a.1.b"[..]));
    }

    #[test]
    fn every_shorter_part_is_waited_for() {
        for length in 0..WHOLE.len() - 4 {
            assert_eq!(Answer::parse(&WHOLE[..length]).expect("no error"), None, "{length} bytes");
        }
    }

    #[test]
    fn no_length_is_an_error_unless_there_is_no_body() {
        assert!(Answer::parse(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
        assert!(Answer::parse(b"HTTP/1.1 204 No Content\r\n\r\n").expect("fine").is_some());
    }
}
