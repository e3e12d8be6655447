//! Whose address a request has when proxies stand in between: the right-most one that no trusted proxy has. What a stranger writes
//! into the header is never believed. Pure: the edge hands in the peer and the lines of the header.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A longer chain of trusted proxies is a mistake, and walking it is work.
const HOPS_MAX: usize = 16;

/// Which header trusted proxies write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ForwardedHeader {
    /// `X-Forwarded-For: 192.0.2.1, 10.0.0.1`
    #[default]
    XForwardedFor,
    /// `Forwarded: for=192.0.2.1;proto=https` (RFC 7239)
    Forwarded,
}

impl ForwardedHeader {
    pub fn as_str(self) -> &'static str {
        match self {
            ForwardedHeader::XForwardedFor => "x-forwarded-for",
            ForwardedHeader::Forwarded => "forwarded",
        }
    }
}

/// Addresses with the same first bits: `10.0.0.0/8`, or one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

impl Network {
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                same(u128::from(u32::from(network)), u128::from(u32::from(address)), 32 - self.bits)
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                same(network.into(), address.into(), 128 - self.bits)
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

fn same(one: u128, other: u128, but_the_last: u8) -> bool {
    (one ^ other).checked_shr(u32::from(but_the_last)).is_none_or(|rest| rest == 0)
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Network, String> {
        let wrong = || format!("`{text}` is no network; write an address and its bits, as in 10.0.0.0/8");
        let (address, bits) =
            text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            Some(bits) => bits.parse().ok().filter(|bits| *bits <= most).ok_or_else(wrong)?,
            None => most,
        };
        Ok(Network { address, bits })
    }
}

impl TryFrom<String> for Network {
    type Error = String;

    fn try_from(text: String) -> Result<Network, String> {
        text.parse()
    }
}

impl From<Network> for String {
    fn from(network: Network) -> String {
        network.to_string()
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

/// The caller's address. `lines` are all values of that header, in their order. What cannot be read counts as the peer: then those
/// who send it share the proxy's own limit.
pub fn caller_address<'a>(
    trusted: &[Network],
    peer: IpAddr,
    header: ForwardedHeader,
    lines: impl DoubleEndedIterator<Item = &'a str>,
) -> IpAddr {
    let peer = peer.to_canonical();
    let is_trusted = |address: IpAddr| trusted.iter().any(|network| network.contains(address));
    if !is_trusted(peer) {
        return peer;
    }
    let (mut nearest, mut hops) = (peer, 0);
    for line in lines.rev() {
        for element in Elements(line) {
            hops += 1;
            let address = match header {
                ForwardedHeader::XForwardedFor => node(element),
                ForwardedHeader::Forwarded => forwarded_for(element),
            };
            match address {
                Some(address) if hops <= HOPS_MAX && is_trusted(address) => nearest = address,
                Some(address) if hops <= HOPS_MAX => return address,
                Some(_) | None => return peer,
            }
        }
    }
    nearest
}

/// The elements of a list from the right; a comma between quotes divides nothing.
struct Elements<'a>(&'a str);

impl<'a> Iterator for Elements<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        loop {
            if self.0.is_empty() {
                return None;
            }
            let mut is_quoted = false;
            let comma = self.0.bytes().rposition(|byte| {
                is_quoted ^= byte == b'"';
                byte == b',' && !is_quoted
            });
            let (rest, element) = comma.map_or(("", self.0), |at| (&self.0[..at], &self.0[at + 1..]));
            self.0 = rest;
            // Lists may have empty elements; they say nothing.
            if !element.trim().is_empty() {
                return Some(element.trim());
            }
        }
    }
}

/// `for=…` among the pairs of one element; exactly one.
fn forwarded_for(element: &str) -> Option<IpAddr> {
    let mut nodes = element.split(';').filter_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        name.eq_ignore_ascii_case("for").then_some(value)
    });
    let value = nodes.next()?;
    if nodes.next().is_some() {
        return None;
    }
    node(value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value))
}

/// An address, with or without a port; an IPv6 address with a port stands in brackets.
fn node(text: &str) -> Option<IpAddr> {
    let is_port =
        |port: &str| (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
    let address: IpAddr = match text.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']')?;
            if !port.is_empty() && !port.strip_prefix(':').is_some_and(is_port) {
                return None;
            }
            IpAddr::V6(address.parse().ok()?)
        }
        None => match text.parse() {
            Ok(address) => address,
            Err(_) => {
                let (address, port) = text.split_once(':')?;
                if !is_port(port) {
                    return None;
                }
                IpAddr::V4(address.parse().ok()?)
            }
        },
    };
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(header: ForwardedHeader, table: &str) {
        let trusted: Vec<Network> =
            ["10.0.0.0/8", "2001:db8:ff::/48", "127.0.0.1"].map(|text| text.parse().unwrap()).into();
        for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (case, expected) = line.split_once(" -> ").expect("an arrow");
            let (peer, value) = case.split_once(" | ").unwrap_or((case, ""));
            let lines: Vec<&str> = value.split(" || ").collect();
            let found =
                caller_address(&trusted, peer.trim().parse().expect("a peer"), header, lines.into_iter());
            assert_eq!(found.to_string(), expected.trim(), "{line}");
        }
    }

    #[test]
    fn the_right_most_address_that_is_no_proxys_is_the_callers() {
        check(
            ForwardedHeader::XForwardedFor,
            "
            192.0.2.9 -> 192.0.2.9
            192.0.2.9 | 10.0.0.1 -> 192.0.2.9
            192.0.2.9 | 198.51.100.1 -> 192.0.2.9
            10.0.0.1 -> 10.0.0.1
            10.0.0.1 |   -> 10.0.0.1
            10.0.0.1 | 198.51.100.1 -> 198.51.100.1
            ::ffff:10.0.0.1 | 198.51.100.1 -> 198.51.100.1
            10.0.0.1 | 203.0.113.5, 198.51.100.1 -> 198.51.100.1
            10.0.0.1 | 203.0.113.5, 198.51.100.1, 10.2.3.4 -> 198.51.100.1
            10.0.0.1 | 203.0.113.5 || 198.51.100.1 -> 198.51.100.1
            10.0.0.1 | 198.51.100.1 || 10.2.3.4 -> 198.51.100.1
            10.0.0.1 | 10.0.0.3, 10.0.0.2 -> 10.0.0.3
            10.0.0.1 | 198.51.100.1:4711 -> 198.51.100.1
            10.0.0.1 | ,198.51.100.1,, -> 198.51.100.1
            10.0.0.1 | 2001:db8:1::7 -> 2001:db8:1::7
            10.0.0.1 | [2001:db8:1::7] -> 2001:db8:1::7
            10.0.0.1 | [2001:db8:1::7]:443 -> 2001:db8:1::7
            10.0.0.1 | ::ffff:198.51.100.1 -> 198.51.100.1
            2001:db8:ff::1 | 198.51.100.1, 2001:db8:ff:9::2 -> 198.51.100.1
            2001:db8:fe::1 | 198.51.100.1 -> 2001:db8:fe::1
            127.0.0.1 | 198.51.100.1 -> 198.51.100.1
            127.0.0.2 | 198.51.100.1 -> 127.0.0.2
            ",
        );
    }

    #[test]
    fn what_cannot_be_read_counts_as_the_proxy() {
        check(
            ForwardedHeader::XForwardedFor,
            "
            10.0.0.1 | nonsense -> 10.0.0.1
            10.0.0.1 | 198.51.100.1, unknown -> 10.0.0.1
            10.0.0.1 | unknown, 198.51.100.1 -> 198.51.100.1
            10.0.0.1 | 198.51.100.1:port -> 10.0.0.1
            10.0.0.1 | 198.51.100.1: -> 10.0.0.1
            10.0.0.1 | [198.51.100.1]:80 -> 10.0.0.1
            10.0.0.1 | [2001:db8::1 -> 10.0.0.1
            10.0.0.1 | [2001:db8::1]x -> 10.0.0.1
            10.0.0.1 | 1.2.3.4.5 -> 10.0.0.1
            10.0.0.1 | 010.1.1.1 -> 10.0.0.1
            10.0.0.1 | \"198.51.100.1\" -> 10.0.0.1
            ",
        );
        let many = vec!["10.0.0.2"; HOPS_MAX].join(", ");
        check(ForwardedHeader::XForwardedFor, &format!("10.0.0.1 | 198.51.100.1, {many} -> 10.0.0.1"));
        let fewer = vec!["10.0.0.2"; HOPS_MAX - 1].join(", ");
        check(ForwardedHeader::XForwardedFor, &format!("10.0.0.1 | 198.51.100.1, {fewer} -> 198.51.100.1"));
    }

    #[test]
    fn the_header_of_the_standard_is_read_the_same_way() {
        check(
            ForwardedHeader::Forwarded,
            "
            192.0.2.9 | for=198.51.100.1 -> 192.0.2.9
            10.0.0.1 | for=198.51.100.1 -> 198.51.100.1
            10.0.0.1 | For=198.51.100.1;proto=https;by=10.0.0.1 -> 198.51.100.1
            10.0.0.1 | for=203.0.113.5, for=198.51.100.1, for=10.0.0.7 -> 198.51.100.1
            10.0.0.1 | for=\"[2001:db8:1::7]:4711\" -> 2001:db8:1::7
            10.0.0.1 | for=198.51.100.1;host=\"a,b\" -> 198.51.100.1
            10.0.0.1 | for=\"198.51.100.1:80\" || for=10.0.0.2 -> 198.51.100.1
            10.0.0.1 | for=unknown -> 10.0.0.1
            10.0.0.1 | for=_hidden -> 10.0.0.1
            10.0.0.1 | proto=https -> 10.0.0.1
            10.0.0.1 | for=198.51.100.1;for=203.0.113.5 -> 10.0.0.1
            10.0.0.1 | 198.51.100.1 -> 10.0.0.1
            10.0.0.1 | for=\"198.51.100.1 -> 10.0.0.1
            ",
        );
    }

    #[test]
    fn networks_are_read_and_bad_ones_named() {
        for (text, shown) in [
            ("10.0.0.0/8", "10.0.0.0/8"),
            ("10.1.1.1", "10.1.1.1/32"),
            ("::/0", "::/0"),
            ("0.0.0.0/0", "0.0.0.0/0"),
        ] {
            assert_eq!(text.parse::<Network>().unwrap().to_string(), shown);
        }
        for text in ["", "10.0.0.0/33", "::/129", "10.0.0.0/-1", "10.0.0/8", "a/8", "10.0.0.0/8/8"] {
            assert!(text.parse::<Network>().unwrap_err().contains(text), "{text}");
        }
        let all: Network = "0.0.0.0/0".parse().unwrap();
        assert!(all.contains([1, 2, 3, 4].into()) && !all.contains("::1".parse().unwrap()));
        let every: Network = "::/0".parse().unwrap();
        assert!(every.contains("ffff::1".parse().unwrap()));
    }
}
