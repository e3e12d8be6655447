//! Letters to people: what stands in them, and how they leave. A letter is written down by whoever wants it sent and taken from there by
//! the sender; a mail server that is down delays letters and fails no request.

mod config;
mod files;
mod letter;
mod sender;
mod smtp;
mod stationery;

use std::fmt::Debug;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use thiserror::Error;

pub use self::config::{MailConfig, MailError, SmtpConfig, SmtpSecurity};
pub use self::files::{FILES_MAX, Files};
pub use self::letter::{Letter, LetterKind};
pub use self::sender::{Clock, GIVE_UP_MS, LetterBox, MailCounts, Sender, retry_in_ms};
pub use self::smtp::Smtp;
pub use self::stationery::{Message, Stationery};

/// Why a letter did not leave.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SendError {
    /// The way there is blocked for now: the same letter is sent again later.
    #[error("{0}")]
    Later(String),
    /// It will never be taken: an address that does not exist, or a letter that cannot be written.
    #[error("{0}")]
    Never(String),
}

pub type Sending<'a> = Pin<Box<dyn Future<Output = Result<(), SendError>> + Send + 'a>>;

/// A way out of the house. What was sent once may be sent again, with the same bytes.
pub trait Transport: Send + Sync + Debug {
    fn send<'a>(&'a self, message: &'a Message) -> Sending<'a>;

    /// Where the newest letter lies, if it can be read here.
    fn newest(&self) -> Option<std::path::PathBuf> {
        None
    }
}

/// SMTP if it is configured, files below the data folder otherwise.
pub fn transport(config: &MailConfig, data: &Path) -> Result<Arc<dyn Transport>, MailError> {
    config.check()?;
    Ok(match &config.smtp {
        Some(smtp) => Arc::new(Smtp::new(smtp)?),
        None => Arc::new(Files::open(config.folder.clone().unwrap_or_else(|| data.join("mail")))?),
    })
}
