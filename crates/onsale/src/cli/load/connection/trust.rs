//! Whom an `https://` client believes: the certificates of one file and nobody else.

use std::io;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

#[derive(Clone)]
pub(super) struct Trust {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl Trust {
    pub(super) fn read(file: &Path, host: &str) -> anyhow::Result<Trust> {
        let told = || format!("--ca {}", file.display());
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_file_iter(file).with_context(told)? {
            roots.add(certificate.with_context(told)?).with_context(told)?;
        }
        if roots.is_empty() {
            bail!("{}: no certificate in it", told());
        }
        let name = ServerName::try_from(host.to_owned()).with_context(|| format!("the host {host:?}"))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let config = config.with_root_certificates(roots).with_no_client_auth();
        Ok(Trust { connector: Arc::new(config).into(), name })
    }

    pub(super) async fn greet(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        self.connector.connect(self.name.clone(), stream).await
    }
}

impl std::fmt::Debug for Trust {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trust").field("name", &self.name).finish_non_exhaustive()
    }
}
