//! A letter as it waits to be sent: to whom, which kind, and the words that its templates are filled with.

use std::collections::BTreeMap;
use std::fmt;

use onsale_domain::Millis;
use serde::{Deserialize, Serialize};

/// Why people are written to. Names are stored with letters that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LetterKind {
    /// To a new account's address: is it yours?
    Verification,
    /// A link that sets a new password.
    Reset,
    /// Somebody has signed in from a device that was not seen before.
    NewDevice,
    /// To the new address: is it yours?
    EmailChange,
    /// To the old address: it is no longer the account's.
    EmailChanged,
    /// To somebody who signs up with an address that has an account: nobody else learns of it.
    AlreadyRegistered,
}

impl LetterKind {
    pub const ALL: [LetterKind; 6] = [
        LetterKind::Verification,
        LetterKind::Reset,
        LetterKind::NewDevice,
        LetterKind::EmailChange,
        LetterKind::EmailChanged,
        LetterKind::AlreadyRegistered,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            LetterKind::Verification => "verification",
            LetterKind::Reset => "reset",
            LetterKind::NewDevice => "new_device",
            LetterKind::EmailChange => "email_change",
            LetterKind::EmailChanged => "email_changed",
            LetterKind::AlreadyRegistered => "already_registered",
        }
    }

    pub fn parse(text: &str) -> Option<LetterKind> {
        LetterKind::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// The values that such a letter must have; `site` comes from the configuration.
    pub fn values(self) -> &'static [&'static str] {
        match self {
            LetterKind::Verification | LetterKind::EmailChange => &["link", "valid_for"],
            LetterKind::Reset => &["link", "valid_for"],
            LetterKind::NewDevice => &["address", "device", "link", "time"],
            LetterKind::EmailChanged => &["link", "new_email"],
            LetterKind::AlreadyRegistered => &["link"],
        }
    }
}

/// One letter that waits.
#[derive(Clone, PartialEq, Eq)]
pub struct Letter {
    /// Its message id is made of it: letters, digits, `_`, `-`. Whoever receives the letter twice sees that it is one.
    pub id: String,
    pub kind: LetterKind,
    /// Address of mail.
    pub to: String,
    pub values: BTreeMap<String, String>,
    pub written_at: Millis,
    /// How often it was tried.
    pub attempts: u32,
}

impl fmt::Debug for Letter {
    /// Neither the address nor the links, which open accounts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Letter { id, kind, written_at, attempts, .. } = self;
        write!(f, "Letter({id}, {}, written at {written_at}, {attempts} attempts)", kind.as_str())
    }
}
