//! A rolling update: a server of the previous release and one of this release on the same Redis. Both decide, in
//! turns and on the same listings; neither disturbs the other, and what one writes the other reads.
//! `ONSALE_RECORD_RELEASE=1` first writes this release down as the previous one: done once, when it is released.

#[path = "upgrade/previous.rs"]
mod previous;
#[path = "upgrade/story.rs"]
mod story;
mod support;
#[path = "upgrade/words.rs"]
mod words;

use std::collections::BTreeMap;

use onsale_domain::{Command, ListingId, Outcome};
use onsale_engine_redis::commands::Terms;
use onsale_engine_redis::deployment::Deployment;
use onsale_engine_redis::desk::{Asked, Desk};
use onsale_engine_redis::layout::Layout;
use onsale_engine_redis::link::{Config, Link};
use onsale_engine_redis::picture::Picture;
use onsale_engine_redis::reply::Reply;
use onsale_engine_redis::scripts::Name;
use onsale_engine_redis::{Keys, Scripts, state};
use previous::{Call, Previous, Tale};
use story::{EVENT, Line, STORY, VENUE};
use support::{Brand, Server};

/// Who decides a line of the story.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Old,
    New,
}

/// A server of this release, which knows of a listing only what Redis tells.
struct New {
    deployment: Deployment<Scripts>,
    terms: Terms,
}

impl New {
    async fn join(server: &Server, layout: Layout) -> New {
        let link = Link::open(Config::from(&server.url())).await.expect("a link");
        let deployment: Deployment<Scripts> = Deployment::join(&link).await.expect("a deployment");
        // The desk reads with it past the deployment.
        let read = deployment.current().scripts.get(Name::ReadState, layout).clone();
        link.load([&read]).await.expect("a script that compiles");
        let compact_from = if layout == Layout::Compact { 1 } else { usize::MAX };
        New { deployment, terms: Terms { epoch: 1, compact_from, strict: true, plain: true } }
    }

    fn desk(&self) -> Desk {
        let (link, scripts) = (self.deployment.link().clone(), self.deployment.current().scripts.clone());
        Desk { link, scripts, prefix: String::new(), terms: self.terms }
    }

    async fn decide(&self, line: &Line) -> (Call, redis::Value) {
        let picture = self.desk().picture(line.listing).await.expect("what the other wrote can be read");
        let command = (line.command)(&picture);
        let (mut asked, mut value, mut told) = self.ask(&picture, &command, line, self.terms).await;
        if matches!(&told, Reply::Retry { why, .. } if why == "plain") {
            let not_plain = Terms { plain: false, ..self.terms };
            (asked, value, told) = self.ask(&picture, &command, line, not_plain).await;
        }
        let Reply::Answer(answer) = told else { panic!("{command:?}: {told:?}") };
        let refused = matches!(answer.outcome, Outcome::Refused(_));
        assert_eq!(refused, line.refused, "{command:?}: {:?}", answer.outcome);
        let script = previous::label(self.desk().scripts.get(asked.name, asked.layout).name, asked.layout);
        (Call { script, keys: asked.keys, args: asked.args }, value)
    }

    async fn ask(
        &self,
        picture: &Picture,
        command: &Command,
        line: &Line,
        terms: Terms,
    ) -> (Asked, redis::Value, Reply) {
        let asked = Asked::prepare(picture, command, line.stamp, None, "", &terms, (line.at, line.at));
        let value = self
            .deployment
            .call(|scripts| scripts.get(asked.name, asked.layout), &asked.keys, &asked.args)
            .await
            .expect("an answer");
        let told = asked.read(value.clone()).expect("an answer that reads");
        (asked, value, told)
    }

    /// All facts of a listing, as its stream has them.
    async fn facts(&self, listing: ListingId) -> String {
        let keys = Keys::new("", &listing);
        let range = redis::cmd("XRANGE").arg(keys.facts()).arg("-").arg("+").to_owned();
        words::of_value(&self.deployment.link().at(keys.facts(), &range).await.expect("a stream"))
    }

    /// The facts since the beginning, applied, are what Redis keeps, and what it keeps twice is the same twice.
    async fn check(&self, listing: ListingId) {
        let kept = self.desk().state(listing).await.expect("an answer").expect("a state");
        state::check(&kept, listing).expect("kept twice, and the same");
        let told = support::facts::all(self.deployment.link(), "", listing).await;
        let mut picture = Picture::nothing(listing);
        told.iter().for_each(|step| assert!(picture.apply(step), "no gap"));
        let read = kept.picture(listing).expect("a picture");
        assert!(read.listing.canonical_image() == picture.listing.canonical_image(), "{listing}");
    }
}

/// Plays the story with `who` deciding each line; what was told, and all facts at the end.
async fn play(server: &Server, layout: Layout, tale: Option<&Tale>, who: impl Fn(usize) -> Who) -> Tale {
    server.tell("FLUSHALL");
    server.tell("SCRIPT FLUSH");
    let new = New::join(server, layout).await;
    let link = Link::open(Config::from(&server.url())).await.expect("a link");
    let old: Option<Deployment<Previous>> = match tale {
        Some(_) => Some(Deployment::join(&link).await.expect("a deployment")),
        None => None,
    };
    let mut played = Tale::default();
    for (number, line) in STORY.iter().enumerate() {
        let (call, value) = match (who(number), &old, tale) {
            (Who::Old, Some(old), Some(tale)) => {
                let call = tale.calls[number].0.clone();
                let told = old.call(|scripts| scripts.get(&call.script), &call.keys, &call.args).await;
                (call, told.expect("an answer"))
            }
            (Who::Old | Who::New, ..) => new.decide(line).await,
        };
        played.calls.push((call, words::of_value(&value)));
    }
    for listing in [VENUE, EVENT] {
        new.check(listing).await;
        played.facts.insert(listing.to_string(), new.facts(listing).await);
    }
    assert_eq!(new.deployment.current().generation.number, 1, "a new release is no reason to recover");
    played
}

fn compare(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) {
    for (listing, facts) in before {
        assert_eq!(after.get(listing), Some(facts), "{listing}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_releases_decide_in_turns_on_one_redis() {
    let server = Server::start(Brand::Redis);
    for layout in [Layout::Hash, Layout::Compact] {
        if std::env::var_os("ONSALE_RECORD_RELEASE").is_some() {
            previous::record_scripts();
            previous::record(layout, &play(&server, layout, None, |_| Who::New).await);
        }
        let tale = previous::tale(layout);
        assert_eq!(tale.calls.len(), STORY.len(), "every line was recorded");
        for odd in [0, 1] {
            let who = |number: usize| if number % 2 == odd { Who::Old } else { Who::New };
            let played = play(&server, layout, Some(&tale), who).await;
            for (number, ((_, was), (_, is))) in tale.calls.iter().zip(&played.calls).enumerate() {
                // What this release tells itself may have another form; the old one must be told what it knows.
                assert!(who(number) == Who::New || was == is, "line {number}: {was}\nnow {is}");
            }
            compare(&tale.facts, &played.facts);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_previous_release_alone_still_tells_its_story() {
    // Or the recording proves nothing: neither do calls of another release's scripts, nor a server that forgets.
    let server = Server::start(Brand::Valkey);
    for layout in [Layout::Hash, Layout::Compact] {
        let tale = previous::tale(layout);
        let played = play(&server, layout, Some(&tale), |_| Who::Old).await;
        assert_eq!(tale, played);
    }
}
