//! Letters from where they wait to a mail server or a folder, on good days and on bad ones.

mod smtp_server;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

use onsale_access::mail::{
    self, FILES_MAX, Files, GIVE_UP_MS, Letter, LetterBox, LetterKind, MailConfig, MailCounts, SendError,
    Sender, Smtp, SmtpConfig, SmtpSecurity, Stationery, Transport,
};
use onsale_domain::Millis;
use parking_lot::Mutex;
use smtp_server::{Day, Secrecy, Server};
use tokio_util::sync::CancellationToken;

const PATIENCE: Duration = Duration::from_secs(30);
const START: Millis = 1_700_000_000_000;

fn letter(number: i64) -> Letter {
    let values =
        [("link", format!("https://example.com/reset#{number}")), ("valid_for", "one hour".to_owned())];
    Letter {
        id: format!("let_{number}"),
        kind: LetterKind::Reset,
        to: "ann@example.org".to_owned(),
        values: values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        written_at: START + number,
        attempts: 0,
    }
}

fn stationery() -> Stationery {
    Stationery::new(&MailConfig::default()).expect("the defaults are right")
}

fn config(server: &Server, security: SmtpSecurity) -> SmtpConfig {
    SmtpConfig {
        host: "127.0.0.1".to_owned(),
        port: Some(server.address.port()),
        security,
        user: None,
        password: None,
        password_file: None,
        tls_ca: None,
    }
}

fn smtp(server: &Server) -> Smtp {
    Smtp::new(&config(server, SmtpSecurity::Plain)).expect("a way there")
}

async fn send(transport: &dyn Transport, letter: &Letter) -> Result<(), SendError> {
    transport.send(&stationery().write(letter).expect("a letter")).await
}

fn is_later(sent: &Result<(), SendError>) -> bool {
    matches!(sent, Err(SendError::Later(_)))
}

#[tokio::test]
async fn a_letter_reaches_the_server_whole_and_once() {
    let server = Server::start(Day::Accepts, Secrecy::None).await;
    assert_eq!(send(&smtp(&server), &letter(1)).await, Ok(()));
    let letters = server.letters();
    assert_eq!(letters.len(), 1);
    assert!(letters[0].contains("Message-ID: <let_1@localhost>\r\n"));
    assert!(letters[0].contains("https://example.com/reset#1"), "{}", letters[0]);
    let said = server.said();
    assert!(said.iter().any(|line| line.starts_with("RCPT TO:<ann@example.org>")), "{said:?}");
    assert_eq!(said.last().map(String::as_str), Some("QUIT"));
}

#[tokio::test]
async fn on_a_bad_day_a_letter_is_sent_later_and_what_no_server_ever_takes_is_not() {
    let server = Server::start(Day::Accepts, Secrecy::None).await;
    let smtp = smtp(&server).with_patience(Duration::from_millis(300));
    for (day, expected) in [
        (Day::Answers("450 ann@example.org is busy"), true),
        (Day::Answers("530 sign in first"), true),
        (Day::Answers("550 there is no ann@example.org"), false),
        (Day::Hangs, true),
        (Day::Drops, true),
        (Day::Silent, true),
    ] {
        server.turn(day);
        let sent = send(&smtp, &letter(1)).await;
        assert_eq!(is_later(&sent), expected, "{day:?}: {sent:?}");
        let text = sent.expect_err("it was not sent").to_string();
        assert!(!text.contains("ann"), "names nobody: {text}");
        assert_eq!(server.letters(), [""; 0], "{day:?}");
    }
    server.turn(Day::Accepts);
    assert_eq!(send(&smtp, &letter(1)).await, Ok(()));
}

#[tokio::test]
async fn a_server_that_is_not_there_delays() {
    let server = Server::start(Day::Accepts, Secrecy::None).await;
    let mut config = config(&server, SmtpSecurity::Plain);
    config.port = Some(onsale_redis_servers::server::free_port());
    assert!(is_later(&send(&Smtp::new(&config).expect("a way there"), &letter(1)).await));
}

#[tokio::test]
async fn no_letter_and_no_password_goes_in_the_open_to_a_server_that_offers_no_secrecy() {
    let server = Server::start(Day::Accepts, Secrecy::None).await;
    let mut config = config(&server, SmtpSecurity::StartTls);
    (config.user, config.password) = (Some("ann".to_owned()), Some("secret".to_owned()));
    let sent = send(&Smtp::new(&config).expect("a way there"), &letter(1)).await;
    assert_eq!(sent, Err(SendError::Later("the mail server offers no STARTTLS".to_owned())));
    assert!(server.said().iter().all(|line| line.starts_with("EHLO")), "{:?}", server.said());
}

#[tokio::test]
async fn a_user_signs_in_and_a_wrong_password_keeps_letters_waiting() {
    let server = Server::start(Day::Accepts, Secrecy::None).await;
    let mut config = config(&server, SmtpSecurity::Plain);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("password");
    std::fs::write(&file, "secret\n").expect("a file");
    (config.user, config.password_file) = (Some("ann".to_owned()), Some(file));
    assert_eq!(send(&Smtp::new(&config).expect("a way there"), &letter(1)).await, Ok(()));
    (config.password, config.password_file) = (Some("wrong".to_owned()), None);
    let sent = send(&Smtp::new(&config).expect("a way there"), &letter(1)).await;
    assert_eq!(sent, Err(SendError::Later("signing in: the mail server answered 535".to_owned())));
}

/// A server for `127.0.0.1` with a certificate of its own, and the file that vouches for it.
fn certificate(folder: &Path) -> (tokio_rustls::TlsAcceptor, std::path::PathBuf) {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let file = folder.join("ca.pem");
    std::fs::write(&file, made.cert.pem()).expect("a file");
    let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let server =
        builder.expect("versions").with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key);
    (Arc::new(server.expect("a certificate of its key")).into(), file)
}

#[tokio::test]
async fn a_secret_connection_needs_a_certificate_that_is_trusted() {
    let folder = tempfile::tempdir().expect("a folder");
    let (acceptor, file) = certificate(folder.path());
    let server = Server::start(Day::Accepts, Secrecy::Tls(acceptor)).await;
    let mut config = config(&server, SmtpSecurity::Tls);
    assert!(is_later(&send(&Smtp::new(&config).expect("a way there"), &letter(1)).await));
    assert_eq!(server.letters(), [""; 0]);
    config.tls_ca = Some(file);
    assert_eq!(send(&Smtp::new(&config).expect("a way there"), &letter(1)).await, Ok(()));
    assert_eq!(server.letters().len(), 1);
}

#[tokio::test]
async fn a_connection_that_becomes_secret_says_nothing_of_the_letter_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let (acceptor, file) = certificate(folder.path());
    let server = Server::start(Day::Accepts, Secrecy::StartTls(acceptor)).await;
    let mut config = config(&server, SmtpSecurity::StartTls);
    (config.user, config.password) = (Some("ann".to_owned()), Some("secret".to_owned()));
    assert!(is_later(&send(&Smtp::new(&config).expect("a way there"), &letter(1)).await), "not trusted");
    config.tls_ca = Some(file);
    assert_eq!(send(&Smtp::new(&config).expect("a way there"), &letter(1)).await, Ok(()));
    assert_eq!(server.letters().len(), 1);
    let said = server.said();
    let secret_from = said.iter().rposition(|line| line.starts_with('(')).expect("it became secret");
    let open: Vec<&str> = said[..secret_from]
        .iter()
        .filter_map(|line| line.split([' ', '(']).next())
        .filter(|verb| !verb.is_empty())
        .collect();
    assert_eq!(open, ["EHLO", "STARTTLS", "EHLO", "STARTTLS"], "{said:?}");
}

#[tokio::test]
async fn without_a_mail_server_each_letter_is_a_file_for_its_owner_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = mail::transport(&MailConfig::default(), folder.path()).expect("a folder of letters");
    assert_eq!(files.newest(), None);
    for number in [2, 1, 3, 3] {
        assert_eq!(send(&*files, &letter(number)).await, Ok(()));
    }
    let newest = files.newest().expect("a letter");
    assert!(newest.starts_with(folder.path().join("mail")));
    assert!(newest.ends_with("001700000000003-reset-let_3.eml"), "{newest:?}");
    assert!(std::fs::read_to_string(&newest).expect("text").contains("https://example.com/reset#3"));
    assert_eq!(std::fs::read_dir(folder.path().join("mail")).expect("a folder").count(), 3);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!((mode(&newest), mode(&folder.path().join("mail"))), (0o600, 0o700));
    }
}

#[tokio::test]
async fn a_folder_keeps_the_newest_thousand_and_nothing_that_is_not_a_letter_is_deleted() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("000-notes.eml"), "mine").expect("a file");
    for number in 0..FILES_MAX {
        std::fs::write(folder.path().join(format!("{number:015}-reset-let.eml")), "").expect("a file");
    }
    let files = Files::open(folder.path()).expect("a folder of letters");
    for number in 0..3 {
        assert_eq!(send(&files, &letter(number)).await, Ok(()));
    }
    let names = || {
        std::fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("a file").file_name())
    };
    assert_eq!(names().count(), FILES_MAX + 1);
    let has = |name: &str| names().any(|found| found == name);
    assert!(has("000-notes.eml") && has("000000000000003-reset-let.eml"));
    assert!(!has("000000000000002-reset-let.eml"));
    // A full or missing disk delays.
    std::fs::remove_dir_all(folder.path()).expect("gone");
    assert!(is_later(&send(&files, &letter(9)).await));
}

/// Letters in memory, and a clock that only moves when told.
#[derive(Default)]
struct Memory {
    letters: Mutex<BTreeMap<String, (Letter, Millis)>>,
    done: Mutex<Vec<String>>,
    given_up: Mutex<Vec<String>>,
    is_broken: AtomicBool,
    refused: AtomicI64,
    now: AtomicI64,
}

impl LetterBox for Memory {
    type Error = &'static str;

    async fn take(&self, limit: usize, now: Millis) -> Result<Vec<Letter>, &'static str> {
        if self.is_broken.load(Ordering::SeqCst) {
            self.refused.fetch_add(1, Ordering::SeqCst);
            return Err("locked");
        }
        let mut letters = self.letters.lock();
        let due = letters.values_mut().filter(|(_, due)| *due <= now).take(limit);
        Ok(due
            .map(|(letter, due)| {
                *due = now + 300_000;
                letter.clone()
            })
            .collect())
    }

    async fn done(&self, id: &str) -> Result<(), &'static str> {
        self.letters.lock().remove(id);
        self.done.lock().push(id.to_owned());
        Ok(())
    }

    async fn failed(&self, id: &str, retry_at: Option<Millis>) -> Result<(), &'static str> {
        match retry_at {
            Some(at) => {
                if let Some((letter, due)) = self.letters.lock().get_mut(id) {
                    letter.attempts += 1;
                    *due = at;
                }
            }
            None => {
                self.letters.lock().remove(id);
                self.given_up.lock().push(id.to_owned());
            }
        }
        Ok(())
    }
}

struct Office {
    memory: Arc<Memory>,
    sender: Arc<Sender<Memory>>,
    stop: CancellationToken,
}

impl Drop for Office {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn office(transport: impl Transport + 'static, letters: impl IntoIterator<Item = Letter>) -> Office {
    let memory = Arc::new(Memory::default());
    memory.now.store(START, Ordering::SeqCst);
    memory.letters.lock().extend(letters.into_iter().map(|letter| (letter.id.clone(), (letter, 0))));
    let clock = {
        let memory = memory.clone();
        Arc::new(move || memory.now.load(Ordering::SeqCst))
    };
    let sender = Arc::new(Sender::new(memory.clone(), stationery(), Arc::new(transport), clock));
    let stop = CancellationToken::new();
    let (running, until) = (sender.clone(), stop.clone());
    tokio::spawn(async move { running.run(until).await });
    Office { memory, sender, stop }
}

impl Office {
    async fn until(&self, what: &str, done: impl Fn(MailCounts) -> bool) {
        let begun = Instant::now();
        while !done(self.sender.counts()) {
            assert!(begun.elapsed() < PATIENCE, "{what}: {:?}", self.sender.counts());
            self.sender.nudge();
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    fn pass(&self, length: Millis) {
        self.memory.now.fetch_add(length, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn letters_that_wait_all_leave_a_few_at_a_time() {
    let server = Server::start(Day::Accepts, Secrecy::None).await;
    let office = office(smtp(&server), (0..40).map(letter));
    office.until("all sent", |counts| counts.sent == 40).await;
    office.until("all noted", |_| office.memory.letters.lock().is_empty()).await;
    assert_eq!(server.letters().len(), 40);
    assert!((2..=4).contains(&server.most_at_once()), "{}", server.most_at_once());
}

#[tokio::test]
async fn a_server_that_is_down_delays_letters_ever_longer_until_it_is_back() {
    let server = Server::start(Day::Answers("451 not now"), Secrecy::None).await;
    let office = office(smtp(&server), [letter(0)]);
    for attempt in 1..=4_u32 {
        office.until("a try", |counts| counts.delayed == u64::from(attempt)).await;
        let due = || office.memory.letters.lock()["let_0"].clone();
        office.until("it is noted", |_| due().0.attempts == attempt).await;
        let (wait, whole) = (due().1 - office.memory.now.load(Ordering::SeqCst), 500 << attempt);
        assert!((whole / 2..=whole).contains(&wait), "{wait} of {whole}");
        // Nobody tries before its time.
        office.sender.nudge();
        office.pass(wait);
    }
    office.until("a fifth try", |counts| counts.delayed == 5).await;
    assert_eq!(server.connections(), 5);
    server.turn(Day::Accepts);
    office.pass(GIVE_UP_MS / 2);
    office.until("it is sent", |counts| counts.sent == 1).await;
}

#[tokio::test]
async fn after_a_day_or_where_nobody_will_ever_take_it_a_letter_is_given_up() {
    let server = Server::start(Day::Answers("451 not now"), Secrecy::None).await;
    let unwritable = Letter { values: BTreeMap::new(), ..letter(1) };
    let office = office(smtp(&server), [letter(0), unwritable]);
    office.until("one given up", |counts| counts.delayed == 1 && counts.given_up == 1).await;
    office.until("it is noted", |_| *office.memory.given_up.lock() == ["let_1"]).await;
    office.pass(GIVE_UP_MS);
    office.until("both given up", |counts| counts.given_up == 2).await;
    office.until("both noted", |_| office.memory.letters.lock().is_empty()).await;
    assert_eq!(*office.memory.done.lock(), [""; 0]);
}

#[tokio::test]
async fn a_letter_box_that_does_not_open_is_tried_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let office = office(Files::open(folder.path()).expect("a folder of letters"), []);
    office.memory.is_broken.store(true, Ordering::SeqCst);
    office.memory.letters.lock().insert("let_0".to_owned(), (letter(0), 0));
    office.until("it is refused", |_| office.memory.refused.load(Ordering::SeqCst) >= 2).await;
    assert_eq!(office.sender.counts(), MailCounts::default());
    office.memory.is_broken.store(false, Ordering::SeqCst);
    office.until("it is sent", |counts| counts.sent == 1).await;
}

#[tokio::test]
async fn a_stop_lets_a_letter_under_way_arrive() {
    let server = Server::start(Day::Accepts, Secrecy::None).await;
    let office = office(smtp(&server), [letter(0)]);
    let begun = Instant::now();
    while server.connections() == 0 {
        assert!(begun.elapsed() < PATIENCE, "no connection");
        tokio::task::yield_now().await;
    }
    office.stop.cancel();
    office.until("it is sent", |counts| counts.sent == 1).await;
}
