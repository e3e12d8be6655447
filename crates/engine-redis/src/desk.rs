//! Submits one command to its script and reads the answer. It keeps nothing: who calls it owns the picture, follows
//! the stream and tries again when a script says that the picture was too old.

use onsale_domain::listing::Key;
use onsale_domain::{Command, ListingId, Millis};
use thiserror::Error;

use crate::commands::{self, Terms};
use crate::facts::Malformed;
use crate::keys::Keys;
use crate::layout::Layout;
use crate::link::{Link, LinkError};
use crate::picture::Picture;
use crate::reply::{self, Reply};
use crate::scripts::{Name, Scripts};
use crate::state::{self, State};

/// How long the answer to a command is remembered under its key.
pub const KEPT_MS: Millis = 3_600_000;
/// The same for what may never be lost.
pub const KEPT_SEALED_MS: Millis = 24 * KEPT_MS;
/// An operation id of our own only has to outlive re-sending.
pub const KEPT_OWN_MS: Millis = 600_000;

#[derive(Clone, Debug)]
pub struct Desk {
    pub link: Link,
    pub scripts: Scripts,
    pub prefix: String,
    pub terms: Terms,
}

#[derive(Clone, Debug, Error)]
pub enum DeskError {
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error(transparent)]
    Malformed(#[from] Malformed),
}

/// Under which key a command is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// The caller's: it stands in the facts.
    Key(Key),
    /// An operation id of the engine, against its own re-sends.
    Operation(u128),
    /// None: for what may be repeated freely.
    None,
}

impl Desk {
    /// Decides one command. `clock` 0: the server's own.
    pub async fn submit(
        &self,
        picture: &Picture,
        command: &Command,
        stamp: Stamp,
        clock: Millis,
        assumed_now: Millis,
    ) -> Result<Reply, DeskError> {
        let listing = picture.listing.id;
        let call = commands::prepare(picture, command, assumed_now, &self.terms);
        let (scope, fingerprint, kept, own) = match stamp {
            Stamp::Key(key) => {
                let kept = if command.is_sealed() { KEPT_SEALED_MS } else { KEPT_MS };
                (Some(key.scope), key.fingerprint, kept, "1")
            }
            Stamp::Operation(scope) => (Some(scope), 0, KEPT_OWN_MS, "0"),
            Stamp::None => (None, 0, 0, "0"),
        };
        let mut args = vec![
            clock.to_string().into_bytes(),
            scope.map_or(Vec::new(), |scope| format!("{scope:032x}").into_bytes()),
            format!("{fingerprint:032x}").into_bytes(),
            kept.to_string().into_bytes(),
            own.as_bytes().to_vec(),
        ];
        args.extend(call.args);
        let keys = Keys::new(&self.prefix, &listing).with_idem(scope);
        let script = self.scripts.get(call.name, call.layout);
        let value = self.link.script(script, &keys, &args).await?;
        let mut reply = reply::read(listing, value, call.refusal.as_ref())?;
        if let (Reply::Answer(answer), Stamp::Operation(_)) = (&mut reply, stamp) {
            // A re-send of our own is the first answer to whoever asked.
            answer.replayed = false;
        }
        Ok(reply)
    }

    /// The whole state of a listing at one moment; `None`: there is none.
    pub async fn state(&self, listing: ListingId) -> Result<Option<State>, DeskError> {
        let keys = Keys::new(&self.prefix, &listing);
        let script = self.scripts.get(Name::ReadState, Layout::Hash);
        Ok(state::read(self.link.script(script, keys.all(), &[]).await?)?)
    }

    /// The same as a picture; of a listing that does not exist, an empty one.
    pub async fn picture(&self, listing: ListingId) -> Result<Picture, DeskError> {
        match self.state(listing).await? {
            Some(state) => Ok(state.picture(listing)?),
            None => Ok(Picture::nothing(listing)),
        }
    }
}
