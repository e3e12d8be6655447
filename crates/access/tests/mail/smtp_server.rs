//! The smallest mail server: it speaks SMTP on a port of its own, keeps what it is given, and has bad days when told to.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// What happens to a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Day {
    Accepts,
    /// This answer to the recipient's address.
    Answers(&'static str),
    /// Takes the whole letter and says nothing.
    Hangs,
    /// Closes in the middle of the letter.
    Drops,
    /// Never says hello.
    Silent,
}

#[derive(Clone)]
pub(crate) struct Server {
    pub address: SocketAddr,
    state: Arc<State>,
}

struct State {
    day: Mutex<Day>,
    letters: Mutex<Vec<String>>,
    connections: AtomicUsize,
    /// At the same time, the most so far.
    most: AtomicUsize,
    open: AtomicUsize,
    /// Every line that a client said outside letters.
    said: Mutex<Vec<String>>,
    tls: Secrecy,
}

#[derive(Clone)]
pub(crate) enum Secrecy {
    None,
    /// From the first byte.
    Tls(TlsAcceptor),
    /// When the client asks for it.
    StartTls(TlsAcceptor),
}

impl Server {
    pub(crate) async fn start(day: Day, tls: Secrecy) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let state = Arc::new(State {
            day: Mutex::new(day),
            letters: Mutex::default(),
            connections: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            said: Mutex::default(),
            tls,
        });
        let server = Server { address: listener.local_addr().expect("an address"), state: state.clone() };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let state = state.clone();
                tokio::spawn(async move { state.serve(stream).await });
            }
        });
        server
    }

    pub(crate) fn turn(&self, day: Day) {
        *self.state.day.lock() = day;
    }

    pub(crate) fn letters(&self) -> Vec<String> {
        self.state.letters.lock().clone()
    }

    pub(crate) fn said(&self) -> Vec<String> {
        self.state.said.lock().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn most_at_once(&self) -> usize {
        self.state.most.load(Ordering::SeqCst)
    }
}

impl State {
    async fn serve(&self, stream: TcpStream) {
        self.connections.fetch_add(1, Ordering::SeqCst);
        self.most.fetch_max(self.open.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let talk = async {
            match &self.tls {
                Secrecy::None => drop(self.talk(stream, false).await?),
                Secrecy::Tls(tls) => drop(self.talk(tls.accept(stream).await?, false).await?),
                Secrecy::StartTls(tls) => {
                    if let Some(stream) = self.talk(stream, false).await? {
                        self.said.lock().push("(secret from now on)".to_owned());
                        self.talk(tls.accept(stream).await?, true).await?;
                    }
                }
            }
            Ok::<(), std::io::Error>(())
        };
        // A client that goes away is part of many tests.
        let _ = talk.await;
        self.open.fetch_sub(1, Ordering::SeqCst);
    }

    /// Gives the stream back if it is to become secret.
    async fn talk<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: S,
        is_secret: bool,
    ) -> std::io::Result<Option<S>> {
        let mut lines = BufReader::new(stream);
        let day = *self.day.lock();
        if day == Day::Silent {
            // Until the client has had enough.
            lines.read_line(&mut String::new()).await?;
            return Ok(None);
        }
        if !is_secret {
            lines.write_all(b"220 here\r\n").await?;
        }
        let offers = matches!(self.tls, Secrecy::StartTls(_)) && !is_secret;
        loop {
            let mut line = String::new();
            if lines.read_line(&mut line).await? == 0 {
                return Ok(None);
            }
            let line = line.trim_end().to_owned();
            self.said.lock().push(line.clone());
            let verb = line.split([' ', ':']).next().unwrap_or_default().to_ascii_uppercase();
            let answer = match verb.as_str() {
                "EHLO" if offers => "250-here\r\n250 STARTTLS",
                "STARTTLS" if offers => "220 go on",
                "EHLO" => "250-here\r\n250-8BITMIME\r\n250 AUTH PLAIN",
                "RCPT" => match day {
                    Day::Answers(answer) => answer,
                    Day::Accepts | Day::Hangs | Day::Drops | Day::Silent => "250 ok",
                },
                "AUTH" if line == "AUTH PLAIN AGFubgBzZWNyZXQ=" => "235 welcome",
                "AUTH" => "535 no",
                "DATA" => {
                    lines.write_all(b"354 go on\r\n").await?;
                    let Some(letter) = self.read(&mut lines, day).await? else { return Ok(None) };
                    if day == Day::Hangs {
                        lines.read_line(&mut String::new()).await?;
                        return Ok(None);
                    }
                    self.letters.lock().push(letter);
                    "250 taken"
                }
                "QUIT" => "221 bye",
                _ => "250 ok",
            };
            lines.write_all(format!("{answer}\r\n").as_bytes()).await?;
            if verb == "STARTTLS" && offers {
                return Ok(Some(lines.into_inner()));
            }
            if verb == "QUIT" {
                return Ok(None);
            }
        }
    }

    async fn read(
        &self,
        lines: &mut (impl AsyncBufRead + Unpin),
        day: Day,
    ) -> std::io::Result<Option<String>> {
        let mut letter = String::new();
        loop {
            let mut line = String::new();
            if lines.read_line(&mut line).await? == 0 || day == Day::Drops && letter.len() > 100 {
                return Ok(None);
            }
            if line == ".\r\n" {
                return Ok(Some(letter));
            }
            letter.push_str(&line);
        }
    }
}
