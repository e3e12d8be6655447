//! What of an address is counted: an IPv4 address is one caller, and so is an IPv6 network of 64 bits, because whoever has one such
//! network has all addresses in it.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

/// An address as limits and records of sessions count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address(IpAddr);

impl From<IpAddr> for Address {
    fn from(address: IpAddr) -> Address {
        match address.to_canonical() {
            IpAddr::V4(address) => Address(IpAddr::V4(address)),
            IpAddr::V6(address) => {
                let network = u128::from(address) & !u128::from(u64::MAX);
                Address(IpAddr::V6(Ipv6Addr::from(network)))
            }
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IpAddr::V4(address) => write!(f, "{address}"),
            IpAddr::V6(address) => write!(f, "{address}/64"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_count_as_the_table_says() {
        let table = [
            ("192.0.2.1", "192.0.2.1"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
            ("2001:db8:1:2::", "2001:db8:1:2::/64"),
            ("2001:db8:1:3::", "2001:db8:1:3::/64"),
            ("::1", "::/64"),
        ];
        for (address, counted) in table {
            let address: IpAddr = address.parse().unwrap();
            assert_eq!(Address::from(address).to_string(), counted, "{address}");
        }
    }
}
