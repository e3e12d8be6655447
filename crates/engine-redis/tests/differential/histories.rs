//! The same seeded histories on the domain and on Lua: every answer and every fact compared, and now and then the
//! whole state. `ONSALE_DIFFERENTIAL=full` runs more of them; `ONSALE_SEED=n` one history, told.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use onsale_domain::about::{About, Card, Coordinates};
use onsale_domain::listing::{Creation, Describe, Key, ListingCommand};
use onsale_domain::{Command, Listing, ListingId, ListingKind, Millis, Outcome, Step};
use onsale_engine::Answer;
use onsale_engine_redis::caller::{ScriptCaller, Stamp};
use onsale_engine_redis::picture::Picture;
use onsale_engine_redis::reply::Reply;
use onsale_engine_redis::state;

use super::chance::Chance;
use super::reference::Reference;
use super::spoil::Spoiled;
use super::tally::{Reachable, Tally};

/// Commands in one history: long enough for an hour to pass in it.
const LENGTH: usize = 400;
/// Histories at a time on one connection.
const SIDE_BY_SIDE: usize = 4;
/// The whole state is compared after so many commands.
const LOOK_EVERY: usize = 40;
/// Makes another chance of a history's seed.
const SPOILS: u64 = 0x5901_1ed0;

/// Makes a third.
const OWN: u64 = 0x0a11_c1ad;
/// Listings may be deleted in the last commands of a history.
const DELETES: usize = 60;

/// What was asked under keys, for asking again.
pub(crate) type SentCommands = Vec<(Key, ListingId, Command)>;

/// What was answered under a key: mostly lately, often of a verb that is rarely asked.
pub(crate) fn asked_before(asked: &SentCommands, chance: &mut Chance) -> Option<(Key, ListingId, Command)> {
    if chance.one_in(2) {
        return chance.recent(asked, 12).cloned();
    }
    let mut verbs: Vec<&str> = asked.iter().map(|(_, _, command)| command.verb().name).collect();
    verbs.sort_unstable();
    verbs.dedup();
    let verb = *chance.pick(&verbs)?;
    let of_verb: Vec<usize> = (0..asked.len()).filter(|n| asked[*n].2.verb().name == verb).collect();
    let n = *chance.recent(&of_verb, 3)?;
    asked.get(n).cloned()
}

/// What is asked, of which listing, under which key.
pub(crate) struct Ask {
    pub listing: ListingId,
    pub command: Command,
    pub key: Option<Key>,
}

/// Where a history takes place: it makes up the commands, and learns what came of them.
pub(crate) trait Course: Send + Sync + 'static {
    fn of_seed(seed: u64) -> Self;
    fn chance(&mut self) -> &mut Chance;
    fn now(&self) -> Millis;
    fn pass_time(&mut self);
    fn fresh(&mut self) -> u64;
    /// The listing that the history is about.
    fn listing(&self) -> ListingId;
    fn ask(&mut self, about: &Listing) -> Ask;
    fn asked(&mut self) -> &mut SentCommands;
    fn learn(&mut self, step: &Step);
}

/// The same, with what its histories must have reached to prove something.
pub(crate) trait World: Course {
    const REACHABLE: Reachable;
    /// Whether short scripts are tried first; in some histories the scripts with all the rules must do everything.
    fn is_plain(_seed: u64) -> bool {
        true
    }
}

/// A world that has chance, time and keys of its own takes its course by its own methods; `$listing` is the field with
/// the listing it is about.
macro_rules! takes_its_course {
    ($world:ty, $listing:ident) => {
        impl $crate::differential::histories::Course for $world {
            fn of_seed(seed: u64) -> Self {
                Self::new(seed)
            }

            fn chance(&mut self) -> &mut $crate::differential::chance::Chance {
                &mut self.chance
            }

            fn now(&self) -> onsale_domain::Millis {
                self.now
            }

            fn pass_time(&mut self) {
                Self::pass_time(self);
            }

            fn fresh(&mut self) -> u64 {
                Self::fresh(self)
            }

            fn listing(&self) -> onsale_domain::ListingId {
                self.$listing
            }

            fn ask(&mut self, about: &onsale_domain::Listing) -> $crate::differential::histories::Ask {
                Self::ask(self, about)
            }

            fn asked(&mut self) -> &mut $crate::differential::histories::SentCommands {
                &mut self.asked
            }

            fn learn(&mut self, step: &onsale_domain::Step) {
                Self::learn(self, step);
            }
        }
    };
}
pub(crate) use takes_its_course;

struct History<W> {
    caller: ScriptCaller,
    seed: u64,
    world: W,
    references: BTreeMap<ListingId, Reference>,
    pictures: BTreeMap<ListingId, Picture>,
    tally: Tally,
    /// The chance of its own by which keys are spoiled, so that the history stays what it is.
    spoils: Chance,
    /// Another, by which it is asked what every kind can be asked.
    own: Chance,
    told: bool,
}

impl<W: World> History<W> {
    async fn run(mut self) -> Result<Tally, String> {
        for n in 0..LENGTH {
            self.world.pass_time();
            let about = self.world.listing();
            let reference = self.references.entry(about).or_insert_with(|| Reference::new(about));
            let known = match reference.listing.is_deleted() {
                true => &Listing::new(about, 1),
                false => &reference.listing,
            };
            let asked = self.world.ask(known);
            let ask = self.of_every_kind(asked, n);
            let wrong = |why: String| format!("seed {}, command {n}: {:?}\n{why}", self.seed, ask.command);
            let now = self.world.now();
            let reference = self.references.entry(ask.listing).or_insert_with(|| Reference::new(ask.listing));
            let expected = reference.submit(&ask.command, ask.key, now);
            let stamp = match (ask.key, &ask.command) {
                (Some(key), _) => Stamp::Key(key),
                (None, Command::ExpireDue { .. }) => Stamp::None,
                (None, _) => Stamp::Operation(self.world.fresh().into()),
            };
            if self.told {
                println!("{n} at {now} {:?} {:?}\n   -> {:?}", ask.command, ask.key, expected);
            }
            let picture = self.pictures.entry(ask.listing).or_insert_with(|| Picture::nothing(ask.listing));
            let spoiled = Spoiled::sometimes(&self.caller, ask.listing, stamp, &mut self.spoils).await;
            let mut reply = ask_script(&self.caller, picture, &ask.command, stamp, now).await;
            if let Some(spoiled) = spoiled {
                let failed = reply.is_err();
                let changed = if failed { spoiled.changed(&self.caller).await } else { Vec::new() };
                if !changed.is_empty() {
                    return Err(wrong(format!("{spoiled} made it fail in the middle: {changed:?} changed")));
                }
                spoiled.put_back(&self.caller).await;
                if failed {
                    self.tally.failed += 1;
                    reply = ask_script(&self.caller, picture, &ask.command, stamp, now).await;
                }
            }
            let reply = reply.map_err(&wrong)?;
            let got = take(&self.caller, picture, reply).await.map_err(&wrong)?;
            compare(&expected, &got).map_err(&wrong)?;
            if self.world.chance().one_in(16)
                && expected.step().is_some()
                && expected.outcome == Outcome::Done
                && stamp != Stamp::None
            {
                // The answer got lost on its way, and the command is sent again.
                let again =
                    submit(&self.caller, picture, &ask.command, stamp, now + 1).await.map_err(&wrong)?;
                let expected = Answer { replayed: matches!(stamp, Stamp::Key(_)), ..expected.clone() };
                compare(&expected, &again).map_err(|why| wrong(format!("sent again: {why}")))?;
            }
            self.tally.count(&ask.command, &got);
            // A yes is told again; a no is decided anew.
            let told_again = expected.outcome == Outcome::Done && !expected.replayed;
            if let Some(key) = ask.key.filter(|_| told_again || n % 8 == 0) {
                self.world.asked().push((key, ask.listing, ask.command.clone()));
            }
            if let Some(step) = got.step().filter(|_| !got.replayed && ask.listing == about) {
                self.world.learn(step);
            }
            if n % LOOK_EVERY == LOOK_EVERY - 1 {
                self.look().await.map_err(|why| format!("seed {}, after command {n}: {why}", self.seed))?;
            }
        }
        Ok(self.tally)
    }

    /// Now and then what every kind can be asked instead: by a chance of its own, so that the history stays what it is. What
    /// could be deleted is, near the end.
    fn of_every_kind(&mut self, ask: Ask, n: usize) -> Ask {
        let own = &mut self.own;
        let is_desk = ask.listing.kind == ListingKind::Desk;
        let is_plain = !matches!(ask.command, Command::Create(_));
        if !is_desk && is_plain && ask.command.creates() && own.one_in(2) {
            let about = about(own);
            let command = Command::Create(Box::new(Creation { command: ask.command, about }));
            return Ask { command, ..ask };
        }
        if is_desk || !own.one_in(16) {
            return ask;
        }
        let key = own.one_in(2).then(|| {
            let (scope, fingerprint) = (own.next(), u128::from(own.next()) << 1);
            Key { scope: scope.into(), fingerprint }
        });
        let known = self.references.get(&ask.listing).map(|reference| &reference.listing);
        let command = if own.one_in(2) {
            let About { metadata, card, .. } = about(own);
            let describe =
                Describe { metadata: own.one_in(2).then_some(metadata), card: own.one_in(2).then_some(card) };
            Command::Listing(ListingCommand::Describe(Box::new(describe)))
        } else {
            Command::Listing(ListingCommand::Delete)
        };
        let is_deletion = command == Command::Listing(ListingCommand::Delete);
        let would_be = known.is_some_and(|known| {
            let outcome = known.clone().execute(&command, self.world.now(), &mut Vec::new());
            outcome == Outcome::Done
        });
        if is_deletion && would_be && n < LENGTH - DELETES {
            return ask;
        }
        Ask { listing: ask.listing, command, key }
    }

    /// Everything that Redis has against everything that the domain has.
    async fn look(&self) -> Result<(), String> {
        for (listing, reference) in &self.references {
            let kept = self.caller.state(*listing).await.map_err(|error| error.to_string())?;
            let Some(kept) = kept else {
                if reference.listing.exists() {
                    return Err(format!("{listing} is gone"));
                }
                continue;
            };
            state::check(&kept, *listing)?;
            let read = kept.picture(*listing).map_err(|error| error.to_string())?;
            if read.listing.canonical_image() != reference.listing.canonical_image() {
                return Err(format!("{listing}: the state in redis is another one"));
            }
        }
        Ok(())
    }
}

/// Sometimes out of bounds.
fn about(chance: &mut Chance) -> About {
    let some = |chance: &mut Chance, text: &str| chance.one_in(2).then(|| text.to_owned());
    let country = if chance.one_in(9) { "pt" } else { "PT" };
    let card = Card {
        category: some(chance, "brass | \"wind\" {é}"),
        tags: (0..chance.below(3)).map(|n| format!("tag {n}")).collect(),
        city: some(chance, "Lisboa"),
        country: some(chance, country),
        coordinates: chance
            .one_in(2)
            .then_some(Coordinates { latitude_micro: -1, longitude_micro: 179_999_999 }),
        picture: some(chance, "https://example.org/a%20b.png"),
        organiser: some(chance, "A, B & C"),
        is_virtual: chance.one_in(2),
    };
    About {
        external_id: some(chance, "shop 7/é"),
        metadata: some(chance, "{\"a\":\"\\n | '\",\"b\":[]}"),
        card: chance.one_in(2).then_some(card),
    }
}

async fn submit(
    caller: &ScriptCaller,
    picture: &mut Picture,
    command: &Command,
    stamp: Stamp,
    now: i64,
) -> Result<Answer, String> {
    let reply = ask_script(caller, picture, command, stamp, now).await?;
    take(caller, picture, reply).await
}

async fn ask_script(
    caller: &ScriptCaller,
    picture: &Picture,
    command: &Command,
    stamp: Stamp,
    now: i64,
) -> Result<Reply, String> {
    match caller.submit(picture, command, (stamp, None), now, now).await {
        // Whoever calls scripts for others makes an error of it.
        Ok(Reply::Damaged) => Err("damaged".to_owned()),
        reply => reply.map_err(|error| error.to_string()),
    }
}

/// The answer, learned by the picture.
async fn take(caller: &ScriptCaller, picture: &mut Picture, reply: Reply) -> Result<Answer, String> {
    let answer = match reply {
        Reply::Answer(answer) => *answer,
        // Nobody else is here: what the command was prepared from cannot have moved.
        Reply::Retry { why, .. } => return Err(format!("retry: {why}")),
        Reply::Trimmed { .. } => return Err("trimmed".into()),
        Reply::Damaged => return Err("damaged".into()),
    };
    if let Some(step) = answer.step().filter(|step| step.first > picture.listing.offset) {
        assert!(picture.apply(step), "a picture misses nothing");
        if step.first == 1 {
            // The layout of a new event is in its head.
            let read = caller.picture(picture.listing.id).await.map_err(|error| error.to_string())?;
            picture.layout = read.layout;
        }
    }
    Ok(answer)
}

fn compare(expected: &Answer, got: &Answer) -> Result<(), String> {
    let parts = |answer: &Answer| {
        format!(
            "{:?}\nat {} replayed {}\n{:?}\n{:?}",
            answer.position,
            answer.at,
            answer.replayed,
            answer.outcome,
            answer.step()
        )
    };
    let same = expected.position == got.position
        && expected.at == got.at
        && expected.replayed == got.replayed
        && expected.outcome == got.outcome
        && expected.step() == got.step();
    if same { Ok(()) } else { Err(format!("expected {}\ngot {}", parts(expected), parts(got))) }
}

/// Runs histories until there were enough commands; the tally of all, or what went wrong first.
pub(crate) async fn histories<W: World>(
    caller: &ScriptCaller,
    seeds: Range<u64>,
    told: bool,
) -> Result<Tally, String> {
    let (next, end) = (Arc::new(AtomicU64::new(seeds.start)), seeds.end);
    let tasks: Vec<_> = (0..SIDE_BY_SIDE)
        .map(|_| {
            let (caller, next) = (caller.clone(), next.clone());
            tokio::spawn(async move {
                let mut tally = Tally::new(W::REACHABLE);
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        return Ok::<Tally, String>(tally);
                    }
                    let (references, pictures) = (BTreeMap::new(), BTreeMap::new());
                    let (world, own) = (W::of_seed(seed), Tally::new(W::REACHABLE));
                    let mut caller = caller.clone();
                    caller.terms.plain &= W::is_plain(seed);
                    let (spoils, asks) = (Chance::new(seed ^ SPOILS), Chance::new(seed ^ OWN));
                    let history = History {
                        caller,
                        seed,
                        world,
                        references,
                        pictures,
                        tally: own,
                        spoils,
                        own: asks,
                        told,
                    };
                    let ran = history.run().await;
                    if ran.is_err() {
                        // One difference is enough.
                        next.store(end, Ordering::Relaxed);
                    }
                    tally.add(&ran?);
                }
            })
        })
        .collect();
    let mut all = Tally::new(W::REACHABLE);
    for task in tasks {
        all.add(&task.await.expect("no panic")?);
    }
    // Nobody describes or deletes a desk.
    let is_own = W::of_seed(1).listing().kind != ListingKind::Desk;
    match all.failed {
        _ if is_own && all.own[..2].contains(&0) => {
            Err(format!("described, refused a deletion, deleted: {:?}", all.own))
        }
        0 => Err("no spoiled key was ever met".to_owned()),
        _ => Ok(all),
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Which histories are run: one that is named, many, or all.
pub(crate) fn seeds(few: u64, many: u64) -> Range<u64> {
    match number("ONSALE_SEED") {
        Some(seed) => seed..seed + 1,
        None => 1..1 + if is_full() { many } else { few },
    }
}

pub(crate) fn is_full() -> bool {
    std::env::var("ONSALE_DIFFERENTIAL").is_ok_and(|mode| mode == "full")
}

/// One history is told line by line.
pub(crate) fn is_told() -> bool {
    number("ONSALE_SEED").is_some()
}
