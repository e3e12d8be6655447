//! The store of shared tokens on Redis and Valkey: two scripts. How a script gets there is the caller's: any client will do that
//! finds the server of a key.

use std::fmt::{Debug, Display};

use redis::{FromRedisValue, Value};

use super::{Away, Bucket, Pending, SharedTokens, Slice, SliceRequest};
use crate::limits::gcra::{Level, Micros};
use onsale_domain::Tenant;

/// Buckets in one call: a script of so many takes some hundred microseconds, and others wait for it.
const CALL_MAX: usize = 128;

/// A script: called by its SHA, and loaded where that is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptText {
    pub name: &'static str,
    pub text: &'static str,
}

pub const TAKE_TOKENS: ScriptText =
    ScriptText { name: "take_tokens", text: include_str!("../../../lua/take_tokens.lua") };
pub const CHARGE_ATTEMPT: ScriptText =
    ScriptText { name: "charge_attempt", text: include_str!("../../../lua/charge_attempt.lua") };

/// Whatever can call a script where its first key lives. All keys of a call have one hash tag. A call may be sent again after trouble:
/// it charges twice then, which is the safe side.
pub trait ScriptCaller: Send + Sync + Debug + 'static {
    type Error: Display + Send;

    fn call(
        &self,
        script: ScriptText,
        keys: Vec<String>,
        args: Vec<String>,
    ) -> impl Future<Output = Result<Value, Self::Error>> + Send;
}

/// Tokens under `<prefix>rate_limit:{<tenant>}:<limit>:<identifier>`; each key lives until its bucket is full again.
#[derive(Debug)]
pub struct RedisTokens<C> {
    caller: C,
    prefix: String,
    /// 0: Redis' own. Tests have other times.
    clock_us: Micros,
}

impl<C: ScriptCaller> RedisTokens<C> {
    /// `prefix` is that of the deployment, such as `onsale:`.
    pub fn new(caller: C, prefix: impl Into<String>) -> RedisTokens<C> {
        RedisTokens { caller, prefix: prefix.into(), clock_us: 0 }
    }

    /// The same at a time of µs since 1970 that does not pass.
    #[must_use]
    pub fn at(self, clock_us: Micros) -> RedisTokens<C> {
        RedisTokens { clock_us, ..self }
    }

    fn key(&self, bucket: &Bucket) -> String {
        format!("{}rate_limit:{{{}}}:{}", self.prefix, bucket.tenant, bucket.name)
    }

    async fn call(&self, script: ScriptText, keys: Vec<String>, args: Vec<String>) -> Result<Value, Away> {
        self.caller.call(script, keys, args).await.map_err(|error| {
            tracing::debug!(script = script.name, %error, "{} did not work: {error}", script.name);
            Away
        })
    }

    async fn take_some(&self, requests: &[&SliceRequest]) -> Result<Vec<Slice>, Away> {
        let keys = requests.iter().map(|request| self.key(&request.bucket)).collect();
        let mut args = vec![self.clock_us.to_string()];
        for request in requests {
            let rate = request.bucket.rate;
            args.extend([rate.interval_us, rate.horizon_us].map(|number| number.to_string()));
            args.extend([request.spent, request.wanted].map(|number| number.to_string()));
        }
        let reply = self.call(TAKE_TOKENS, keys, args).await?;
        let slices: Vec<(u32, u32, Micros, Micros)> =
            FromRedisValue::from_redis_value(reply).map_err(|_| Away)?;
        if slices.len() != requests.len() {
            return Err(Away);
        }
        let slice = |(granted, remaining, next_in_us, full_in_us)| Slice {
            granted,
            level: Level { remaining, next_in_us, full_in_us },
        };
        Ok(slices.into_iter().map(slice).collect())
    }

    async fn charge_some(&self, buckets: &[Bucket]) -> Result<(bool, Vec<Level>), Away> {
        let keys = buckets.iter().map(|bucket| self.key(bucket)).collect();
        let mut args = vec![self.clock_us.to_string()];
        for bucket in buckets {
            args.extend([bucket.rate.interval_us, bucket.rate.horizon_us].map(|number| number.to_string()));
        }
        let reply = self.call(CHARGE_ATTEMPT, keys, args).await?;
        let mut parts: Vec<Value> = FromRedisValue::from_redis_value(reply).map_err(|_| Away)?;
        if parts.len() != buckets.len() + 1 {
            return Err(Away);
        }
        let levels = parts.split_off(1).into_iter().map(|part| {
            let (remaining, next_in_us, full_in_us) =
                FromRedisValue::from_redis_value(part).map_err(|_| Away)?;
            Ok(Level { remaining, next_in_us, full_in_us })
        });
        let levels = levels.collect::<Result<Vec<Level>, Away>>()?;
        Ok((parts == [Value::Int(1)], levels))
    }
}

impl<C: ScriptCaller> SharedTokens for RedisTokens<C> {
    fn take<'a>(&'a self, requests: &'a [SliceRequest]) -> Pending<'a, Vec<Slice>> {
        Box::pin(async move {
            // A call reaches one server, and a tenant's buckets are all on the same.
            let mut order: Vec<usize> = (0..requests.len()).collect();
            let tenant = |number: &usize| -> Tenant { requests[*number].bucket.tenant };
            order.sort_by_key(tenant);
            let mut slices = vec![Slice::default(); requests.len()];
            for some in
                order.chunk_by(|one, other| tenant(one) == tenant(other)).flat_map(|all| all.chunks(CALL_MAX))
            {
                let asked: Vec<&SliceRequest> = some.iter().map(|number| &requests[*number]).collect();
                for (number, slice) in some.iter().zip(self.take_some(&asked).await?) {
                    slices[*number] = slice;
                }
            }
            Ok(slices)
        })
    }

    fn charge<'a>(&'a self, buckets: &'a [Bucket]) -> Pending<'a, (bool, Vec<Level>)> {
        Box::pin(self.charge_some(buckets))
    }
}
