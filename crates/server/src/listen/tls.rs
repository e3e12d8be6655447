//! TLS by configuration: rustls on ring, HTTP/1.1 only.

use std::io;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::config::Tls;

pub type Acceptor = tokio_rustls::TlsAcceptor;

pub fn acceptor(tls: &Tls) -> io::Result<Acceptor> {
    // A second server in this process finds it installed; that is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let wrong = |what: &str, error: &dyn std::fmt::Display| {
        io::Error::new(io::ErrorKind::InvalidInput, format!("{what}: {error}"))
    };
    let name = |path: &std::path::Path| path.display().to_string();
    let chain: Vec<_> = CertificateDer::pem_file_iter(&tls.cert)
        .and_then(Iterator::collect)
        .map_err(|error| wrong(&name(&tls.cert), &error))?;
    if chain.is_empty() {
        return Err(wrong(&name(&tls.cert), &"no certificate in it"));
    }
    let key = PrivateKeyDer::from_pem_file(&tls.key).map_err(|error| wrong(&name(&tls.key), &error))?;
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| wrong("the certificate and its key", &error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config).into())
}
