//! Guests: buying needs no account. A guest is an id and a session; registering later makes an account of the same id, with
//! all that the guest holds and has bought.
//!
//! Whoever has an account already signs in and goes on under that id. What was a guest's stays the guest's: facts name
//! buyers for ever, and limits are counted per buyer, so two ids are never made one.

use super::Accounts;
use super::Failure;
use super::person::{self, NewPerson};
use crate::context::Context;
use crate::once::{self, Begun};
use crate::random;
use crate::role::Roles;
use crate::sessions::{self, Device, NewSession, SessionStarted};

impl Accounts {
    pub async fn start_guest(
        &self,
        device: &Device,
        context: &Context<'_>,
    ) -> Result<SessionStarted, Failure> {
        let user = random::id("usr_");
        let mut tx = match once::begin(&self.sql, context).await? {
            Begun::New(tx) => tx,
            Begun::Done(answer) => return Ok(answer),
        };
        let guest = NewPerson { user: &user, account: None, roles: Roles::BUYER };
        person::add(&mut tx, &guest, context).await?;
        let session = NewSession {
            user: &user,
            device,
            known: None,
            is_remembered: false,
            is_guest: true,
            replaces: None,
        };
        let started = sessions::start(&mut tx, self.rules, &session, context).await?;
        once::finish(tx, context, &started).await?;
        Ok(started)
    }
}
