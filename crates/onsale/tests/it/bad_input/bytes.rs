//! Whatever bytes a request is made of, its answer is one that the document describes, and the server goes on: every recorded
//! example, with something in its path, its query, one of its headers or its body flipped, cut, doubled, spliced or set to an extreme.

use onsale_tables::damage::{Damage, seed};

use crate::examples::player::{Asked, Player, steps};
use crate::house::KEY;
use onsale_edge::http::table::Route;

/// Of each operation, on every day and from a seed that was asked for.
const ROUNDS_DAILY: usize = 20;
const ROUNDS: usize = 200;

/// A request in its pieces: what each may be is the others' of its kind, too.
#[derive(Clone)]
struct Sent {
    method: String,
    path: Vec<u8>,
    headers: Vec<(String, Vec<u8>)>,
    body: Option<Vec<u8>>,
}

#[test]
fn whatever_bytes_a_request_is_made_of_the_answer_is_one_of_ours() {
    let (mut player, mut all) = (Player::open(), Vec::new());
    for step in &steps() {
        // A stream's answer has no end.
        let about = player.about(step).filter(|(route, _)| !route.operation.ends_with(".stream"));
        all.extend(about.map(|(route, asked)| Sent::of(route, asked)));
        player.play(step);
    }
    let paths: Vec<Vec<u8>> = all.iter().map(|sent| sent.path.clone()).collect();
    let bodies: Vec<Vec<u8>> = all.iter().filter_map(|sent| sent.body.clone()).collect();
    let (seed, is_given) = seed();
    let mut damage = Damage::new(seed);
    let (mut asked, mut refused) = (0, 0);
    for sent in &all {
        for _ in 0..if is_given { ROUNDS } else { ROUNDS_DAILY } {
            let strange = sent.clone().strange(&mut damage, &paths, &bodies);
            let bytes = strange.bytes();
            let answer = player.raw(&bytes);
            assert!(answer.status < 500, "{}: {answer:?}", bytes.escape_ascii());
            asked += 1;
            refused += usize::from(answer.status >= 400);
        }
    }
    assert!(refused * 2 > asked, "{refused} of {asked} were refused: hardly any of them was strange");
    // It still answers what it should.
    assert_eq!(player.raw(&all[0].bytes()).status / 100, 2);
}

impl Sent {
    fn of(route: &Route, asked: Asked) -> Sent {
        let mut headers: Vec<(String, Vec<u8>)> =
            asked.headers.into_iter().map(|(name, value)| (name, value.into_bytes())).collect();
        headers.push(("authorization".into(), format!("Bearer {KEY}").into_bytes()));
        let body = asked.body.map(|body| body.to_string().into_bytes());
        Sent { method: route.method.to_string(), path: asked.path.into_bytes(), headers, body }
    }

    fn strange(mut self, damage: &mut Damage, paths: &[Vec<u8>], bodies: &[Vec<u8>]) -> Sent {
        let pick = damage.below(6);
        // Mostly its own with something wrong; now and then that of another route.
        let is_other = damage.below(4) == 0;
        match &mut self.body {
            Some(body) if pick < 3 => {
                let own = [body.clone()];
                *body = damage.strange(if is_other { bodies } else { &own });
            }
            Some(_) | None if pick < 5 => {
                let own = [self.path.clone()];
                let path = damage.strange(if is_other { paths } else { &own });
                // What cannot stand in a path is a percent sign, so that strange ones of these are tried, too.
                let fits = |byte: &u8| if byte.is_ascii_graphic() && *byte != b'#' { *byte } else { b'%' };
                self.path = path.iter().map(fits).collect();
                if !self.path.starts_with(b"/") {
                    self.path.insert(0, b'/');
                }
            }
            Some(_) | None => {
                if damage.below(3) == 0 {
                    let name = HEADERS[damage.below(HEADERS.len())];
                    self.headers.push((name.into(), b"1-2".to_vec()));
                }
                let place = damage.below(self.headers.len());
                let (_, value) = &mut self.headers[place];
                let strange = damage.strange(std::slice::from_ref(value));
                // Line ends would be other headers.
                *value = strange.into_iter().filter(|byte| !byte.is_ascii_control()).collect();
            }
        }
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = [self.method.as_bytes(), b" ", &self.path, b" HTTP/1.1\r\n"].concat();
        bytes.extend(b"host: x\r\nconnection: close\r\n");
        for (name, value) in &self.headers {
            bytes.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        }
        if let Some(body) = &self.body {
            let head = format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
            bytes.extend(head.into_bytes());
        }
        bytes.extend(b"\r\n");
        bytes.extend(self.body.iter().flatten());
        bytes
    }
}

/// What requests may carry besides.
const HEADERS: [&str; 8] = [
    "idempotency-key",
    "onsale-buyer",
    "hold-token",
    "checkout-code",
    "order-key",
    "if-none-match",
    "last-event-id",
    "simulated-signature",
];
