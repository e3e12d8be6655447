//! Submits one command to its script and reads the answer. It keeps nothing: who calls it owns the picture, follows
//! the stream and tries again when a script says that the picture was too old.

use onsale_domain::listing::Key;
use onsale_domain::{By, Command, Fact, ListingId, Millis, Refusal};
use redis::Value;
use thiserror::Error;

use crate::commands::{self, ScriptArgs, Terms};
use crate::facts::Malformed;
use crate::keys::Keys;
use crate::kinds::{self, desk};
use crate::layout::Layout;
use crate::link::{Link, LinkError};
use crate::picture::Picture;
use crate::reply::{self, Reply};
use crate::scripts::{Name, Scripts};
use crate::state::{self, State};

/// An operation id of our own only has to outlive re-sending.
pub const KEPT_OWN_MS: Millis = 600_000;

/// How many arguments every script has before its own.
const SHARED_ARGS: usize = 5;

#[derive(Clone, Debug)]
pub struct ScriptCaller {
    pub link: Link,
    pub scripts: Scripts,
    pub prefix: String,
    pub terms: Terms,
}

#[derive(Clone, Debug, Error)]
pub enum CallError {
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

/// A command on its way: which script, with which keys and arguments. Sent again it is the same bytes.
#[derive(Clone, Debug)]
pub struct ScriptCall {
    pub name: Name,
    pub layout: Layout,
    pub keys: Vec<String>,
    pub args: Vec<Vec<u8>>,
    listing: ListingId,
    refusal: Option<Refusal>,
    own: bool,
    /// What a plain wish that is granted is told as; only its deadline, and what it costs, is not known yet.
    plain: Option<(Fact, Option<Key>)>,
}

impl ScriptCall {
    /// `clock` 0: the server's own; `assumed_now` is what a choice of seats is made at.
    pub fn prepare(
        picture: &Picture,
        command: &Command,
        stamp: Stamp,
        by: Option<&By>,
        prefix: &str,
        terms: &Terms,
        (clock, assumed_now): (Millis, Millis),
    ) -> ScriptCall {
        let listing = picture.listing.id;
        // The short scripts are for buyers alone.
        if terms.plain
            && by.is_none()
            && let Some((call, fact)) = kinds::plain(picture, command)
            && let Some(plain) =
                ScriptCall::plain(listing, call, fact, (stamp, command.verb().key_ms()), prefix, clock)
        {
            return plain;
        }
        let call = commands::prepare(picture, command, assumed_now, terms);
        let (scope, fingerprint, kept, of_caller) = match stamp {
            Stamp::Key(key) => {
                let kept = command.verb().key_ms();
                (Some(key.scope), key.fingerprint, kept, "1")
            }
            Stamp::Operation(scope) => (Some(scope), 0, KEPT_OWN_MS, "0"),
            Stamp::None => (None, 0, 0, "0"),
        };
        let mut args = vec![
            clock.to_string().into_bytes(),
            scope.map_or(Vec::new(), |scope| scope.to_be_bytes().to_vec()),
            fingerprint.to_be_bytes().to_vec(),
            kept.to_string().into_bytes(),
            by.map_or(of_caller.to_owned(), |by| format!("{of_caller}:{by}")).into_bytes(),
        ];
        args.extend(call.args);
        let keys = Keys::new(prefix, &listing).with_idem(scope);
        let own = matches!(stamp, Stamp::Operation(_));
        let (name, layout, refusal) = (call.name, call.layout, call.refusal);
        ScriptCall { name, layout, keys, args, listing, refusal, own, plain: None }
    }

    /// The lease of a desk, for so long; 0 gives it back.
    pub fn lease(listing: ListingId, prefix: &str, name: &str, for_ms: Millis, clock: Millis) -> ScriptCall {
        let args = [clock.to_string(), name.to_owned(), for_ms.to_string()];
        ScriptCall {
            name: Name::of(listing.kind, "take_lease"),
            layout: Layout::Hash,
            keys: Keys::new(prefix, &listing).with_idem(None),
            args: args.into_iter().map(String::into_bytes).collect(),
            listing,
            refusal: None,
            own: false,
            plain: None,
        }
    }

    /// The same, refused by the desk's script unless this is the lease that counts.
    #[must_use]
    pub fn under_lease(mut self, lease: &str) -> ScriptCall {
        lease.as_bytes().clone_into(&mut self.args[SHARED_ARGS + desk::commands::LEASE]);
        self
    }

    /// With a script of its own; `None` without a key, which that script must have.
    fn plain(
        listing: ListingId,
        call: ScriptArgs,
        fact: Fact,
        (stamp, key_ms): (Stamp, Millis),
        prefix: &str,
        clock: Millis,
    ) -> Option<ScriptCall> {
        let (scope, kept, key) = match stamp {
            Stamp::Key(key) => (key.scope, key_ms, Some(key)),
            Stamp::Operation(scope) => (scope, KEPT_OWN_MS, None),
            Stamp::None => return None,
        };
        let told = key.map_or(Vec::new(), |key| {
            [&b"|"[..], &key.scope.to_be_bytes(), &key.fingerprint.to_be_bytes()].concat()
        });
        let mut args = Vec::with_capacity(call.args.len() + 3);
        args.push(clock.to_string().into_bytes());
        args.push(kept.to_string().into_bytes());
        args.push(told);
        args.extend(call.args);
        Some(ScriptCall {
            name: call.name,
            layout: call.layout,
            keys: Keys::of_plain(prefix, &listing, scope),
            args,
            listing,
            refusal: None,
            own: key.is_none(),
            plain: Some((fact, key)),
        })
    }

    pub fn read(&self, value: Value) -> Result<Reply, Malformed> {
        if let Some((fact, key)) = &self.plain
            && let Some(answer) = reply::read_plain(self.listing, &value, fact, *key)?
        {
            return Ok(Reply::Answer(Box::new(answer)));
        }
        let mut reply = reply::read(self.listing, value, self.refusal.as_ref())?;
        if let (Reply::Answer(answer), true) = (&mut reply, self.own) {
            // A re-send of our own is the first answer to whoever asked.
            answer.replayed = false;
        }
        Ok(reply)
    }
}

impl ScriptCaller {
    /// Decides one command. `clock` 0: the server's own.
    pub async fn submit(
        &self,
        picture: &Picture,
        command: &Command,
        (stamp, by): (Stamp, Option<&By>),
        clock: Millis,
        assumed_now: Millis,
    ) -> Result<Reply, CallError> {
        let (clocks, mut terms) = ((clock, assumed_now), self.terms);
        loop {
            let call = ScriptCall::prepare(picture, command, stamp, by, &self.prefix, &terms, clocks);
            let script = self.scripts.get(call.name, call.layout);
            let value = self.link.script(script, &call.keys, &call.args).await?;
            let reply = call.read(value)?;
            if !(terms.plain && reply.is_not_plain()) {
                return Ok(reply);
            }
            terms.plain = false;
        }
    }

    /// The whole state of a listing at one moment; `None`: there is none.
    pub async fn state(&self, listing: ListingId) -> Result<Option<State>, CallError> {
        let keys = Keys::new(&self.prefix, &listing);
        let script = self.scripts.get(Name::READ_STATE, Layout::Hash);
        Ok(state::read(self.link.script(script, keys.all(), &[]).await?)?)
    }

    /// The same as a picture; of a listing that does not exist, an empty one.
    pub async fn picture(&self, listing: ListingId) -> Result<Picture, CallError> {
        match self.state(listing).await? {
            Some(state) => Ok(state.picture(listing)?),
            None => Ok(Picture::nothing(listing)),
        }
    }
}
