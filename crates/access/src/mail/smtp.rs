//! Letters over SMTP, one connection for each: there are few of them, and a connection on which something went wrong is never used for
//! another. What the server says is told by its code alone, because its words may name people.

use std::fmt;
use std::fs;
use std::time::Duration;

use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, Certificate, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use tokio::time::timeout;

use super::config::{MailError, SmtpConfig, SmtpSecurity};
use super::stationery::Message;
use super::{SendError, Sending, Transport};

/// A server that is up greets within seconds.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// From the first byte to the last answer. Servers that look into a letter before they take it may need a while.
const SEND_MAX: Duration = Duration::from_secs(60);
/// The letter is taken already; a goodbye is politeness.
const QUIT_MAX: Duration = Duration::from_secs(1);
/// Of a code that says never and means us, not the letter: no sign-in, or a wrong one. The letter waits until that is repaired.
const ABOUT_US: [u16; 4] = [530, 534, 535, 538];

/// A mail server.
pub struct Smtp {
    host: String,
    port: u16,
    security: SmtpSecurity,
    tls: Option<TlsParameters>,
    credentials: Option<Credentials>,
    hello: ClientId,
    send_max: Duration,
}

impl Smtp {
    pub fn new(config: &SmtpConfig) -> Result<Smtp, MailError> {
        let tls = match config.security {
            SmtpSecurity::StartTls | SmtpSecurity::Tls => Some(tls(config)?),
            SmtpSecurity::Plain => None,
        };
        let credentials =
            config.user.clone().zip(config.secret()?).map(|(user, secret)| Credentials::new(user, secret));
        Ok(Smtp {
            host: config.host.clone(),
            port: config.port(),
            security: config.security,
            tls,
            credentials,
            hello: ClientId::default(),
            send_max: SEND_MAX,
        })
    }

    /// The same with less patience: for tests.
    #[must_use]
    pub fn with_patience(self, send_max: Duration) -> Smtp {
        Smtp { send_max, ..self }
    }

    async fn connect(&self) -> Result<AsyncSmtpConnection, SendError> {
        let at_once = self.tls.clone().filter(|_| self.security == SmtpSecurity::Tls);
        let server = (self.host.as_str(), self.port);
        let connecting =
            AsyncSmtpConnection::connect_tokio1(server, Some(CONNECT_MAX), &self.hello, at_once, None);
        let mut connection = connecting.await.map_err(|error| later("connecting", &error))?;
        if let Some(tls) = self.tls.clone().filter(|_| self.security == SmtpSecurity::StartTls) {
            if !connection.can_starttls() {
                return Err(SendError::Later("the mail server offers no STARTTLS".to_owned()));
            }
            connection.starttls(tls, &self.hello).await.map_err(|error| later("STARTTLS", &error))?;
        }
        if let Some(credentials) = &self.credentials {
            let mechanisms = [Mechanism::Plain, Mechanism::Login];
            connection.auth(&mechanisms, credentials).await.map_err(|error| later("signing in", &error))?;
        }
        Ok(connection)
    }

    async fn deliver(&self, message: &Message) -> Result<(), SendError> {
        let mut connection = self.connect().await?;
        connection.send(&message.envelope, &message.bytes).await.map_err(|error| verdict(&error))?;
        let _ = timeout(QUIT_MAX, connection.quit()).await;
        Ok(())
    }
}

impl Transport for Smtp {
    fn send<'a>(&'a self, message: &'a Message) -> Sending<'a> {
        Box::pin(async move {
            let delivered = timeout(self.send_max, self.deliver(message)).await;
            delivered.unwrap_or_else(|_| Err(SendError::Later("the mail server does not answer".to_owned())))
        })
    }
}

impl fmt::Debug for Smtp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Smtp { host, port, security, .. } = self;
        write!(f, "Smtp({host}:{port}, {security:?})")
    }
}

fn tls(config: &SmtpConfig) -> Result<TlsParameters, MailError> {
    let wrong = |error: Error| MailError::Tls(error.to_string());
    let mut builder = TlsParameters::builder(config.host.clone());
    if let Some(path) = &config.tls_ca {
        let pem = fs::read(path).map_err(|error| MailError::File { path: path.clone(), error })?;
        builder = builder.add_root_certificate(Certificate::from_pem(&pem).map_err(wrong)?);
    }
    builder.build_rustls().map_err(wrong)
}

fn verdict(error: &Error) -> SendError {
    let is_about_us = error.status().is_some_and(|code| ABOUT_US.contains(&u16::from(code)));
    if (error.is_permanent() && !is_about_us) || error.is_client() {
        return SendError::Never(said("the letter", error));
    }
    later("the letter", error)
}

fn later(what: &str, error: &Error) -> SendError {
    SendError::Later(said(what, error))
}

fn said(what: &str, error: &Error) -> String {
    match error.status() {
        Some(code) => format!("{what}: the mail server answered {code}"),
        None => format!("{what}: {error}"),
    }
}
