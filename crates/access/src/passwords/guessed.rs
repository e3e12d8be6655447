//! The passwords that are guessed first. Some hundred words stand in `guessed.txt`; what people make of them (capitals, a
//! year, `!`, `0` for `o`, twice the same) is undone here, so that few words stand for many thousand passwords.

use std::sync::LazyLock;

use hashbrown::HashSet;

/// Words in lower case, separated by white space.
static WORDS: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| include_str!("guessed.txt").split_ascii_whitespace().collect());

/// Rows and columns of keyboards and the alphabet; each is guessed forwards, backwards and in pieces.
const WALKS: [&str; 9] = [
    "01234567890123456789",
    "abcdefghijklmnopqrstuvwxyz",
    "qwertyuiopasdfghjklzxcvbnm",
    "qwertzuiopasdfghjklyxcvbnm",
    "azertyuiopqsdfghjklmwxcvbn",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p",
    "1q2w3e4r5t6y7u8i9o0p",
    "q1w2e3r4t5y6u7i8o9p0",
    "!@#$%^&*()_+",
];
/// Digits and signs around a word: `!2024!`, `123456`. More is a part of its own, which nobody guesses first.
const AROUND_CHARS_MAX: usize = 6;
/// Years that people were born or signed up in.
const YEARS: std::ops::RangeInclusive<u32> = 1930..=2039;

/// Whether this password, in lower case, is one of them.
pub(super) fn is_common(lower: &str) -> bool {
    is_guessed(lower) || {
        // Once more with letters where signs stand for them.
        let plain = without_disguise(lower);
        plain != lower && is_guessed(&plain)
    }
}

fn is_guessed(text: &str) -> bool {
    let core = text.trim_matches(|letter: char| !letter.is_alphabetic());
    let around = text.chars().count() - core.chars().count();
    let is_word =
        |word: &str| WORDS.contains(word) || repeated(word).is_some_and(|unit| WORDS.contains(unit));
    (around <= AROUND_CHARS_MAX && is_word(core))
        || (around <= 4 && is_walk(core))
        || stems(text).any(|stem| is_word(stem) || is_walk(stem))
        || is_date(text)
        || joined_words(core)
}

/// The text without its last digits and signs, none of them first.
fn stems(text: &str) -> impl Iterator<Item = &str> {
    let ends = text.char_indices().rev().take(AROUND_CHARS_MAX);
    let signs = ends.take_while(|(_, letter)| !letter.is_alphabetic()).map(|(at, _)| &text[..at]);
    std::iter::once(text).chain(signs)
}

/// `iloveyou` written `i.love.you` or `ilove you` is the same guess.
fn joined_words(core: &str) -> bool {
    let joined: String = core.chars().filter(|letter| letter.is_alphanumeric()).collect();
    joined.len() < core.len() && WORDS.contains(joined.as_str())
}

/// What the text is a repetition of.
fn repeated(text: &str) -> Option<&str> {
    (1..=text.len() / 2).filter(|length| text.len().is_multiple_of(*length)).find_map(|length| {
        let unit = text.get(..length)?;
        (unit.repeat(text.len() / length) == text).then_some(unit)
    })
}

/// Along a keyboard or an alphabet in pieces of at least three characters, or one short piece over and over.
fn is_walk(text: &str) -> bool {
    if text.len() < 6 {
        return false;
    }
    if repeated(text).is_some_and(|unit| unit.len() <= 3) {
        return true;
    }
    // 11223344 is 1234.
    let single: Vec<char> = text.chars().step_by(2).collect();
    if text.chars().skip(1).step_by(2).eq(single.iter().copied()) {
        return is_piece(&single.iter().collect::<String>());
    }
    let mut rest = text;
    while !rest.is_empty() {
        let length = (3..=rest.len()).rev().find(|length| rest.get(..*length).is_some_and(is_piece));
        match length {
            Some(length) => rest = &rest[length..],
            None => return false,
        }
    }
    true
}

fn is_piece(piece: &str) -> bool {
    let back: String = piece.chars().rev().collect();
    if piece.chars().count() < 3 {
        return false;
    }
    let first = piece.chars().next();
    piece.chars().all(|letter| Some(letter) == first)
        || WALKS.iter().any(|walk| walk.contains(piece) || walk.contains(&back))
}

/// Eight digits that are a day: 24121987, 19871224, 12241987.
fn is_date(text: &str) -> bool {
    let digits: String = text.chars().filter(|letter| !matches!(letter, '.' | '-' | '/' | ' ')).collect();
    if digits.len() != 8 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let number = |from: usize, to: usize| digits[from..to].parse::<u32>().unwrap_or(u32::MAX);
    let is_day = |one: u32, other: u32| one.min(other) <= 12 && one.max(other) <= 31;
    (YEARS.contains(&number(4, 8)) && is_day(number(0, 2), number(2, 4)))
        || (YEARS.contains(&number(0, 4)) && is_day(number(4, 6), number(6, 8)))
}

fn without_disguise(text: &str) -> String {
    // What stands before and behind the letters is counted as such, not as letters.
    let core = text.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '!');
    let plain = core.chars().map(|letter| match letter {
        '0' => 'o',
        '1' | '!' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        other => other,
    });
    plain.chain(text[core.len()..].chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_guesses_are_refused_in_all_their_disguises() {
        let guessed = [
            "password",
            "password1",
            "password123",
            "p@ssw0rd",
            "passw0rd!",
            "12345678",
            "123456789",
            "1234567890",
            "qwertyuiop",
            "qwerty123",
            "qwerty12345",
            "asdfghjkl",
            "1q2w3e4r",
            "1qaz2wsx",
            "zaq12wsx",
            "iloveyou",
            "i love you",
            "letmein1",
            "welcome1",
            "welcome2024!",
            "football",
            "baseball1",
            "sunshine",
            "princess1",
            "superman",
            "batman123",
            "trustno1",
            "dragon123",
            "monkey1234",
            "abcd1234",
            "abc12345",
            "abcabcabc",
            "11223344",
            "87654321",
            "00000000",
            "changeme",
            "secret123",
            "admin123",
            "administrator",
            "computer",
            "internet",
            "starwars",
            "whatever",
            "michael1",
            "jennifer",
            "charlie1",
            "liverpool",
            "chelsea1",
            "passpass",
            "testtest",
            "24121987",
            "1987-12-24",
            "december2024",
            "summer2023",
            "qwertyqwerty",
            "onsale2026",
            "tickets123",
            "!qaz@wsx",
            "geheim123",
            "passwort1",
            "motdepasse",
            "contraseña",
        ];
        for password in guessed {
            assert!(is_common(password), "{password}");
        }
    }

    #[test]
    fn what_is_long_or_odd_enough_is_taken() {
        for password in [
            "hedgehog moon",
            "correct horse battery",
            "tr0ub4dor&3",
            "xkjw-93kd",
            "passwordofmyaunt",
            "31415926",
            "my dog has 4 legs",
        ] {
            assert!(!is_common(password), "{password}");
        }
    }

    #[test]
    fn the_list_stands_for_more_than_the_three_thousand_most_common_ones() {
        let tails = ["", "1", "12", "123", "1234", "!", "2024", "2025"];
        let made: HashSet<String> = WORDS
            .iter()
            .flat_map(|word| tails.iter().map(move |tail| format!("{word}{tail}")))
            .filter(|password| password.chars().count() >= 8)
            .collect();
        assert!(made.len() > 3_000, "{}", made.len());
        for password in &made {
            assert!(is_common(password), "{password}");
        }
        for word in WORDS.iter() {
            assert_eq!(*word, word.to_lowercase());
        }
    }
}
