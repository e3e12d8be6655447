//! The one way to a Redis server. Everything else in this crate is pure; nothing here decides.

use redis::aio::MultiplexedConnection;
use redis::{Client, Cmd, RedisError, Value};
use thiserror::Error;

use crate::scripts::{Script, Scripts};

/// A connection that many callers share.
#[derive(Clone)]
pub struct Link {
    connection: MultiplexedConnection,
}

#[derive(Clone, Debug, Error)]
pub enum LinkError {
    /// The server does not know the script: it may have forgotten more than that.
    #[error("the server has forgotten its scripts")]
    Forgotten,
    #[error("redis: {0}")]
    Redis(RedisError),
}

impl From<RedisError> for LinkError {
    fn from(error: RedisError) -> LinkError {
        match error.kind() {
            redis::ErrorKind::Server(redis::ServerErrorKind::NoScript) => LinkError::Forgotten,
            _ => LinkError::Redis(error),
        }
    }
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Link")
    }
}

impl Link {
    pub async fn open(url: &str) -> Result<Link, LinkError> {
        let connection = Client::open(url)?.get_multiplexed_async_connection().await?;
        Ok(Link { connection })
    }

    /// Loads every script of a generation.
    pub async fn load(&self, scripts: &Scripts) -> Result<(), LinkError> {
        for script in scripts.iter() {
            self.query(redis::cmd("SCRIPT").arg("LOAD").arg(&script.text)).await?;
        }
        Ok(())
    }

    /// Calls a script by its SHA.
    pub async fn script(
        &self,
        script: &Script,
        keys: &[String],
        args: &[Vec<u8>],
    ) -> Result<Value, LinkError> {
        self.query(redis::cmd("EVALSHA").arg(&script.sha).arg(keys.len()).arg(keys).arg(args)).await
    }

    pub async fn query(&self, command: &Cmd) -> Result<Value, LinkError> {
        Ok(command.query_async(&mut self.connection.clone()).await?)
    }
}
