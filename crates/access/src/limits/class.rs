//! What a request is, to the limits: the class of its route, and who or what is counted. Names are public: they stand in the
//! configuration, in headers, metrics and keys.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What kind of work a route asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Class {
    /// Signing in and up, passwords, tokens of letters: costly hashes, and what guesses are made with.
    Auth,
    /// Taking something scarce for a while: seats, units, places.
    SeatLock,
    /// A bid in an auction.
    Bid,
    /// Orders and their payment.
    Checkout,
    /// Lists, search and availability of many things at once.
    Search,
    /// Opening an event stream or a socket.
    Stream,
    /// What staff do: making and changing listings, refunds.
    Staff,
    /// Every other route of the API.
    Api,
    /// What no route declares.
    Default,
}

impl Class {
    pub const ALL: [Class; 9] = [
        Class::Auth,
        Class::SeatLock,
        Class::Bid,
        Class::Checkout,
        Class::Search,
        Class::Stream,
        Class::Staff,
        Class::Api,
        Class::Default,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Class::Auth => "auth",
            Class::SeatLock => "seat_lock",
            Class::Bid => "bid",
            Class::Checkout => "checkout",
            Class::Search => "search",
            Class::Stream => "stream",
            Class::Staff => "staff",
            Class::Api => "api",
            Class::Default => "default",
        }
    }

    pub fn parse(text: &str) -> Option<Class> {
        Class::ALL.into_iter().find(|class| class.as_str() == text)
    }
}

/// Who or what is counted. The three kinds of keys are limited apart: a merchant's server speaks for many buyers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Subject {
    /// A secret or restricted key.
    ServerKey,
    /// A publishable key: it stands for all visitors of a page.
    PageKey,
    /// Any key of a test deployment.
    TestKey,
    User,
    Address,
}

impl Subject {
    pub const ALL: [Subject; 5] =
        [Subject::ServerKey, Subject::PageKey, Subject::TestKey, Subject::User, Subject::Address];

    /// As callers read it: that keys differ is seen in their numbers.
    pub fn as_str(self) -> &'static str {
        match self {
            Subject::ServerKey | Subject::PageKey | Subject::TestKey => "key",
            Subject::User => "user",
            Subject::Address => "address",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_reads_back_as_it_is_written_and_stands_at_its_number() {
        for (number, class) in Class::ALL.into_iter().enumerate() {
            assert_eq!(Class::parse(class.as_str()), Some(class));
            assert_eq!(class as usize, number);
            assert_eq!(serde_json::to_value(class).unwrap(), class.as_str());
        }
        for (number, subject) in Subject::ALL.into_iter().enumerate() {
            assert_eq!(subject as usize, number);
        }
        assert_eq!(Class::parse("everything"), None);
    }
}
