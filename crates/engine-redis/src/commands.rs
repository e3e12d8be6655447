//! A command as the arguments of its script. What Lua cannot see (the rows of a chart, the merged details) is made
//! by the command's kind from a picture of the listing, and the script checks that the picture was fresh enough.

pub(crate) mod orders;
pub(crate) mod own;

use onsale_domain::refusal::Detail;
use onsale_domain::{Code, Command, Fact, Millis, Refusal};

use crate::facts::{self, Fields};
use crate::kinds;
use crate::layout::Layout;
use crate::picture::Picture;
use crate::scripts::Name;

/// A script and its own arguments.
#[derive(Clone, Debug)]
pub struct ScriptArgs {
    pub name: Name,
    pub layout: Layout,
    pub args: Vec<Vec<u8>>,
    /// What a refusal with this code means in full: scripts answer it with its number alone.
    pub refusal: Option<Refusal>,
}

/// What the house decides about its scripts' arguments.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// The epoch of a listing that is made.
    pub epoch: u64,
    pub compact_from: usize,
    /// Whether a choice of best seats must be made at the listing's very position.
    pub strict: bool,
    /// Whether a hold that looks plain is asked for with the short script; that answers `plain` if it is not.
    pub plain: bool,
}

/// Prepares a command. `now` is the clock that a choice of best seats is made at.
pub fn prepare(picture: &Picture, command: &Command, now: Millis, terms: &Terms) -> ScriptArgs {
    if command.creates() && command.kind() != Some(picture.listing.id.kind) {
        return refused(Refusal::of(Code::ListingUnknown), "create");
    }
    kinds::prepare(picture, command, now, terms)
}

/// A refusal that no state could change; the key and the listing are still looked at first.
pub(crate) fn refused(refusal: Refusal, kind: &str) -> ScriptArgs {
    let args = vec![(refusal.code as u8).to_string().into_bytes(), kind.as_bytes().to_vec()];
    ScriptArgs { name: Name::REFUSE_COMMAND, layout: Layout::Hash, args, refusal: Some(refusal) }
}

#[derive(Debug, Default)]
pub(crate) struct Args(pub(crate) Vec<Vec<u8>>);

impl Args {
    pub(crate) fn push(&mut self, value: impl ToString) {
        self.0.push(value.to_string().into_bytes());
    }

    pub(crate) fn bytes(&mut self, value: impl AsRef<[u8]>) {
        self.0.push(value.as_ref().to_vec());
    }

    pub(crate) fn optional(&mut self, value: Option<Millis>) {
        self.bytes(value.map_or(String::new(), |value| value.to_string()));
    }

    /// Which field is wrong, and why; two empty ones if none is.
    pub(crate) fn wrong(&mut self, refusal: Option<&Refusal>) {
        if let Some(Detail::Field { field, why }) = refusal.map(|refusal| &refusal.detail) {
            self.push(field);
            self.bytes(why);
        } else {
            self.bytes("");
            self.bytes("");
        }
    }

    pub(crate) fn list<'a>(&mut self, pairs: impl IntoIterator<Item = (&'a str, &'a str)>) {
        let flat: Vec<&str> = pairs.into_iter().flat_map(|(name, value)| [name, value]).collect();
        self.push(flat.len());
        flat.iter().for_each(|value| self.bytes(value));
    }

    pub(crate) fn fields(&mut self, fields: &Fields) {
        self.push(2 * fields.len());
        fields.flat().for_each(|value| self.bytes(value));
    }

    pub(crate) fn fact(&mut self, fact: &Fact) {
        self.fields(&facts::encode(fact));
    }

    /// For the script of this name.
    pub(crate) fn script(self, verb: &'static str, picture: &Picture) -> ScriptArgs {
        let name = Name::of(picture.listing.id.kind, verb);
        ScriptArgs { name, layout: picture.layout, args: self.0, refusal: None }
    }
}
