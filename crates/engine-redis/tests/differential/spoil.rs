//! One key of a listing is somebody else's for the time of one command, or its stream goes on behind the listing's head.
//! A script that meets it fails before it writes: everything else is as it was, and when the key is put back the same
//! command under the same operation id is decided as if nothing had been.

use onsale_domain::ListingId;
use onsale_engine_redis::caller::{ScriptCaller, Stamp};
use onsale_engine_redis::keys::{KEYS, Keys};
use redis::{FromRedisValue, Value};

use super::chance::Chance;

/// Every so many commands meet such a key.
const EVERY: u64 = 10;
/// What the keys hold, in one moment; of a hash, whose order may change when it is read, sorted.
const LOOK: &str = "local all = {} \
    for n, key in ipairs(KEYS) do \
      if redis.call('TYPE', key).ok == 'hash' then \
        local flat, pairs = redis.call('HGETALL', key), {} \
        for at = 1, #flat, 2 do pairs[#pairs + 1] = #flat[at] .. ':' .. flat[at] .. flat[at + 1] end \
        table.sort(pairs) \
        all[n] = table.concat(pairs, ' ') \
      else \
        all[n] = redis.call('DUMP', key) or '' \
      end \
    end \
    return all";
/// A marker may end while it is aside.
const PUT_BACK: &str = "redis.call('DEL', KEYS[1]) \
    if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('RENAME', KEYS[2], KEYS[1]) end";
/// The same on the way there; says whether there was anything.
const PUT_ASIDE: &str = "if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end \
    redis.call('RENAME', KEYS[1], KEYS[2]) return 1";
/// Behind every head there is.
const AHEAD: &str = "8191-1";

/// A key that is not what it should be; what it was stands aside.
pub(crate) struct Spoiled {
    key: String,
    aside: String,
    keys: Vec<String>,
    before: Vec<Vec<u8>>,
}

impl std::fmt::Display for Spoiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a foreign {}", self.key)
    }
}

impl Spoiled {
    /// Now and then; always the same of the same seed.
    pub(crate) async fn sometimes(
        caller: &ScriptCaller,
        listing: ListingId,
        stamp: Stamp,
        chance: &mut Chance,
    ) -> Option<Spoiled> {
        if !chance.one_in(EVERY) {
            return None;
        }
        let all = Keys::new(&caller.prefix, &listing);
        let key = all.all()[chance.below(KEYS as u64) as usize].clone();
        let aside = format!("aside:{key}");
        let exists = tell(caller, &["EVAL", PUT_ASIDE, "2", &key, &aside]).await == Value::Int(1);
        if key == all.facts() && exists && chance.one_in(2) {
            tell(caller, &["COPY", &aside, &key]).await;
            tell(caller, &["XADD", &key, AHEAD, "who", "somebody"]).await;
        } else {
            // No key of ours is a set.
            tell(caller, &["SADD", &key, "foreign"]).await;
        }
        let scope = match stamp {
            Stamp::Key(key) => Some(key.scope),
            Stamp::Operation(scope) => Some(scope),
            Stamp::None => None,
        };
        let mut spoiled = Spoiled { key, aside, keys: all.with_idem(scope), before: Vec::new() };
        spoiled.before = spoiled.look(caller).await;
        Some(spoiled)
    }

    async fn look(&self, caller: &ScriptCaller) -> Vec<Vec<u8>> {
        let mut command = redis::cmd("EVAL");
        command.arg(LOOK).arg(self.keys.len()).arg(&self.keys);
        let told = caller.link.query(&command).await.expect("a look");
        Vec::<Vec<u8>>::from_redis_value(told).expect("a text a key")
    }

    /// What a script that failed has changed.
    pub(crate) async fn changed(&self, caller: &ScriptCaller) -> Vec<String> {
        let after = self.look(caller).await;
        let pairs = self.keys.iter().zip(self.before.iter().zip(&after));
        // A marker may end by itself.
        let ended = |key: &str, after: &[u8]| key.contains(":marker:") && after.is_empty();
        let changed = pairs.filter(|(key, (before, after))| before != after && !ended(key, after));
        changed.map(|(key, _)| key.clone()).collect()
    }

    /// What was aside comes back, unless the script has made something new of the key.
    pub(crate) async fn put_back(&self, caller: &ScriptCaller) {
        let place = self.keys.iter().position(|key| *key == self.key).expect("one of them");
        if self.look(caller).await[place] == self.before[place] {
            tell(caller, &["EVAL", PUT_BACK, "2", &self.key, &self.aside]).await;
        }
        tell(caller, &["DEL", &self.aside]).await;
    }
}

async fn tell(caller: &ScriptCaller, words: &[&str]) -> Value {
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]);
    caller.link.query(&command).await.unwrap_or_else(|error| panic!("{words:?}: {error}"))
}
