//! Who made a step, where that is not the buyer of its facts. An id, never free text: it is written down for ever, and
//! shown to whoever reads the facts.

use std::fmt;

/// The longest id of an actor.
pub const ACTOR_CHARS_MAX: usize = 64;

/// Staff, the clock or a payment provider. A step without any of them is its buyer's own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum By {
    /// A deadline that fell, a slot that opened.
    Clock,
    Staff(Actor),
    Provider(Actor),
}

/// The id of one of them: 1–64 letters, digits, `_`, `-` and `.`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Actor(Box<str>);

impl Actor {
    pub fn parse(text: &str) -> Option<Actor> {
        let fits = (1..=ACTOR_CHARS_MAX).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
        fits.then(|| Actor(text.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl By {
    /// Reads what `Display` wrote.
    pub fn parse(text: &str) -> Option<By> {
        if text == "clock" {
            return Some(By::Clock);
        }
        let (who, id) = text.split_once(':')?;
        let actor = Actor::parse(id)?;
        match who {
            "staff" => Some(By::Staff(actor)),
            "provider" => Some(By::Provider(actor)),
            _ => None,
        }
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            By::Clock => f.write_str("clock"),
            By::Staff(actor) => write!(f, "staff:{}", actor.as_str()),
            By::Provider(actor) => write!(f, "provider:{}", actor.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_made_a_step_reads_back_and_free_text_does_not() {
        let actor = |text| Actor::parse(text).expect("an id");
        for by in [By::Clock, By::Staff(actor("usr_7.a-b")), By::Provider(actor("stripe"))] {
            assert_eq!(By::parse(&by.to_string()), Some(by));
        }
        let long = format!("staff:{}", "x".repeat(ACTOR_CHARS_MAX + 1));
        for wrong in
            ["", "clock ", "staff", "staff:", "staff:Ann Smith", "staff:a|b", "buyer:ann", "clock:x", &long]
        {
            assert_eq!(By::parse(wrong), None, "{wrong}");
        }
    }
}
