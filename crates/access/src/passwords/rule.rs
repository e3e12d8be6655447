//! Which new passwords are taken: by length and by whether others would guess them. No rule asks for digits or signs, and
//! nothing is cut off or changed (ASVS 5.0, 6.2).

use super::guessed;
use crate::email::Email;

/// In characters, not bytes.
pub const PASSWORD_CHARS_MIN: usize = 8;
/// More protects nobody, and a hash of megabytes would be work for strangers to give us.
pub const PASSWORD_CHARS_MAX: usize = 128;
/// A shorter local part stands in too many words by chance.
const LOCAL_CHARS_MIN: usize = 4;

/// Why a password is not taken: a sentence for the person who chose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasswordProblem {
    Short,
    Long,
    Repeated,
    ContainsEmail,
    Common,
}

impl PasswordProblem {
    pub fn sentence(self) -> &'static str {
        match self {
            PasswordProblem::Short => "a password has at least 8 characters",
            PasswordProblem::Long => "a password has at most 128 characters",
            PasswordProblem::Repeated => {
                "one character over and over is guessed at once: choose another password"
            }
            PasswordProblem::ContainsEmail => {
                "the password contains the e-mail address: choose another password"
            }
            PasswordProblem::Common => {
                "this password is among the first that are guessed: choose another password"
            }
        }
    }
}

pub(crate) fn check_new(password: &str, email: &Email) -> Result<(), PasswordProblem> {
    // Counting stops early: a body may hold megabytes.
    let characters = password.chars().take(PASSWORD_CHARS_MAX + 1).count();
    if characters < PASSWORD_CHARS_MIN {
        return Err(PasswordProblem::Short);
    }
    if characters > PASSWORD_CHARS_MAX {
        return Err(PasswordProblem::Long);
    }
    let first = password.chars().next();
    if password.chars().all(|letter| Some(letter) == first) {
        return Err(PasswordProblem::Repeated);
    }
    let (lower, local) = (password.to_lowercase(), email.local().to_lowercase());
    if (local.chars().count() >= LOCAL_CHARS_MIN && lower.contains(&local)) || lower.contains(email.key()) {
        return Err(PasswordProblem::ContainsEmail);
    }
    if guessed::is_common(&lower) {
        return Err(PasswordProblem::Common);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(password: &str) -> Result<(), PasswordProblem> {
        check_new(password, &Email::parse("Annika@example.org").expect("an address"))
    }

    #[test]
    fn any_characters_are_taken_from_eight_to_128() {
        for password in [
            "hedgehog moon",
            "žluťoučký kůň",
            "\u{1f3ab}\u{1f3b8} stage",
            &"xyz wombat 7 gat".repeat(8),
            "tr0ub4dor&3",
        ] {
            assert_eq!(check(password), Ok(()), "{password}");
        }
        assert_eq!(check("žluťouč"), Err(PasswordProblem::Short), "seven characters, though ten bytes");
        assert_eq!(check(&format!("{}z", "xyz wombat 7 gat".repeat(8))), Err(PasswordProblem::Long));
        assert_eq!(check(&"long ".repeat(60)), Err(PasswordProblem::Long));
    }

    #[test]
    fn what_strangers_guess_first_is_refused() {
        assert_eq!(check("zzzzzzzzzzzz"), Err(PasswordProblem::Repeated));
        assert_eq!(check("xx-ANNIKA-77"), Err(PasswordProblem::ContainsEmail));
        assert_eq!(check("Passw0rd!"), Err(PasswordProblem::Common));
    }
}
