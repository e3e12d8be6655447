//! A private Redis on a free port, with the corrected scripts loaded.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::Flush;
use super::resp::{self, Reply};
use crate::process::{self, Running};

const CONFIG: &str = include_str!("../../../rivals/redis/redis.conf");
const ACQUIRE: &str = include_str!("../../../rivals/redis/acquire_seat_lock.lua");
const BID: &str = include_str!("../../../rivals/redis/place_bid.lua");
const CHECKOUT: &str = include_str!("../../../rivals/redis/atomic_checkout.lua");
const RELEASE: &str = include_str!("../../../rivals/redis/release_seat_lock.lua");

/// Somebody else may take the port between our question and Redis' start.
const ATTEMPTS: usize = 3;

#[derive(Debug)]
pub(crate) struct Instance {
    flush: Flush,
    folder: PathBuf,
    running: Option<Up>,
}

#[derive(Debug)]
struct Up {
    _server: Running,
    address: SocketAddr,
    scripts: Scripts,
}

/// The names under which Redis knows the scripts.
#[derive(Clone, Debug)]
pub(crate) struct Scripts {
    pub acquire: String,
    pub release: String,
    pub checkout: String,
    pub bid: String,
}

impl Instance {
    pub(crate) fn new(flush: Flush, folder: PathBuf) -> Self {
        Self { flush, folder, running: None }
    }

    /// Starts it unless somebody else already has.
    pub(crate) fn start(&mut self) -> Result<()> {
        if self.running.is_some() {
            return Ok(());
        }
        std::fs::create_dir_all(&self.folder).context("redis' folder")?;
        let mut trouble = None;
        for _ in 0..ATTEMPTS {
            match self.attempt() {
                Ok(up) => {
                    self.running = Some(up);
                    return Ok(());
                }
                Err(error) => trouble = Some(error),
            }
        }
        trouble.map_or(Ok(()), Err)
    }

    fn attempt(&self) -> Result<Up> {
        let port = process::free_port()?;
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let file = self.folder.join("redis.conf");
        std::fs::write(&file, config(port, &self.folder, self.flush)).context("redis' configuration")?;
        let mut server = Running::start(Command::new("redis-server").arg(&file), "-TERM")?;
        server.wait_until(|| ask(address, &["PING"]).is_ok()).context("redis-server")?;
        let scripts = Scripts {
            acquire: load(address, ACQUIRE)?,
            release: load(address, RELEASE)?,
            checkout: load(address, CHECKOUT)?,
            bid: load(address, BID)?,
        };
        Ok(Up { _server: server, address, scripts })
    }

    fn up(&self) -> Result<&Up> {
        self.running.as_ref().context("redis is not running")
    }

    pub(crate) fn address(&self) -> Result<SocketAddr> {
        Ok(self.up()?.address)
    }

    pub(crate) fn scripts(&self) -> Result<Scripts> {
        Ok(self.up()?.scripts.clone())
    }

    pub(crate) fn ask(&self, words: &[&str]) -> Result<Reply> {
        ask(self.up()?.address, words)
    }

    /// Forgets everything, so that each round finds only fresh seats.
    pub(crate) fn clear(&self) -> Result<()> {
        self.ask(&["FLUSHALL"]).map(drop)
    }
}

/// What every private server has in its configuration file.
pub(crate) fn config(port: u16, folder: &Path, flush: Flush) -> String {
    CONFIG
        .replace("@port@", &port.to_string())
        .replace("@folder@", &folder.display().to_string())
        .replace("@appendfsync@", flush.word())
}

fn load(address: SocketAddr, script: &str) -> Result<String> {
    match ask(address, &["SCRIPT", "LOAD", script])? {
        Reply::Text(name) => Ok(name),
        other @ (Reply::Integer(_) | Reply::List(_) | Reply::Nothing) => {
            bail!("SCRIPT LOAD answered {other:?}")
        }
    }
}

/// One command on a connection of its own.
pub(crate) fn ask(address: SocketAddr, words: &[&str]) -> Result<Reply> {
    let mut bytes = Vec::new();
    resp::command(&mut bytes, words.iter().copied());
    exchange(address, &bytes, 1)?.pop().context("no reply")
}

/// Sends commands and reads as many replies, off the clock.
pub(super) fn exchange(address: SocketAddr, commands: &[u8], replies: usize) -> Result<Vec<Reply>> {
    let mut stream = TcpStream::connect(address).context("connecting to redis")?;
    let mut sending = stream.try_clone()?;
    std::thread::scope(|scope| {
        // Both at once: Redis stops reading when nobody takes its replies.
        let sent = scope.spawn(move || sending.write_all(commands));
        let mut found = Vec::with_capacity(replies);
        let (mut buffer, mut chunk, mut at) = (Vec::new(), vec![0; 1 << 16], 0);
        while found.len() < replies {
            match resp::parse(&buffer[at..])? {
                Some((reply, length)) => {
                    found.push(reply);
                    at += length;
                }
                None => {
                    buffer.drain(..at);
                    at = 0;
                    let length = stream.read(&mut chunk).context("reading from redis")?;
                    if length == 0 {
                        bail!("redis closed the connection");
                    }
                    buffer.extend_from_slice(&chunk[..length]);
                }
            }
        }
        match sent.join() {
            Ok(result) => result.context("sending to redis")?,
            Err(_) => bail!("the sending thread panicked"),
        }
        Ok(found)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One row of the table: the words after EVALSHA and the reply in short.
    fn check(instance: &Instance, script: &str, keys: &[&str], arguments: &[&str], expected: &str) {
        let count = keys.len().to_string();
        let words = ["EVALSHA", script, &count]
            .into_iter()
            .chain(keys.iter().copied())
            .chain(arguments.iter().copied());
        let reply = instance.ask(&words.collect::<Vec<_>>()).expect("an answer");
        let Reply::List(parts) = reply else { panic!("{reply:?} is no list") };
        let shown: Vec<String> = parts
            .iter()
            .map(|part| match part {
                Reply::Text(text) => text.clone(),
                Reply::Integer(number) => number.to_string(),
                Reply::List(_) | Reply::Nothing => "?".to_owned(),
            })
            .collect();
        assert_eq!(shown.join(" "), expected, "{arguments:?}");
    }

    #[test]
    fn the_corrected_scripts_keep_their_contract() {
        let folder = tempfile::tempdir().expect("a private folder");
        let mut instance = Instance::new(Flush::EverySecond, folder.path().to_path_buf());
        instance.start().expect("redis-server is installed by `cargo xtask test`");
        let Scripts { acquire, release, .. } = instance.scripts().expect("loaded");
        let keys = |user: &str| {
            ["seat:lock:{e}:A1", "seat:queue:{e}:A1"]
                .map(str::to_owned)
                .into_iter()
                .chain([
                    format!("user:locks:{{e}}:{user}"),
                    "seat:sold:{e}".to_owned(),
                    "seat:fence:{e}".to_owned(),
                ])
                .collect::<Vec<_>>()
        };
        let acquire = |user: &str, now: &str, expected: &str| {
            let keys = keys(user);
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            check(&instance, &acquire, &keys, &[user, "A1", now, "120000"], expected);
        };
        let release = |user: &str, fence: &str, expected: &str| {
            let keys = keys(user);
            let keys: Vec<&str> = keys.iter().take(3).map(String::as_str).collect();
            check(&instance, &release, &keys, &[user, "A1", fence], expected);
        };
        acquire("ann", "1800000000000", "1 1 1800000120000");
        acquire("ann", "1800000000001", "2 1 1800000120000");
        acquire("bob", "1800000000002", "3 1");
        acquire("bob", "1800000000003", "3 1");
        acquire("eve-1", "1800000000004", "3 2");
        release("bob", "1", "0 invalid_token");
        release("ann", "7", "0 invalid_token");
        release("ann", "1", "1 bob");
        release("ann", "1", "0 not_locked");
        acquire("ann", "1800000000005", "1 4 1800000120005");
        release("ann", "4", "1 eve-1");
        instance.ask(&["SADD", "seat:sold:{e}", "A1"]).expect("sold");
        acquire("ann", "1800000000006", "0 seat_sold");
    }

    #[test]
    fn the_corrected_checkout_keeps_its_contract() {
        let folder = tempfile::tempdir().expect("a private folder");
        let mut instance = Instance::new(Flush::EverySecond, folder.path().to_path_buf());
        instance.start().expect("redis-server is installed by `cargo xtask test`");
        let script = instance.scripts().expect("loaded").checkout;
        instance.ask(&["SET", "sale:{s}:available", "3"]).expect("some stock");
        let checkout = |user: &str, code: &str, expected: &str| {
            let (count, code_key) = (format!("user:{{s}}:{user}:count"), format!("checkout:{{s}}:{code}"));
            let keys = ["sale:{s}:available", &count, &code_key, "sale:{s}:due"];
            check(&instance, &script, &keys, &[user, code, "1", "2", "1000", "600000"], expected);
        };
        checkout("ann", "a", "1 2 601000");
        checkout("bob", "a", "0 code_taken");
        checkout("ann", "b", "1 1 601000");
        checkout("ann", "c", "0 limit");
        checkout("bob", "d", "1 0 601000");
        checkout("bob", "e", "0 sold_out");
    }
}
