//! The smallest mail server: it speaks SMTP on a port of its own, keeps what it is given, and has bad days when told to.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, split};
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
    tls: Option<TlsAcceptor>,
}

impl Server {
    pub(crate) async fn start(day: Day, tls: Option<TlsAcceptor>) -> Server {
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
        match &self.tls {
            Some(tls) => {
                if let Ok(stream) = tls.accept(stream).await {
                    let _ = self.talk(stream).await;
                }
            }
            None => {
                let _ = self.talk(stream).await;
            }
        }
        self.open.fetch_sub(1, Ordering::SeqCst);
    }

    async fn talk(&self, stream: impl AsyncRead + AsyncWrite + Unpin) -> std::io::Result<()> {
        let (read, mut write) = split(stream);
        let mut lines = BufReader::new(read);
        let day = *self.day.lock();
        if day == Day::Silent {
            // Until the client has had enough.
            lines.read_line(&mut String::new()).await?;
            return Ok(());
        }
        write.write_all(b"220 here\r\n").await?;
        loop {
            let mut line = String::new();
            if lines.read_line(&mut line).await? == 0 {
                return Ok(());
            }
            let line = line.trim_end().to_owned();
            self.said.lock().push(line.clone());
            let verb = line.split([' ', ':']).next().unwrap_or_default().to_ascii_uppercase();
            let answer = match verb.as_str() {
                "EHLO" => "250-here\r\n250-8BITMIME\r\n250 AUTH PLAIN",
                "RCPT" => match day {
                    Day::Answers(answer) => answer,
                    Day::Accepts | Day::Hangs | Day::Drops | Day::Silent => "250 ok",
                },
                "AUTH" if line == "AUTH PLAIN AGFubgBzZWNyZXQ=" => "235 welcome",
                "AUTH" => "535 no",
                "DATA" => {
                    write.write_all(b"354 go on\r\n").await?;
                    let Some(letter) = self.read(&mut lines, day).await? else { return Ok(()) };
                    if day == Day::Hangs {
                        lines.read_line(&mut String::new()).await?;
                        return Ok(());
                    }
                    self.letters.lock().push(letter);
                    "250 taken"
                }
                "QUIT" => "221 bye",
                _ => "250 ok",
            };
            write.write_all(format!("{answer}\r\n").as_bytes()).await?;
            if verb == "QUIT" {
                return Ok(());
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
