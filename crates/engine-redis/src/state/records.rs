//! Records as scripts write them, whatever kind they are of.

use std::collections::BTreeMap;

use onsale_domain::BuyerId;

use crate::facts::{self, Fields, Malformed};

/// The parts of a record; the last may itself contain the separator.
pub(crate) struct Parts<'a> {
    name: &'static str,
    parts: std::str::SplitN<'a, char>,
}

impl<'a> Parts<'a> {
    pub(crate) fn new(name: &'static str, record: &'a [u8], count: usize) -> Result<Parts<'a>, Malformed> {
        let text = std::str::from_utf8(record).map_err(|_| Malformed::of(name))?;
        Ok(Parts { name, parts: text.splitn(count, '|') })
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, Malformed> {
        self.parts.next().ok_or_else(|| Malformed::of(self.name))
    }

    pub(crate) fn number<T: std::str::FromStr>(&mut self) -> Result<T, Malformed> {
        self.text()?.parse().map_err(|_| Malformed::of(self.name))
    }

    pub(crate) fn buyer(&mut self) -> Result<BuyerId, Malformed> {
        BuyerId::parse(self.text()?).ok_or_else(|| Malformed::of("buyer"))
    }
}

pub(crate) fn id(text: &str) -> Result<u64, Malformed> {
    facts::read_id(text).ok_or_else(|| Malformed::of("id"))
}

/// All fields as text.
pub(crate) fn texts(fields: &Fields) -> BTreeMap<String, String> {
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    fields.iter().map(|(name, value)| (name.to_owned(), text(value))).collect()
}

pub(crate) fn same<T: PartialEq + std::fmt::Debug>(what: &str, kept: &T, counted: &T) -> Result<(), String> {
    if kept == counted { Ok(()) } else { Err(format!("{what}: kept {kept:?}, counted {counted:?}")) }
}
