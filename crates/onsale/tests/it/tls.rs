//! TLS by configuration: a real handshake on a real port, and what is said when a file is wrong.

use std::fs;
use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;

use onsale::config::Tls;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use tempfile::TempDir;

use crate::config::{onsale, refused};
use crate::house::{Answer, House, KEY, night};

/// A certificate for `localhost` in files, and in the hand of whoever trusts it.
struct Papers {
    folder: TempDir,
    certificate: CertificateDer<'static>,
}

impl Papers {
    fn new() -> Papers {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("cert.pem"), cert.pem()).expect("written");
        fs::write(folder.path().join("key.pem"), signing_key.serialize_pem()).expect("written");
        Papers { folder, certificate: cert.der().clone() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn house(&self) -> House {
        let tls = Tls { cert: self.path("cert.pem"), key: self.path("key.pem") };
        House::open_with(|config| config.tls = Some(tls))
    }

    /// A client that trusts this certificate and no other.
    fn connect(&self, house: &House) -> StreamOwned<ClientConnection, TcpStream> {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).expect("a root");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let mut client =
            builder.expect("TLS 1.2 and 1.3").with_root_certificates(roots).with_no_client_auth();
        client.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let name = "localhost".try_into().expect("a name");
        let connection = ClientConnection::new(Arc::new(client), name).expect("a client");
        StreamOwned::new(connection, house.connect())
    }

    /// An event made over TLS.
    fn event(&self, house: &House) -> String {
        let body = night().to_string();
        let mut stream = self.connect(house);
        let request = format!(
            "POST /v1/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {KEY}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).expect("sent");
        let made = Answer::read(&mut BufReader::new(stream)).json();
        made["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned()
    }

    /// What `onsale serve` says about these files.
    fn refusal(&self, cert: &str, key: &str) -> String {
        let environment =
            [("ONSALE_TLS__CERT", cert), ("ONSALE_TLS__KEY", key), ("ONSALE_LISTEN", "127.0.0.1:0")];
        let told = refused(self.folder.path(), &["serve"], &environment);
        assert!(!told.contains("serving https"), "refused before it says that it serves: {told}");
        assert!(!self.path("onsale-data").exists(), "a refusal leaves nothing behind");
        told
    }
}

#[test]
fn requests_over_tls_get_their_answers() {
    let papers = Papers::new();
    let house = papers.house();
    let mut stream = BufReader::new(papers.connect(&house));
    for _ in 0..2 {
        let request = format!("GET /v1/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {KEY}\r\n\r\n");
        stream.get_mut().write_all(request.as_bytes()).expect("sent");
        let answer = Answer::read(&mut stream);
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(answer.json()["data"].is_array(), "{answer:?}");
    }
    assert_eq!(stream.get_ref().conn.alpn_protocol(), Some(&b"http/1.1"[..]));
    let request = "GET /v1/orders HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    stream.get_mut().write_all(request.as_bytes()).expect("sent");
    Answer::read(&mut stream).problem(401, "unauthenticated");
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).expect("closed in good order, not cut");
    assert!(rest.is_empty());
}

#[test]
fn plain_http_gets_nothing_from_a_tls_port() {
    let papers = Papers::new();
    let house = papers.house();
    let mut plain = house.connect();
    plain.write_all(b"GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").expect("sent");
    let mut told = Vec::new();
    let _ = plain.read_to_end(&mut told);
    let told = String::from_utf8_lossy(&told);
    assert!(!told.contains("HTTP/") && !told.contains("200"), "{told:?}");
    // And the next one, who knows how to ask, is served.
    let mut stream = papers.connect(&house);
    stream.write_all(b"GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").expect("sent");
    assert_eq!(Answer::read(&mut BufReader::new(stream)).status, 200);
}

#[test]
fn a_wrong_file_is_told_by_the_name_of_its_setting() {
    let papers = Papers::new();
    let other = Papers::new();
    fs::copy(other.path("key.pem"), papers.path("other.pem")).expect("copied");
    fs::write(papers.path("empty.pem"), "").expect("written");
    let label = "PRIVATE KEY";
    let broken = format!("-----BEGIN {label}-----\nbm90IGEga2V5\n-----END {label}-----\n");
    fs::write(papers.path("broken.pem"), broken).expect("written");
    for (cert, key, setting, file) in [
        ("cert.pem", "missing.pem", "tls.key", "missing.pem"),
        ("cert.pem", "empty.pem", "tls.key", "empty.pem"),
        ("cert.pem", "cert.pem", "tls.key", "cert.pem"),
        ("cert.pem", "broken.pem", "tls.key", "broken.pem"),
        ("cert.pem", "other.pem", "tls.key", "other.pem"),
        ("missing.pem", "key.pem", "tls.cert", "missing.pem"),
        ("empty.pem", "key.pem", "tls.cert", "empty.pem"),
        ("key.pem", "key.pem", "tls.cert", "key.pem"),
    ] {
        let told = papers.refusal(cert, key);
        assert!(told.contains(setting) && told.contains(file), "{cert} and {key}: {told}");
    }
}

#[test]
fn the_command_line_speaks_https_with_whom_it_trusts() {
    let papers = Papers::new();
    let house = papers.house();
    let event = papers.event(&house);
    let secure = format!("https://localhost:{}", house.address.port());
    let facts = ["facts", &event, "--key", KEY, "--server"];
    let told = onsale(papers.folder.path(), &[&facts[..], &[&secure, "--ca", "cert.pem"]].concat(), &[]);
    let lines = String::from_utf8_lossy(&told.stdout);
    assert!(told.status.success() && lines.contains("Night"), "{told:?}");
    let load =
        ["load", "--rate", "50", "--duration", "1s", "--buyers", "5", "--key", KEY, "--yes", "--server"];
    let told = onsale(papers.folder.path(), &[&load[..], &[&secure, "--ca", "cert.pem"]].concat(), &[]);
    assert!(told.status.success() && String::from_utf8_lossy(&told.stdout).contains("exact"), "{told:?}");

    let other = Papers::new();
    fs::copy(other.path("cert.pem"), papers.path("other.pem")).expect("copied");
    fs::write(papers.path("empty.pem"), "").expect("written");
    let plain = format!("http://localhost:{}", house.address.port());
    let by_number = format!("https://{}", house.address);
    for (server, more, words) in [
        (&secure, &[][..], "--ca"),
        (&plain, &["--ca", "cert.pem"], "--ca"),
        (&secure, &["--ca", "missing.pem"], "missing.pem"),
        (&secure, &["--ca", "empty.pem"], "no certificate"),
        (&secure, &["--ca", "other.pem"], "no TLS"),
        (&by_number, &["--ca", "cert.pem"], "no TLS"),
    ] {
        let told = refused(papers.folder.path(), &[&facts[..], &[server], more].concat(), &[]);
        assert!(told.contains(words), "{server} {more:?}: {told}");
    }
}
