//! Fills a letter's templates: a text, whose first line is the subject, and HTML in which every value is escaped. The same letter always
//! becomes the same bytes. No value can begin a line of its own, least of all a header.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lettre::address::Envelope;
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart, MultiPartKind, SinglePart};
use lettre::{Address, Message as Mail};
use minijinja::value::Value;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};

use super::SendError;
use super::config::{MailConfig, MailError};
use super::letter::{Letter, LetterKind};

/// An address may have 254 characters, an id of ours far fewer.
const ADDRESS_MAX: usize = 254;
const ID_MAX: usize = 64;
/// Longer words than any link of ours; a template repeats a value three times at most.
const VALUE_MAX: usize = 2_048;

macro_rules! templates {
    ($($kind:literal)*) => {
        [$(
            (concat!($kind, ".txt"), include_str!(concat!("../../mail/", $kind, ".txt"))),
            (concat!($kind, ".html"), include_str!(concat!("../../mail/", $kind, ".html"))),
        )*]
    };
}

const TEMPLATES: [(&str, &str); 12] = templates! {
    "verification" "reset" "new_device" "email_change" "email_changed" "already_registered"
};

/// A letter ready to leave.
#[derive(Clone)]
pub struct Message {
    pub kind: LetterKind,
    pub id: String,
    pub written_at: onsale_domain::Millis,
    pub(super) envelope: Envelope,
    pub bytes: Vec<u8>,
}

/// Templates, and who every letter is from.
#[derive(Debug)]
pub struct Stationery {
    templates: Environment<'static>,
    from: Mailbox,
    reply_to: Option<Mailbox>,
    site: String,
}

impl Stationery {
    pub fn new(config: &MailConfig) -> Result<Stationery, MailError> {
        config.check()?;
        let mut templates = Environment::new();
        templates.set_undefined_behavior(UndefinedBehavior::Strict);
        templates.set_auto_escape_callback(|name| match name.ends_with(".html") {
            true => AutoEscape::Html,
            false => AutoEscape::None,
        });
        for (name, text) in TEMPLATES {
            templates.add_template(name, text).map_err(|error| MailError::Template(error.to_string()))?;
        }
        Ok(Stationery {
            templates,
            from: config.sender()?,
            reply_to: config.answers_to()?,
            site: config.site.clone(),
        })
    }

    /// Writes a letter; one that cannot be written can never be sent.
    pub fn write(&self, letter: &Letter) -> Result<Message, SendError> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if letter.id.is_empty() || letter.id.len() > ID_MAX || !letter.id.bytes().all(is_plain) {
            return Err(SendError::Never("its id is not made of letters and digits".to_owned()));
        }
        let to = address(&letter.to)?;
        let text = self.fill(letter, "txt")?;
        let html = self.fill(letter, "html")?;
        let subject = text.lines().next().and_then(|line| line.strip_prefix("Subject: "));
        let (Some(subject), Some((_, body))) = (subject, text.split_once("\n\n")) else {
            return Err(SendError::Never("its text has no subject".to_owned()));
        };
        let mail = self.mail(letter, to, subject, (body.to_owned(), html));
        let mail = mail.map_err(|error| SendError::Never(format!("it cannot be written: {error}")))?;
        Ok(Message {
            kind: letter.kind,
            id: letter.id.clone(),
            written_at: letter.written_at,
            envelope: mail.envelope().clone(),
            bytes: mail.formatted(),
        })
    }

    fn mail(
        &self,
        letter: &Letter,
        to: Address,
        subject: &str,
        (text, html): (String, String),
    ) -> Result<Mail, lettre::error::Error> {
        let written_at = Duration::from_millis(letter.written_at.unsigned_abs());
        let mut builder = Mail::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(subject)
            .date(UNIX_EPOCH.checked_add(written_at).unwrap_or(SystemTime::UNIX_EPOCH))
            .message_id(Some(format!("<{}@{}>", letter.id, self.from.email.domain())))
            // No answering machine answers to that (RFC 3834).
            .raw_header(HeaderValue::new(
                HeaderName::new_from_ascii_str("Auto-Submitted"),
                "auto-generated".to_owned(),
            ));
        if let Some(reply_to) = &self.reply_to {
            builder = builder.reply_to(reply_to.clone());
        }
        let parts =
            MultiPart::builder().kind(MultiPartKind::Alternative).boundary(format!("onsale_{}", letter.id));
        let part = |content_type, body| SinglePart::builder().header(content_type).body(body);
        builder.multipart(
            parts
                .singlepart(part(ContentType::TEXT_PLAIN, text))
                .singlepart(part(ContentType::TEXT_HTML, html)),
        )
    }

    fn fill(&self, letter: &Letter, format: &str) -> Result<String, SendError> {
        let never = |error: minijinja::Error| SendError::Never(format!("its template: {error}"));
        let template =
            self.templates.get_template(&format!("{}.{format}", letter.kind.as_str())).map_err(never)?;
        let values = letter.values.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let values = values.chain([("site", self.site.as_str())]);
        let values = values.map(|(name, value)| (name.to_owned(), Value::from(one_line(value))));
        template.render(Value::from_pairs(values)).map_err(never)
    }
}

fn address(text: &str) -> Result<Address, SendError> {
    let never = || SendError::Never("its address is none".to_owned());
    if text.len() > ADDRESS_MAX || text.contains(|letter: char| letter.is_control() || letter.is_whitespace())
    {
        return Err(never());
    }
    text.parse().map_err(|_| never())
}

/// Without anything that ends a line or turns the direction of writing, and not without end.
fn one_line(value: &str) -> String {
    let is_odd = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    value.chars().take(VALUE_MAX).map(|letter| if is_odd(letter) { ' ' } else { letter }).collect()
}

impl fmt::Debug for Message {
    /// Neither the address nor the link.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message").field("kind", &self.kind).field("id", &self.id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn stationery() -> Stationery {
        let config = MailConfig { site: "Ann & Bob <Tickets>".to_owned(), ..MailConfig::default() };
        Stationery::new(&config).unwrap()
    }

    fn letter(kind: LetterKind, value: &str) -> Letter {
        Letter {
            id: "let_1".to_owned(),
            kind,
            to: "ann@example.org".to_owned(),
            values: kind.values().iter().map(|name| ((*name).to_owned(), format!("{name}{value}"))).collect(),
            written_at: 1_700_000_000_000,
            attempts: 0,
        }
    }

    fn write(letter: &Letter) -> String {
        String::from_utf8(stationery().write(letter).unwrap().bytes).unwrap()
    }

    /// Names of the headers before the first empty line.
    fn headers(mail: &str) -> Vec<&str> {
        let head = mail.split_once("\r\n\r\n").unwrap().0;
        let lines = head.lines().filter(|line| !line.starts_with([' ', '\t']));
        lines.map(|line| line.split_once(':').unwrap().0).collect()
    }

    #[test]
    fn each_kind_says_all_its_values_in_text_and_most_in_html_and_asks_for_no_others() {
        let templates = stationery().templates;
        for kind in LetterKind::ALL {
            assert_eq!(LetterKind::parse(kind.as_str()), Some(kind));
            let mut expected: BTreeSet<String> =
                kind.values().iter().map(|name| (*name).to_owned()).collect();
            expected.insert("site".to_owned());
            for format in ["txt", "html"] {
                let template = templates.get_template(&format!("{}.{format}", kind.as_str())).unwrap();
                let found: BTreeSet<String> = template.undeclared_variables(false).into_iter().collect();
                assert_eq!(found, expected, "{kind:?} {format}");
            }
            let mail = write(&letter(kind, ""));
            assert!(mail.contains("Subject: ") && mail.contains("text/plain") && mail.contains("text/html"));
            for name in kind.values() {
                let mut lacking = letter(kind, "");
                lacking.values.remove(*name);
                assert!(matches!(stationery().write(&lacking), Err(SendError::Never(_))), "{kind:?} {name}");
            }
        }
    }

    #[test]
    fn the_same_letter_is_the_same_bytes_with_its_own_message_id() {
        let letter = letter(LetterKind::Reset, "");
        let mail = write(&letter);
        assert_eq!(mail, write(&letter));
        assert!(mail.contains("Message-ID: <let_1@localhost>\r\n"), "{mail}");
        assert!(mail.contains("Date: Tue, 14 Nov 2023 22:13:20 +0000\r\n"), "{mail}");
        assert!(mail.contains("Auto-Submitted: auto-generated\r\n"), "{mail}");
    }

    #[test]
    fn a_letter_in_a_log_names_nobody_and_opens_nothing() {
        let letter = letter(LetterKind::Reset, "");
        for text in [format!("{letter:?}"), format!("{:?}", stationery().write(&letter).unwrap())] {
            assert!(text.contains("let_1") && !text.contains("ann") && !text.contains("link"), "{text}");
        }
    }

    #[test]
    fn in_html_every_value_is_escaped_and_in_text_none_is() {
        let stationery = stationery();
        let letter = letter(LetterKind::NewDevice, "<script>\"'&");
        let html = stationery.fill(&letter, "html").unwrap();
        assert!(
            !html.contains("<script>") && html.contains("device&lt;script&gt;&quot;&#x27;&amp;"),
            "{html}"
        );
        assert!(html.contains("Ann &amp; Bob &lt;Tickets&gt;"));
        assert!(stationery.fill(&letter, "txt").unwrap().contains("device<script>\"'&"));
    }

    #[test]
    fn no_value_begins_a_line_and_no_address_or_id_a_header() {
        let breaks = [
            "\r\nBcc: eve@example.org\r\n\r\nHello",
            "\nBcc: eve@example.org",
            "\r\rX: y",
            "\u{2028}x",
            "\0",
        ];
        for kind in LetterKind::ALL {
            let plain = headers(&write(&letter(kind, ""))).len();
            for text in breaks {
                let mail = write(&letter(kind, text));
                assert_eq!(headers(&mail).len(), plain, "{mail}");
                let text = stationery().fill(&letter(kind, text), "txt").unwrap();
                assert!(
                    !text.lines().any(|line| line.starts_with("Bcc") || line.starts_with("X: ")),
                    "{text}"
                );
            }
        }
        for text in breaks {
            for to in [
                format!("ann@example.org{text}"),
                format!("ann{text}@example.org"),
                format!("\"a{text}\"@b.org"),
            ] {
                let letter = Letter { to, ..letter(LetterKind::Reset, "") };
                assert!(matches!(stationery().write(&letter), Err(SendError::Never(_))), "{letter:?}");
            }
            let letter = Letter { id: format!("let_1{text}"), ..letter(LetterKind::Reset, "") };
            assert!(stationery().write(&letter).is_err());
            let config = MailConfig { site: format!("Shop{text}"), ..MailConfig::default() };
            assert!(Stationery::new(&config).is_err() || text.starts_with('\u{2028}'));
        }
    }

    #[test]
    fn odd_addresses_are_taken_as_they_are_and_impossible_ones_refused() {
        let long = format!("{}@example.org", "a".repeat(300));
        for (to, is_good) in [
            ("ann+tickets@example.org", true),
            ("änn@exämple.org", true),
            ("ann@example.org, eve@example.org", false),
            ("Ann <ann@example.org>", false),
            ("ann", false),
            ("", false),
            (long.as_str(), false),
        ] {
            let letter = Letter { to: to.to_owned(), ..letter(LetterKind::Reset, "") };
            assert_eq!(stationery().write(&letter).is_ok(), is_good, "{to}");
        }
    }
}
