//! Durable checkouts of one hot SKU, and durable bids, over HTTP by the shipped binary.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::{CONNECTIONS, House, KEY};
use crate::contest::{Contestant, Round};
use crate::http::{Answer, AnswerKind, Load, Script, drive};
use crate::ours::market;

/// Many times the bids under way: connections overtake each other, and a late bid would be too low.
const AUCTIONS: u64 = 16 * CONNECTIONS as u64;
/// An auction takes 10,000 bids, so that each round has auctions of its own.
const BIDS_MAX: u64 = 10_000;

#[derive(Clone, Copy, Debug)]
enum What {
    Checkouts,
    Bids,
}

#[derive(Debug)]
pub(crate) struct HttpFight {
    folder: PathBuf,
    what: What,
    house: Option<House>,
    /// Of the sale.
    path: String,
}

pub(crate) fn contestants(folder: &Path) -> Vec<Box<dyn Contestant>> {
    let contestant = |what, name| -> Box<dyn Contestant> {
        Box::new(HttpFight { folder: folder.join(name), what, house: None, path: String::new() })
    };
    vec![contestant(What::Checkouts, "http-checkout"), contestant(What::Bids, "http-bid")]
}

impl Contestant for HttpFight {
    fn subject(&self) -> String {
        match self.what {
            What::Checkouts => "http_checkout",
            What::Bids => "http_bid",
        }
        .to_owned()
    }

    fn prepare(&mut self) -> Result<()> {
        let house = House::open(&self.folder, &[])?;
        let body = format!(
            r#"{{"name":"Measured","starts_at":"1970-01-01T00:00:00Z","ends_at":"2100-01-01T00:00:00Z","currency":"EUR",
                "skus":[{{"id":"A","name":"A","price_minor":900,"stock":{}}}]}}"#,
            market::STOCK
        );
        self.path = format!("/v1/sales/{}/checkouts", made(&house, "/v1/sales", &body)?);
        self.house = Some(house);
        Ok(())
    }

    fn round(&mut self, length: Duration) -> Result<Round> {
        let house = self.house.as_ref().context("not prepared")?;
        let paths: Arc<[String]> = match self.what {
            What::Checkouts => Arc::from([self.path.clone()]),
            What::Bids => auctions(house)?,
        };
        let first = house.next.load(Ordering::Relaxed);
        let load = Load { address: house.address, connections: CONNECTIONS, threads: 1, length };
        let outcome = drive(&load, |_| FreshRequests {
            what: self.what,
            paths: paths.clone(),
            first,
            next: house.next.clone(),
            body: Vec::new(),
            bytes: Vec::new(),
        })?;
        Ok(outcome.latency.round(outcome.counted, outcome.took))
    }
}

fn made(house: &House, path: &str, body: &str) -> Result<String> {
    let text = String::from_utf8(house.post(path, body)?).context("the answer is text")?;
    let made: serde_json::Value = serde_json::from_str(&text).context("the answer is JSON")?;
    Ok(made["id"].as_str().with_context(|| format!("no id in {text}"))?.to_owned())
}

fn auctions(house: &House) -> Result<Arc<[String]>> {
    let ends_at = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24);
    let body = format!(
        r#"{{"name":"Measured","seller":"seller","currency":"EUR","ends_at":"{ends_at:.3}","start_minor":1,
            "tick_minor":1,"increment":1}}"#
    );
    let path = |_| Ok(format!("/v1/auctions/{}/bids", made(house, "/v1/auctions", &body)?));
    (0..AUCTIONS).map(path).collect()
}

/// Each request is another buyer's, under a key of its own, and accepted.
struct FreshRequests {
    what: What,
    paths: Arc<[String]>,
    first: u64,
    next: Arc<AtomicU64>,
    body: Vec<u8>,
    bytes: Vec<u8>,
}

impl Script for FreshRequests {
    fn request(&mut self, _number: u64) -> Result<&[u8]> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let nth = number - self.first;
        let path = &self.paths[(nth % self.paths.len() as u64) as usize];
        self.body.clear();
        match self.what {
            What::Checkouts => write!(self.body, r#"{{"lines":[{{"sku":"A","count":1}}]}}"#)?,
            What::Bids => {
                ensure!(nth < AUCTIONS * BIDS_MAX, "the auctions are full: plan shorter rounds");
                write!(self.body, r#"{{"max_minor":{},"currency":"EUR"}}"#, 10 + 2 * nth)?;
            }
        }
        self.bytes.clear();
        write!(
            self.bytes,
            "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
             content-length: {}\r\nauthorization: Bearer {KEY}\r\nonsale-buyer: buyer-{number}\r\n\
             idempotency-key: key-{number}\r\n\r\n",
            self.body.len()
        )?;
        self.bytes.extend_from_slice(&self.body);
        Ok(&self.bytes)
    }

    fn answer(&mut self, answer: &Answer<'_>) -> Result<AnswerKind> {
        match (self.what, answer.status) {
            (_, 200 | 201) => Ok(AnswerKind::Yes),
            // Overtaken after all.
            (What::Bids, 409) => Ok(AnswerKind::No),
            (_, other) => bail!("refused with {other}"),
        }
    }
}
