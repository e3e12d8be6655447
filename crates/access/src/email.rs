//! E-mail addresses: which are taken, and when two are the same. Letters go to an address as its owner wrote it; only
//! the key decides whether an account has it.

use std::fmt;

use lettre::Address;

/// The longest address that mail carries (RFC 5321, 4.5.3.1.3, without the angle brackets), in bytes.
pub const EMAIL_BYTES_MAX: usize = 254;
/// The longest part before the `@` (RFC 5321, 4.5.3.1.1), in bytes.
const LOCAL_BYTES_MAX: usize = 64;

/// An address that mail can be sent to. Local part and domain may be in any script, and the local part may have a plus.
#[derive(Clone, PartialEq, Eq)]
pub struct Email {
    text: String,
    key: String,
}

/// What is wrong with an address: a sentence for the person who wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmailProblem {
    Long,
    Form,
}

impl EmailProblem {
    pub fn sentence(self) -> &'static str {
        match self {
            EmailProblem::Long => "an e-mail address has at most 254 bytes, and 64 of them before the @",
            EmailProblem::Form => "this is not an e-mail address: write it like name@example.org",
        }
    }
}

impl Email {
    pub fn parse(text: &str) -> Result<Email, EmailProblem> {
        if text.len() > EMAIL_BYTES_MAX {
            return Err(EmailProblem::Long);
        }
        let (local, domain) = text.rsplit_once('@').ok_or(EmailProblem::Form)?;
        if local.len() > LOCAL_BYTES_MAX {
            return Err(EmailProblem::Long);
        }
        // Quoted local parts could hide a second address, and an address in brackets is a machine, no domain.
        let odd = |letter: char| {
            letter.is_control()
                || letter.is_whitespace()
                || is_invisible(letter)
                || "\"(),:;<>@[\\]".contains(letter)
        };
        if local.is_empty() || text.chars().filter(|letter| *letter == '@').count() != 1 {
            return Err(EmailProblem::Form);
        }
        if local.chars().any(odd) || domain.chars().any(odd) || !domain.contains('.') {
            return Err(EmailProblem::Form);
        }
        let host = idna::domain_to_ascii_strict(domain).map_err(|_| EmailProblem::Form)?;
        if host.ends_with('.')
            || host.rsplit('.').next().is_some_and(|top| top.bytes().all(|byte| byte.is_ascii_digit()))
        {
            return Err(EmailProblem::Form);
        }
        // What the mail library could not send is not taken.
        Address::new(local, &host).map_err(|_| EmailProblem::Form)?;
        // The domain in its ASCII form: `münchen.example` and `xn--mnchen-3ya.example` are one place.
        let key = format!("{}@{host}", local.to_lowercase());
        if key.len() > EMAIL_BYTES_MAX {
            return Err(EmailProblem::Long);
        }
        Ok(Email { text: format!("{local}@{}", domain.to_lowercase()), key })
    }

    /// As its owner wrote it, but for the case of the domain.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The form by which it is unique in a tenant.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The part before the `@`, which a password may not contain.
    pub(crate) fn local(&self) -> &str {
        self.text.rsplit_once('@').map_or("", |(local, _)| local)
    }
}

impl fmt::Debug for Email {
    /// Personal data stays out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Email")
    }
}

/// Characters that are not seen, or that turn the direction of writing: two addresses would look the same.
fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> String {
        Email::parse(text).unwrap_or_else(|_| panic!("{text} is an address")).key().to_owned()
    }

    #[test]
    fn addresses_in_any_script_and_with_plus_signs_are_taken() {
        assert_eq!(key("Ann+tickets@Example.ORG"), "ann+tickets@example.org");
        assert_eq!(key("jörg@münchen.example"), key("JÖRG@xn--mnchen-3ya.example"));
        assert_eq!(key("用户@例子.广告"), "用户@xn--fsqu00a.xn--4rr70v");
        assert_eq!(Email::parse("Ann@Example.org").expect("an address").as_str(), "Ann@example.org");
        assert_ne!(key("a.nn@example.org"), key("ann@example.org"));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        let wrong = [
            "",
            "@",
            "ann",
            "ann@",
            "@example.org",
            "ann@example",
            "ann@@example.org",
            "a@b@example.org",
            "ann @example.org",
            "ann@exa mple.org",
            "ann@example.org\n",
            "ann\0@example.org",
            "ann@-.org",
            "\"a b\"@example.org",
            "ann@[127.0.0.1]",
            "ann@127.0.0.1",
            "ann@example..org",
            "ann@example.org.",
            "<ann@example.org>",
            "ann@example.org,bob@example.org",
            "an\u{200b}n@example.org",
            "ann@\u{202e}example.org",
            ".ann@example.org",
            "ann..a@example.org",
        ];
        for text in wrong {
            assert_eq!(Email::parse(text), Err(EmailProblem::Form), "{text:?}");
        }
    }

    #[test]
    fn an_address_of_three_hundred_characters_is_refused_with_a_sentence() {
        let long = format!("ann@{}.org", "a.".repeat(147));
        assert!(long.len() >= 300);
        assert_eq!(Email::parse(&long), Err(EmailProblem::Long));
        assert_eq!(Email::parse(&format!("{}@example.org", "a".repeat(65))), Err(EmailProblem::Long));
        assert!(EmailProblem::Long.sentence().contains("254"));
    }
}
