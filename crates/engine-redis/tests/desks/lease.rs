//! One server at a time looks after a desk; whoever has lost the lease writes nothing there any more.

use onsale_domain::desk::command::TakeWork;
use onsale_domain::desk::{DeskCommand, Webhook};
use onsale_domain::{Command, ListingId, ListingKind, Millis, Outcome, Tenant};
use onsale_engine_redis::caller::{ScriptCall, ScriptCaller, Stamp};
use onsale_engine_redis::commands::Terms;
use onsale_engine_redis::picture::Picture;
use onsale_engine_redis::reply::Reply;
use redis::Value;

use crate::lua;
use crate::on_lua::none_is_damaged;
use crate::server::Server;

const DESK: ListingId = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Desk, number: 0 };
const EVENT: ListingId = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 5 };
const NOW: Millis = 1_700_000_000_000;

struct Room {
    caller: ScriptCaller,
    picture: Picture,
    now: Millis,
    through: u64,
    events: u64,
}

impl Room {
    async fn call(&self, call: &ScriptCall) -> Value {
        let script = self.caller.scripts.get(call.name, call.layout);
        self.caller.link.script(script, &call.keys, &call.args).await.expect("an answer")
    }

    /// The token, if the lease is this server's now.
    async fn lease(&self, name: &str, for_ms: Millis) -> Option<i64> {
        let call = ScriptCall::lease(DESK, &self.caller.prefix, name, for_ms, self.now);
        let told = self.call(&call).await;
        let Value::Array(parts) = &told else { panic!("{told:?}") };
        match parts.as_slice() {
            [Value::Int(1), Value::Int(token)] => Some(*token),
            [Value::Int(0), Value::Int(_)] => None,
            other => panic!("{other:?}"),
        }
    }

    /// Whether it was written; else why not.
    async fn submit(&mut self, command: DeskCommand, lease: &str) -> Result<(), String> {
        let command = Command::Desk(command);
        let stamp = Stamp::Operation(u128::from(self.through) << 64 | u128::from(self.events));
        let clocks = (self.now, self.now);
        let call = ScriptCall::prepare(
            &self.picture,
            &command,
            stamp,
            None,
            &self.caller.prefix,
            &self.caller.terms,
            clocks,
        );
        let call = call.under_lease(lease);
        let told = call.read(self.call(&call).await).expect("an answer that reads");
        match told {
            Reply::Answer(answer) => {
                assert_eq!(answer.outcome, Outcome::Done);
                assert!(self.picture.apply(answer.step().expect("a fact")));
                Ok(())
            }
            Reply::Retry { why, .. } => Err(why),
            Reply::Trimmed { .. } | Reply::Damaged => panic!("nothing was trimmed or taken away"),
        }
    }

    async fn work(&mut self, lease: &str) -> Result<(), String> {
        self.through += 1;
        let (listing, through, slips) = (EVENT, self.through, Vec::new());
        self.submit(DeskCommand::TakeWork(TakeWork { listing, through, slips }), lease).await
    }

    async fn hear(&mut self) -> Result<(), String> {
        self.events += 1;
        let webhook = Webhook {
            provider: "p".into(),
            event: format!("e{}", self.events),
            kind: "k".into(),
            payment: None,
            refund: 0,
            reference: None,
            standing: None,
            failures: None,
        };
        self.submit(DeskCommand::ReceiveWebhook(Box::new(webhook)), "").await
    }
}

#[tokio::test]
async fn the_token_grows_and_an_old_one_writes_nothing() {
    let server = Server::start();
    let (link, scripts) = (server.link().await, lua::scripts("lease"));
    link.load(scripts.iter()).await.expect("scripts that compile");
    let terms = Terms { epoch: 1, compact_from: usize::MAX, strict: true, plain: true };
    let caller = ScriptCaller { link, scripts, prefix: "lease:".into(), terms };
    let mut room = Room { caller, picture: Picture::nothing(DESK), now: NOW, through: 0, events: 0 };
    room.submit(DeskCommand::Open, "").await.expect("opened");

    // Nobody has it yet, so nobody's word counts.
    assert_eq!(room.work("1|ann").await, Err("fenced".into()));
    assert_eq!(room.lease("ann", 3_000).await, Some(1));
    assert_eq!(room.lease("bob", 3_000).await, None);
    assert_eq!(room.work("1|ann").await, Ok(()));
    assert_eq!(room.work("1|bob").await, Err("fenced".into()));

    // Whoever asks again keeps it, under the same token.
    room.now += 2_999;
    assert_eq!((room.lease("bob", 3_000).await, room.lease("ann", 3_000).await), (None, Some(1)));
    room.now += 2_999;
    assert_eq!(room.lease("bob", 3_000).await, None);

    // Its time is over at its instant: another may take it, and the first writes nothing any more, but what it hears.
    room.now += 1;
    assert_eq!(room.work("1|ann").await, Ok(()));
    assert_eq!(room.lease("bob", 3_000).await, Some(2));
    assert_eq!(room.work("1|ann").await, Err("fenced".into()));
    assert_eq!(room.work("2|ann").await, Err("fenced".into()));
    assert_eq!(room.hear().await, Ok(()));
    assert_eq!(room.work("2|bob").await, Ok(()));

    // Given back, it is free at once.
    assert_eq!(room.lease("ann", 3_000).await, None);
    assert_eq!(room.lease("bob", 0).await, Some(2));
    assert_eq!(room.lease("ann", 3_000).await, Some(3));
    assert_eq!(room.work("2|bob").await, Err("fenced".into()));

    // What was decided somewhere else is not written either.
    room.picture.listing.offset -= 1;
    assert_eq!(room.work("3|ann").await, Err("moved".into()));
    none_is_damaged(&server.url(), "lease:").await;
}
