//! TLS by configuration: rustls on ring, HTTP/1.1 only.

use std::io;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::config::Tls;

pub type Acceptor = tokio_rustls::TlsAcceptor;

/// Reads the files; whatever is wrong with one is told by the setting that names it.
pub fn acceptor(tls: &Tls) -> io::Result<Acceptor> {
    // A second server in this process finds it installed; that is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (cert, key) =
        (format!("tls.cert = {}", tls.cert.display()), format!("tls.key = {}", tls.key.display()));
    let chain: Vec<_> = CertificateDer::pem_file_iter(&tls.cert)
        .and_then(Iterator::collect)
        .map_err(|error| wrong(&cert, &error))?;
    if chain.is_empty() {
        return Err(wrong(&cert, &"no certificate in it"));
    }
    let private = PrivateKeyDer::from_pem_file(&tls.key).map_err(|error| wrong(&key, &error))?;
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(|error| wrong(&format!("{cert} and {key} do not work together"), &error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config).into())
}

fn wrong(what: &str, error: &dyn std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{what}: {error}"))
}
