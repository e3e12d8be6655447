//! Letters as the mail sender takes them: each with the link and the words that its templates ask for. A token stands behind the
//! `#` of its link: a browser keeps that part to itself, so no server and no proxy writes it to a log.

use std::collections::BTreeMap;

use onsale_domain::time::Millis;
use onsale_sql::SqlError;

use super::{Letter, LetterKind, Letters};
use crate::mail;
use crate::secrets::Purpose;

const HOUR_MS: i64 = 3_600_000;

/// Where links lead, and how a letter says a time.
#[derive(Clone)]
pub struct Outgoing {
    pub letters: Letters,
    /// Address of the site without a slash at its end: `https://tickets.example.com`.
    pub site_address: String,
    pub clock: mail::Clock,
    pub write_time: fn(Millis) -> String,
}

impl mail::LetterBox for Outgoing {
    type Error = SqlError;

    async fn take(&self, limit: usize, now: Millis) -> Result<Vec<mail::Letter>, SqlError> {
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        let taken = self.letters.take(limit, now).await?;
        Ok(taken.into_iter().map(|letter| self.filled(letter)).collect())
    }

    async fn done(&self, id: &str) -> Result<(), SqlError> {
        self.letters.done(id).await
    }

    async fn failed(&self, id: &str, retry_at: Option<Millis>) -> Result<(), SqlError> {
        match retry_at {
            Some(retry_at) => self.letters.failed(id, retry_at, (self.clock)()).await,
            None => self.letters.give_up(id).await,
        }
    }
}

impl Outgoing {
    fn filled(&self, letter: Letter) -> mail::Letter {
        let mut values = BTreeMap::new();
        let mut put = |name: &str, value: &str| {
            values.insert(name.to_owned(), value.to_owned());
        };
        put("link", &self.link(&letter));
        match letter.kind {
            LetterKind::Verification => put("valid_for", &hours(Purpose::Registration)),
            LetterKind::EmailChange => put("valid_for", &hours(Purpose::EmailChange)),
            LetterKind::Reset => put("valid_for", &hours(Purpose::Reset)),
            LetterKind::PasswordChanged => put("time", &(self.write_time)(letter.created_ms)),
            LetterKind::NewDevice => {
                let (device, address) = letter.details.split_once('\n').unwrap_or((&letter.details, ""));
                put("device", known(device));
                put("address", known(address));
                put("time", &(self.write_time)(letter.created_ms));
            }
            LetterKind::EmailChanged => put("new_email", &letter.details),
            LetterKind::AlreadyRegistered => {}
        }
        mail::Letter {
            id: letter.id,
            kind: letter.kind,
            to: letter.email,
            values,
            written_at: letter.created_ms,
            attempts: letter.tries,
        }
    }

    fn link(&self, letter: &Letter) -> String {
        let page = match letter.kind {
            LetterKind::Verification => "verify",
            LetterKind::Reset => "reset",
            LetterKind::EmailChange => "confirm-email",
            // Whoever did not do it needs a new password first of all.
            LetterKind::PasswordChanged | LetterKind::EmailChanged => "forgot-password",
            LetterKind::NewDevice => "sessions",
            LetterKind::AlreadyRegistered => "sign-in",
        };
        let token = letter.token.as_ref().map_or(String::new(), |token| format!("#token={}", token.text()));
        format!("{}/{page}{token}", self.site_address)
    }
}

impl std::fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outgoing").field("site_address", &self.site_address).finish_non_exhaustive()
    }
}

fn known(text: &str) -> &str {
    if text.is_empty() { "not known" } else { text }
}

fn hours(purpose: Purpose) -> String {
    match purpose.lifetime_ms() / HOUR_MS {
        1 => "one hour".to_owned(),
        hours => format!("{hours} hours"),
    }
}
