//! A certificate for 127.0.0.1 and the authority behind it, made for one cluster that speaks TLS on a free port.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, SanType};

use crate::owner::Owner;

#[derive(Debug)]
pub(crate) struct Tls {
    pub(crate) port: u16,
    /// The file that a client believes.
    pub(crate) authority: PathBuf,
    certificate: PathBuf,
    key: PathBuf,
}

impl Tls {
    pub(crate) fn make(folder: &Path, owner: Owner) -> Tls {
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key"));
        let issuer = issuer.expect("an authority");
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.subject_alt_names.push(SanType::IpAddress(Ipv4Addr::LOCALHOST.into()));
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &issuer).expect("a certificate");
        let write = |name: &str, text: String| {
            let path = folder.join(name);
            fs::write(&path, text).expect("a file");
            owner.give_secret(&path);
            path
        };
        Tls {
            port: free_port(),
            authority: write("authority.pem", issuer.pem()),
            certificate: write("server.pem", certificate.pem()),
            key: write("server.key", key.serialize_pem()),
        }
    }

    pub(crate) fn settings(&self) -> [String; 5] {
        [
            "listen_addresses=127.0.0.1".to_owned(),
            format!("port={}", self.port),
            "ssl=on".to_owned(),
            format!("ssl_cert_file={}", self.certificate.display()),
            format!("ssl_key_file={}", self.key.display()),
        ]
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("an address").port()
}
