//! hyper answers by itself, with an empty body, when it cannot read a request's head. Such an answer is known here by
//! its bytes, so that ours can take its place; one that is not recognized goes out as it is.

/// hyper's own answers have a status line and three short headers.
const OWN_BYTES_MAX: usize = 256;

/// The status, if this is an answer that hyper made by itself. Every "no" of ours has a body.
pub(super) fn status(bytes: &[u8]) -> Option<u16> {
    let status = match bytes.strip_prefix(b"HTTP/1.1 ")?.get(..4)? {
        b"400 " => 400,
        b"414 " => 414,
        b"431 " => 431,
        _ => return None,
    };
    let whole = bytes.len() <= OWN_BYTES_MAX && bytes.ends_with(b"\r\n\r\n");
    let head = if whole { std::str::from_utf8(bytes).ok()? } else { return None };
    let says = |line: &str| head.lines().any(|known| known.eq_ignore_ascii_case(line));
    (says("content-length: 0") && says("connection: close")).then_some(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_empty_no_that_ends_the_connection_is_hypers_own() {
        let own = "HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\
                   date: Mon, 16 Nov 2026 02:03:23 GMT\r\n\r\n";
        assert_eq!(status(own.as_bytes()), Some(431));
        for (from, to) in [
            ("431", "200"),
            ("431", "409"),
            ("HTTP/1.1", "http/1.1"),
            ("content-length: 0", "content-length: 07"),
            ("connection: close", "connection: keep-alive"),
            ("GMT\r\n\r\n", "GMT\r\n\r\n{}"),
            ("GMT", &"GMT".repeat(100)),
        ] {
            assert_eq!(status(own.replace(from, to).as_bytes()), None, "{from} as {to}");
        }
        assert_eq!(status(b""), None);
    }
}
