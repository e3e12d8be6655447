//! A certificate authority and a server's certificate for 127.0.0.1, made for one test.

use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, SanType};

/// PEM files in a folder that the caller keeps.
#[derive(Clone, Debug)]
pub struct Certificates {
    pub authority: PathBuf,
    pub certificate: PathBuf,
    pub key: PathBuf,
}

pub fn make(folder: &Path) -> Certificates {
    let mut params = CertificateParams::new(Vec::new()).expect("parameters");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer =
        CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority");
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).expect("parameters");
    params.subject_alt_names.push(SanType::IpAddress(Ipv4Addr::LOCALHOST.into()));
    let key = KeyPair::generate().expect("a key");
    let certificate = params.signed_by(&key, &issuer).expect("a certificate");
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        fs::write(&path, text).expect("a file");
        path
    };
    Certificates {
        authority: write("ca.pem", issuer.pem()),
        certificate: write("server.pem", certificate.pem()),
        key: write("server.key", key.serialize_pem()),
    }
}
