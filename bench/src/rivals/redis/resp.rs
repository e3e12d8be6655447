//! Redis' protocol, as much of it as the seat lock needs.

use anyhow::{Context, Result, bail};

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Integer(i64),
    Text(String),
    List(Vec<Reply>),
    Nothing,
}

impl Reply {
    pub(crate) fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Text(text) => text.parse().ok(),
            Self::List(_) | Self::Nothing => None,
        }
    }
}

/// Appends one command.
pub(crate) fn command<'a>(
    into: &mut Vec<u8>,
    words: impl IntoIterator<Item = &'a str, IntoIter: ExactSizeIterator>,
) {
    let words = words.into_iter();
    length(into, b'*', words.len());
    for word in words {
        length(into, b'$', word.len());
        into.extend_from_slice(word.as_bytes());
        into.extend_from_slice(b"\r\n");
    }
}

fn length(into: &mut Vec<u8>, kind: u8, length: usize) {
    into.push(kind);
    into.extend_from_slice(length.to_string().as_bytes());
    into.extend_from_slice(b"\r\n");
}

/// The reply at the start of `bytes` and its length, or nothing while parts of it are missing. `-ERR` is an error.
pub(crate) fn parse(bytes: &[u8]) -> Result<Option<(Reply, usize)>> {
    let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") else { return Ok(None) };
    let line = std::str::from_utf8(&bytes[..end]).context("a reply that is no text")?;
    let (kind, rest) = line.split_at_checked(1).context("an empty reply")?;
    let after = end + 2;
    let number = || rest.parse::<i64>().with_context(|| format!("a reply `{line}`"));
    match kind {
        ":" => Ok(Some((Reply::Integer(number()?), after))),
        "+" => Ok(Some((Reply::Text(rest.to_owned()), after))),
        "-" => bail!("redis answered: {rest}"),
        "$" => {
            let Ok(length) = usize::try_from(number()?) else { return Ok(Some((Reply::Nothing, after))) };
            let Some(text) = bytes.get(after..after + length + 2) else { return Ok(None) };
            Ok(Some((Reply::Text(String::from_utf8_lossy(&text[..length]).into_owned()), after + length + 2)))
        }
        "*" => {
            let Ok(count) = usize::try_from(number()?) else { return Ok(Some((Reply::Nothing, after))) };
            let mut list = Vec::with_capacity(count.min(16));
            let mut at = after;
            for _ in 0..count {
                let Some((reply, length)) = parse(&bytes[at..])? else { return Ok(None) };
                list.push(reply);
                at += length;
            }
            Ok(Some((Reply::List(list), at)))
        }
        _ => bail!("a reply `{line}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_a_list_of_texts() {
        let mut bytes = Vec::new();
        command(&mut bytes, ["GET", "seat"]);
        assert_eq!(bytes, b"*2\r\n$3\r\nGET\r\n$4\r\nseat\r\n");
    }

    #[test]
    fn a_reply_is_read_when_all_of_it_is_there() {
        let whole = b"*3\r\n:1\r\n$4\r\nseat\r\n$-1\r\n";
        for length in 0..whole.len() {
            assert_eq!(parse(&whole[..length]).expect("no error"), None, "{length} bytes");
        }
        let list = Reply::List(vec![Reply::Integer(1), Reply::Text("seat".into()), Reply::Nothing]);
        assert_eq!(parse(whole).expect("no error"), Some((list, whole.len())));
    }

    #[test]
    fn an_error_is_an_error() {
        assert!(parse(b"-NOSCRIPT No matching script\r\n").is_err());
    }
}
