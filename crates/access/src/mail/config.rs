//! What an operator says about mail. Without `smtp`, letters are files.

use std::fmt;
use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;

use lettre::message::Mailbox;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Who letters are from, and how they leave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MailConfig {
    /// The sender of every letter: a name and an address.
    #[schemars(example = &"Tickets <tickets@example.com>")]
    pub from: String,
    /// What letters call this place.
    #[schemars(example = &"Example Tickets")]
    pub site: String,
    /// Where answers go; without it to the sender.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"help@example.com")]
    pub reply_to: Option<String>,
    /// Where letters lie as files while there is no mail server; without it `mail` in the data folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"/var/spool/onsale")]
    pub folder: Option<PathBuf>,
    /// The mail server. Without it each letter is a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smtp: Option<SmtpConfig>,
}

/// A mail server that takes letters for the whole world.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SmtpConfig {
    /// The name or address of the server.
    #[schemars(example = &"smtp.example.com")]
    pub host: String,
    /// Without it 587, 465 for `tls`, and 25 for `plain`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = 587)]
    pub port: Option<u16>,
    /// How the connection is kept secret.
    #[serde(default)]
    pub security: SmtpSecurity,
    /// Who signs in there; without it nobody does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"onsale")]
    pub user: Option<String>,
    /// That user's password. The file that holds it is safer: `password_file`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"a-password")]
    pub password: Option<String>,
    /// The file that holds the password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"smtp_password")]
    pub password_file: Option<PathBuf>,
    /// A PEM file with the authority that signed the server's certificate; without it the system's authorities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"ca.pem")]
    pub tls_ca: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SmtpSecurity {
    /// Begins in the open and is made secret before anything is said; a server that cannot is refused.
    #[default]
    StartTls,
    /// Secret from the first byte.
    Tls,
    /// In the open: for a mail server on this machine alone.
    Plain,
}

#[derive(Debug, Error)]
pub enum MailError {
    #[error("mail.{field} is no address of mail: {text}")]
    Address { field: &'static str, text: String },
    #[error("mail.site must be one line of text")]
    Site,
    #[error("mail.smtp.security = \"plain\" is for a mail server on this machine alone, and {0} is none")]
    PlainHost(String),
    #[error(
        "mail.smtp.user needs a password, and a password a user; `password` and `password_file` are not both set"
    )]
    Credentials,
    #[error("mail: {path}: {error}")]
    File { path: PathBuf, error: io::Error },
    #[error("mail.smtp: {0}")]
    Tls(String),
    #[error("a template of a letter is wrong: {0}")]
    Template(String),
}

impl Default for MailConfig {
    fn default() -> Self {
        MailConfig {
            from: "Onsale <no-reply@localhost>".to_owned(),
            site: "Onsale".to_owned(),
            reply_to: None,
            folder: None,
            smtp: None,
        }
    }
}

impl MailConfig {
    pub fn check(&self) -> Result<(), MailError> {
        self.sender()?;
        self.answers_to()?;
        if self.site.trim().is_empty() || self.site.contains(char::is_control) {
            return Err(MailError::Site);
        }
        self.smtp.as_ref().map_or(Ok(()), SmtpConfig::check)
    }

    pub(super) fn sender(&self) -> Result<Mailbox, MailError> {
        mailbox("from", &self.from)
    }

    pub(super) fn answers_to(&self) -> Result<Option<Mailbox>, MailError> {
        self.reply_to.as_deref().map(|text| mailbox("reply_to", text)).transpose()
    }

    /// The same with secrets hidden, for printing.
    #[must_use]
    pub fn masked(&self) -> MailConfig {
        let smtp = self.smtp.clone().map(|smtp| {
            let password = smtp.password.as_ref().map(|_| "********".to_owned());
            SmtpConfig { password, ..smtp }
        });
        MailConfig { smtp, ..self.clone() }
    }
}

fn mailbox(field: &'static str, text: &str) -> Result<Mailbox, MailError> {
    let wrong = || MailError::Address { field, text: text.to_owned() };
    if text.contains(char::is_control) {
        return Err(wrong());
    }
    text.parse().map_err(|_| wrong())
}

impl SmtpConfig {
    fn check(&self) -> Result<(), MailError> {
        let has_password = match (&self.password, &self.password_file) {
            (Some(_), Some(_)) => return Err(MailError::Credentials),
            (None, None) => false,
            (Some(_), None) | (None, Some(_)) => true,
        };
        if has_password != self.user.is_some() {
            return Err(MailError::Credentials);
        }
        let is_here =
            self.host == "localhost" || self.host.parse().is_ok_and(|host: IpAddr| host.is_loopback());
        if self.security == SmtpSecurity::Plain && !is_here {
            return Err(MailError::PlainHost(self.host.clone()));
        }
        Ok(())
    }

    pub fn port(&self) -> u16 {
        self.port.unwrap_or(match self.security {
            SmtpSecurity::StartTls => 587,
            SmtpSecurity::Tls => 465,
            SmtpSecurity::Plain => 25,
        })
    }

    pub(super) fn secret(&self) -> Result<Option<String>, MailError> {
        let Some(path) = &self.password_file else { return Ok(self.password.clone()) };
        let text = fs::read_to_string(path).map_err(|error| MailError::File { path: path.clone(), error })?;
        Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()))
    }
}

impl fmt::Debug for SmtpConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SmtpConfig")
            .field("host", &self.host)
            .field("port", &self.port)
            .field("security", &self.security)
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> String {
        let config: MailConfig = serde_json::from_str(text).unwrap();
        config.check().unwrap_err().to_string()
    }

    #[test]
    fn a_setting_that_cannot_work_is_named_at_the_start() {
        assert!(MailConfig::default().check().is_ok());
        assert!(wrong(r#"{"from": "nobody"}"#).starts_with("mail.from"));
        assert!(wrong(r#"{"from": "a@example.com\r\nBcc: b@example.com"}"#).starts_with("mail.from"));
        assert!(wrong(r#"{"reply_to": "@"}"#).starts_with("mail.reply_to"));
        assert!(wrong(r#"{"site": "a\nb"}"#).starts_with("mail.site"));
        assert!(
            wrong(r#"{"smtp": {"host": "smtp.example.com", "security": "plain"}}"#).contains("example.com")
        );
        assert!(wrong(r#"{"smtp": {"host": "smtp.example.com", "user": "a"}}"#).contains("password"));
        assert!(wrong(r#"{"smtp": {"host": "a", "password": "b"}}"#).contains("user"));
        assert!(
            wrong(r#"{"smtp": {"host": "a", "user": "u", "password": "b", "password_file": "c"}}"#)
                .contains("both")
        );
        assert!(serde_json::from_str::<MailConfig>(r#"{"smtp": {"host": "a", "tls": true}}"#).is_err());
        for host in ["localhost", "127.0.0.1", "::1"] {
            let text = format!(r#"{{"smtp": {{"host": "{host}", "security": "plain"}}}}"#);
            assert!(serde_json::from_str::<MailConfig>(&text).unwrap().check().is_ok(), "{host}");
        }
    }

    #[test]
    fn a_password_is_never_printed() {
        let text = r#"{"smtp": {"host": "a", "user": "u", "password": "hunter2"}}"#;
        let config: MailConfig = serde_json::from_str(text).unwrap();
        assert!(!format!("{config:?}").contains("hunter2"));
        assert!(!serde_json::to_string(&config.masked()).unwrap().contains("hunter2"));
        assert_eq!(config.smtp.unwrap().port(), 587);
    }
}
