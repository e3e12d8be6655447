//! What an operator may say about limits. Defaults stand in `defaults.rs`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::class::{Class, Subject};
use super::defaults;
use super::policy::{Policy, PolicyError};
use super::proxies::{ForwardedHeader, Network};

/// Below it strangers would share a bucket on a quiet day.
pub const ENTRIES_MIN: usize = 10_000;
/// 33 bytes each: half a gigabyte.
pub const ENTRIES_MAX: usize = 16_000_000;

/// How fast callers may ask. A request is counted by its key, its user and its address, in the class of its route; it passes if all
/// of them let it, and otherwise counts for none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsConfig {
    /// False: nobody is limited. For a server that only its own proxy reaches, which limits by itself.
    pub enabled: bool,
    /// How many callers are remembered at the same time, 33 bytes each. When as many are busy at once, unknown ones share a bucket.
    #[schemars(range(min = ENTRIES_MIN, max = ENTRIES_MAX))]
    pub entries_max: usize,
    /// Networks whose word on a caller's address is believed, such as `10.0.0.0/8`: the proxies in front of this server.
    #[schemars(example = &["10.0.0.0/8", "2001:db8::/32"])]
    pub trusted_proxies: Vec<Network>,
    /// Which header those proxies write the address into. The other one is what the caller wrote, and is not read.
    pub forwarded_header: ForwardedHeader,
    /// Signing in and up, passwords, tokens of letters. On Redis each request is counted exactly, and refused if Redis is away.
    pub auth: ClassLimits,
    /// Taking seats, units or places for a while.
    pub seat_lock: ClassLimits,
    /// Bids.
    pub bid: ClassLimits,
    /// Orders and their payment.
    pub checkout: ClassLimits,
    /// Lists, search and availability.
    pub search: ClassLimits,
    /// Opening a stream or a socket.
    pub stream: ClassLimits,
    /// What staff do.
    pub staff: ClassLimits,
    /// Every other route.
    pub api: ClassLimits,
    /// What no route declares.
    pub default: ClassLimits,
}

/// The limits of one class, by what is counted. At most two each, with different windows; none: no limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassLimits {
    /// A secret or restricted key: a merchant's server. Its address is not counted.
    pub server_key: Vec<Policy>,
    /// A publishable key: all visitors of a page together. Each of them is counted by address, too.
    pub page_key: Vec<Policy>,
    /// Any test key; neither its users nor its addresses are counted.
    pub test_key: Vec<Policy>,
    /// A person, or a buyer for whom a merchant vouches.
    pub user: Vec<Policy>,
    /// An IPv4 address, or an IPv6 network of 64 bits.
    pub address: Vec<Policy>,
}

#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LimitsError {
    #[error("limits.{class}.{field}: {error}", class = .class.as_str())]
    Policy { class: Class, field: &'static str, error: PolicyError },
    #[error("limits.entries_max must be {ENTRIES_MIN} to {ENTRIES_MAX}, and is {0}")]
    Entries(usize),
}

impl Default for LimitsConfig {
    fn default() -> Self {
        LimitsConfig {
            enabled: true,
            entries_max: 1_000_000,
            trusted_proxies: Vec::new(),
            forwarded_header: ForwardedHeader::XForwardedFor,
            auth: defaults::of(Class::Auth),
            seat_lock: defaults::of(Class::SeatLock),
            bid: defaults::of(Class::Bid),
            checkout: defaults::of(Class::Checkout),
            search: defaults::of(Class::Search),
            stream: defaults::of(Class::Stream),
            staff: defaults::of(Class::Staff),
            api: defaults::of(Class::Api),
            default: defaults::of(Class::Default),
        }
    }
}

impl LimitsConfig {
    pub fn class(&self, class: Class) -> &ClassLimits {
        match class {
            Class::Auth => &self.auth,
            Class::SeatLock => &self.seat_lock,
            Class::Bid => &self.bid,
            Class::Checkout => &self.checkout,
            Class::Search => &self.search,
            Class::Stream => &self.stream,
            Class::Staff => &self.staff,
            Class::Api => &self.api,
            Class::Default => &self.default,
        }
    }

    pub fn check(&self) -> Result<(), LimitsError> {
        if !(ENTRIES_MIN..=ENTRIES_MAX).contains(&self.entries_max) {
            return Err(LimitsError::Entries(self.entries_max));
        }
        for class in Class::ALL {
            for (subject, policies) in self.class(class).by_subject() {
                let field = field_of(subject);
                Policy::check_all(policies).map_err(|error| LimitsError::Policy { class, field, error })?;
            }
        }
        Ok(())
    }
}

impl ClassLimits {
    pub fn by_subject(&self) -> [(Subject, &[Policy]); Subject::ALL.len()] {
        [
            (Subject::ServerKey, &self.server_key),
            (Subject::PageKey, &self.page_key),
            (Subject::TestKey, &self.test_key),
            (Subject::User, &self.user),
            (Subject::Address, &self.address),
        ]
    }
}

fn field_of(subject: Subject) -> &'static str {
    match subject {
        Subject::ServerKey => "server_key",
        Subject::PageKey => "page_key",
        Subject::TestKey => "test_key",
        Subject::User => "user",
        Subject::Address => "address",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_right_and_read_back_as_they_are_written() {
        let config = LimitsConfig::default();
        assert_eq!(config.check(), Ok(()));
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<LimitsConfig>(&text).unwrap(), config);
    }

    #[test]
    fn an_unknown_setting_is_refused_and_a_wrong_one_is_named() {
        assert!(serde_json::from_str::<LimitsConfig>(r#"{"on": true}"#).is_err());
        assert!(serde_json::from_str::<LimitsConfig>(r#"{"bid": {"user": []}}"#).is_err(), "half a class");
        assert!(serde_json::from_str::<LimitsConfig>(r#"{"trusted_proxies": ["10.0.0.0/40"]}"#).is_err());
        let mut config = LimitsConfig { entries_max: 9, ..LimitsConfig::default() };
        assert_eq!(config.check(), Err(LimitsError::Entries(9)));
        config = LimitsConfig::default();
        config.bid.user = vec![Policy::new(60, 1, 1)];
        assert_eq!(
            config.check().unwrap_err().to_string(),
            "limits.bid.user: window_s must be 60 to 3600, and is 1"
        );
    }
}
