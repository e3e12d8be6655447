//! Facts from a running server: page by page to the present, then, if wished, over the live stream.

use std::time::Duration;

use anyhow::{Context, bail};
use onsale_domain::{ListingId, ListingKind};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Args, Out};
use crate::cli::client::{Client, Reply, refused};

/// Between two attempts to come back to a server that is gone.
const RETRY: Duration = Duration::from_secs(1);
/// The longest event a stream may carry before we stop believing it is one.
const EVENT_BYTES_MAX: usize = 16 << 20;

pub(super) async fn print(args: &Args, listing: ListingId, out: &mut Out) -> anyhow::Result<()> {
    let Some(room) = room(listing.kind) else {
        bail!("no route tells the facts of this kind of listing; read them with --data <folder>");
    };
    let client = args.server.client()?;
    let mut after = args.after.clone();
    loop {
        let Some(page) = page(&client, room, listing, &mut after).await? else { continue };
        for fact in &page.data {
            out.fact(fact.get())?;
        }
        after = page.next;
        if !page.more {
            break;
        }
    }
    out.flush()?;
    if !args.follow {
        return Ok(());
    }
    let mut lost = false;
    loop {
        match follow(&client, listing, &mut after, out, &mut lost).await {
            Err(error) if super::is_broken_pipe(&error) => return Err(error),
            Err(error) if error.is::<ServerRefusal>() => return Err(error),
            done => {
                if !lost {
                    let why = done.err().map_or("the stream ended".to_owned(), |error| format!("{error:#}"));
                    eprintln!("onsale: {why}; waiting to go on after {after}");
                }
                lost = true;
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}

/// A page of facts, each as it was sent.
#[derive(Deserialize)]
struct Page {
    data: Vec<Box<RawValue>>,
    next: String,
    more: bool,
}

/// The next page; none if the position is not in the log, and then `after` is the one to go on from.
async fn page(
    client: &Client,
    room: &str,
    listing: ListingId,
    after: &mut String,
) -> anyhow::Result<Option<Page>> {
    let path = format!("/v1/{room}/{listing}/facts?limit=500&after={after}");
    let reply = client.get(&path).await?;
    if reply.status == 200 {
        return serde_json::from_slice(&reply.body).map(Some).context("the answer is no page of facts");
    }
    match (reply.status, reply.json()["position"].as_str()) {
        (410, Some(position)) if position != after => {
            go_on(after, position);
            Ok(None)
        }
        _ => Err(refused(&path, &reply)),
    }
}

fn go_on(after: &mut String, position: &str) {
    eprintln!("onsale: {after} is not in the log any more; going on after {position}");
    position.clone_into(after);
}

/// Under which path listings of a kind are found, if their facts are told there.
fn room(kind: ListingKind) -> Option<&'static str> {
    match kind {
        ListingKind::Event => Some("events"),
        ListingKind::Sale => Some("sales"),
        ListingKind::Series => Some("series"),
        ListingKind::Registration => Some("registrations"),
        ListingKind::Auction => Some("auctions"),
        ListingKind::Venue | ListingKind::Desk => None,
    }
}

/// The server answered, and the answer is no: asking again will not help.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct ServerRefusal(String);

/// Follows until the stream ends; `after` is always the last fact printed.
async fn follow(
    client: &Client,
    listing: ListingId,
    after: &mut String,
    out: &mut Out,
    lost: &mut bool,
) -> anyhow::Result<()> {
    let path = format!("/v1/{}/{listing}/stream", room(listing.kind).unwrap_or("events"));
    let mut response = client.follow(&path, after).await?;
    if response.status() != 200 {
        let (status, headers) = (response.status().as_u16(), std::mem::take(response.headers_mut()));
        let reply = Reply { status, headers, body: response.bytes().await? };
        let told = format!("{:#}", refused(&path, &reply));
        if reply.status == 503 {
            bail!(told);
        }
        return Err(ServerRefusal(told).into());
    }
    if std::mem::take(lost) {
        eprintln!("onsale: connected again");
    }
    let mut pending = Vec::new();
    while let Some(bytes) = response.chunk().await.context("the stream broke")? {
        pending.extend_from_slice(&bytes);
        while let Some(end) = pending.windows(2).position(|pair| pair == b"\n\n") {
            let event: Vec<u8> = pending.drain(..end + 2).collect();
            take(&String::from_utf8_lossy(&event), after, out)?;
        }
        if pending.len() > EVENT_BYTES_MAX {
            bail!("the stream sends something that is no event");
        }
        out.flush()?;
    }
    Ok(())
}

/// Takes one event of the stream.
fn take(event: &str, after: &mut String, out: &mut Out) -> anyhow::Result<()> {
    let field = |name: &str| {
        event.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim_start)
    };
    let data = field("data").unwrap_or_default();
    match field("event") {
        // A comment, or the greeting with the position we asked for.
        None | Some("position") => return Ok(()),
        Some("reload") => {
            let data: Value = serde_json::from_str(data).unwrap_or_default();
            go_on(after, data["position"].as_str().unwrap_or("0"));
            return Ok(());
        }
        Some(_) => out.fact(data)?,
    }
    if let Some(id) = field("id") {
        *after = id.to_owned();
    }
    Ok(())
}
