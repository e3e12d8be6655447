//! The flat field list itself: names and values in their order.

use onsale_domain::{BuyerId, CheckoutId, HoldId, OrderId, PaymentId};
use thiserror::Error;

/// What a server sent does not read as what we write.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("malformed field {field}")]
pub struct Malformed {
    pub field: String,
}

impl Malformed {
    pub fn of(field: &str) -> Malformed {
        Malformed { field: field.to_owned() }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    all: Vec<(String, Vec<u8>)>,
}

impl Fields {
    pub fn of_kind(kind: &str) -> Fields {
        let mut fields = Fields::default();
        fields.push("kind", kind);
        fields
    }

    /// From `name, value, name, value …`.
    pub fn from_flat(flat: Vec<Vec<u8>>) -> Result<Fields, Malformed> {
        let mut all = Vec::with_capacity(flat.len() / 2);
        let mut flat = flat.into_iter();
        while let Some(name) = flat.next() {
            let name = String::from_utf8(name).map_err(|_| Malformed::of("name"))?;
            let value = flat.next().ok_or_else(|| Malformed::of(&name))?;
            all.push((name, value));
        }
        Ok(Fields { all })
    }

    /// `name, value, name, value …`, as a script takes them.
    pub fn flat(&self) -> impl Iterator<Item = &[u8]> {
        self.all.iter().flat_map(|(name, value)| [name.as_bytes(), value.as_slice()])
    }

    pub fn push(&mut self, name: &str, value: impl AsRef<[u8]>) {
        self.all.push((name.to_owned(), value.as_ref().to_vec()));
    }

    pub fn remove(&mut self, n: usize) -> (String, Vec<u8>) {
        self.all.remove(n)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.all.iter().map(|(name, value)| (name.as_str(), value.as_slice()))
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.all.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_slice())
    }

    pub fn bytes(&self, name: &str) -> Result<&[u8], Malformed> {
        self.get(name).ok_or_else(|| Malformed::of(name))
    }

    pub fn text(&self, name: &str) -> Result<&str, Malformed> {
        std::str::from_utf8(self.bytes(name)?).map_err(|_| Malformed::of(name))
    }

    /// The text of a field that may not be there.
    pub fn text_or_none(&self, name: &str) -> Result<Option<&str>, Malformed> {
        self.get(name).map(|_| self.text(name)).transpose()
    }

    pub fn number<T: std::str::FromStr>(&self, name: &str) -> Result<T, Malformed> {
        self.text(name)?.parse().map_err(|_| Malformed::of(name))
    }

    /// A number that may be absent, written as nothing.
    pub fn number_or_none<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, Malformed> {
        match self.text(name)? {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| Malformed::of(name)),
        }
    }

    pub fn flag(&self, name: &str) -> Result<bool, Malformed> {
        match self.text(name)? {
            "0" => Ok(false),
            "1" => Ok(true),
            _ => Err(Malformed::of(name)),
        }
    }

    pub fn hold(&self, name: &str) -> Result<HoldId, Malformed> {
        super::read_id(self.text(name)?).map(HoldId).ok_or_else(|| Malformed::of(name))
    }

    pub fn checkout(&self, name: &str) -> Result<CheckoutId, Malformed> {
        super::read_id(self.text(name)?).map(CheckoutId).ok_or_else(|| Malformed::of(name))
    }

    pub fn order(&self, name: &str) -> Result<OrderId, Malformed> {
        super::read_id(self.text(name)?).map(OrderId).ok_or_else(|| Malformed::of(name))
    }

    pub fn payment(&self, name: &str) -> Result<PaymentId, Malformed> {
        super::read_id(self.text(name)?).map(PaymentId).ok_or_else(|| Malformed::of(name))
    }

    pub fn buyer(&self, name: &str) -> Result<BuyerId, Malformed> {
        BuyerId::parse(self.text(name)?).ok_or_else(|| Malformed::of(name))
    }
}
