//! TLS towards PostgreSQL, on ring: the machine's own certificates are believed, or those of one file and no others.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::SqlError;

pub(super) fn connector(root: Option<&str>) -> Result<MakeRustlsConnect, SqlError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| SqlError::Configuration(format!("TLS: {error}")))?;
    let config = match root {
        Some(file) => builder.with_root_certificates(read(Path::new(file))?).with_no_client_auth(),
        None => builder
            .with_platform_verifier()
            .map_err(|error| {
                SqlError::Configuration(format!("this machine's certificates cannot be read: {error}"))
            })?
            .with_no_client_auth(),
    };
    Ok(MakeRustlsConnect::new(config))
}

fn read(file: &Path) -> Result<RootCertStore, SqlError> {
    let wrong = |what: String| SqlError::Configuration(format!("sslrootcert {}: {what}", file.display()));
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(|error| wrong(error.to_string()))? {
        let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
        roots.add(certificate).map_err(|error| wrong(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(wrong("no certificate in it".to_owned()));
    }
    Ok(roots)
}
