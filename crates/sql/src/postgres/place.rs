//! Reads the URL: what libpq understands, with our own limits, our own schema, and TLS unless the server is on this machine.

use std::net::IpAddr;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{CONNECT_MAX, SILENCE_MAX, STATEMENT_MAX, tls};
use crate::SqlError;

/// PostgreSQL cuts longer names.
const SCHEMA_CHARS_MAX: usize = 63;
const ROOT_CERTIFICATE: &str = "sslrootcert=";

pub(super) fn read(url: &str, schema: &str) -> Result<(Config, MakeRustlsConnect), SqlError> {
    let lower = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    let fits = schema.bytes().next().is_some_and(lower)
        && schema.len() <= SCHEMA_CHARS_MAX
        && schema.bytes().all(|byte| lower(byte) || byte.is_ascii_digit());
    if !fits {
        return Err(SqlError::Configuration(format!(
            "the schema {schema:?} is not a plain name: use lower case letters, digits and _, at most {SCHEMA_CHARS_MAX}"
        )));
    }
    let (url, root) = without_root(url);
    // The parser's own message names the field, never its value.
    let mut config: Config = url
        .parse()
        .map_err(|error| SqlError::Configuration(format!("the URL of PostgreSQL cannot be read: {error}")))?;
    if !url.contains("sslmode=") && !is_local(&config) {
        // `prefer` would go on without TLS if somebody on the way asks for it.
        config.ssl_mode(SslMode::Require);
    }
    let own = format!(
        "-c search_path={schema} -c statement_timeout={} -c idle_in_transaction_session_timeout={} -c lock_timeout={}",
        STATEMENT_MAX.as_millis(),
        SILENCE_MAX.as_millis(),
        STATEMENT_MAX.as_millis(),
    );
    let options = config.get_options().map_or(own.clone(), |theirs| format!("{theirs} {own}"));
    config.options(options).connect_timeout(CONNECT_MAX).tcp_user_timeout(SILENCE_MAX);
    config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    if config.get_application_name().is_none() {
        config.application_name("onsale");
    }
    Ok((config, tls::connector(root.as_deref())?))
}

/// The file of certificates is ours to read: the client's parser does not know it.
fn without_root(url: &str) -> (String, Option<String>) {
    let Some(start) = url.find(ROOT_CERTIFICATE) else { return (url.to_owned(), None) };
    let rest = &url[start + ROOT_CERTIFICATE.len()..];
    let end = rest.find(['&', ' ']).unwrap_or(rest.len());
    let root = rest[..end].replace("%2F", "/").replace("%2f", "/");
    let before = url[..start].trim_end_matches(['&', ' ']);
    let after = rest[end..].trim_start_matches(['&', ' ']);
    let between = match before.chars().next_back() {
        _ if after.is_empty() => "",
        Some('?') | None => "",
        Some(_) if url.contains("://") => "&",
        Some(_) => " ",
    };
    (format!("{before}{between}{after}").trim_end_matches('?').to_owned(), Some(root))
}

fn is_local(config: &Config) -> bool {
    let local = |host: &Host| match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost" || name.parse().is_ok_and(|address: IpAddr| address.is_loopback())
        }
    };
    config.get_hosts().iter().all(local) && config.get_hostaddrs().iter().all(IpAddr::is_loopback)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(url: &str) -> SslMode {
        read(url, "access").expect("a URL").0.get_ssl_mode()
    }

    #[test]
    fn a_server_elsewhere_is_spoken_to_by_tls_unless_the_url_says_otherwise() {
        assert_eq!(mode("postgres://ann@db.example.org/shop"), SslMode::Require);
        assert_eq!(mode("postgres://ann@10.0.0.7/shop"), SslMode::Require);
        assert_eq!(mode("postgres://ann@db.example.org/shop?sslmode=disable"), SslMode::Disable);
        assert_eq!(mode("postgres://ann@127.0.0.1/shop"), SslMode::Prefer);
        assert_eq!(mode("host=/run/postgresql user=ann"), SslMode::Prefer);
    }

    #[test]
    fn the_file_of_certificates_is_taken_out_of_the_url() {
        let cases = [
            ("postgres://a@b/c?sslrootcert=/x/y.pem", "postgres://a@b/c"),
            ("postgres://a@b/c?sslrootcert=%2Fx%2Fy.pem&sslmode=require", "postgres://a@b/c?sslmode=require"),
            ("postgres://a@b/c?k=1&sslrootcert=/x/y.pem&l=2", "postgres://a@b/c?k=1&l=2"),
            ("host=b sslrootcert=/x/y.pem user=a", "host=b user=a"),
        ];
        for (url, rest) in cases {
            assert_eq!(without_root(url), (rest.to_owned(), Some("/x/y.pem".to_owned())), "{url}");
        }
    }

    #[test]
    fn a_url_that_cannot_be_read_does_not_show_its_password() {
        for url in ["postgres://ann:secret@db/shop?port=x", "postgres://ann:secret@db/shop?colour=red"] {
            let error = read(url, "access").map(drop).expect_err("no URL").to_string();
            assert!(!error.contains("secret"), "{error}");
        }
        assert!(read("postgres://ann@db/shop", "a; drop table key").is_err());
    }
}
