//! Numbers as short texts: Crockford's base 32, lower case, which sorts like the numbers.

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Each character's digit; 255 for one that is none.
const DIGITS: [u8; 256] = {
    let mut digits = [255; 256];
    let mut digit = 0;
    while digit < ALPHABET.len() {
        digits[ALPHABET[digit] as usize] = digit as u8;
        digit += 1;
    }
    digits
};

/// Writes 128 bits as 26 characters of Crockford's base 32, lower case; sorts like the number.
pub fn write_base32(number: u128) -> [u8; 26] {
    // In words of 60 bits, twelve characters each: a processor has no quick shifts of 128.
    let words = [(number >> 120) as u64, (number >> 60) as u64, number as u64];
    let mut text = [0; 26];
    let (head, rest) = text.split_at_mut(2);
    let (middle, writer) = rest.split_at_mut(12);
    for (part, word) in [head, middle, writer].into_iter().zip(words) {
        let mut left = word;
        for character in part.iter_mut().rev() {
            *character = ALPHABET[(left & 31) as usize];
            left >>= 5;
        }
    }
    text
}

/// Reads what [`write_base32`] wrote; anything else is `None`.
pub fn read_base32(text: &str) -> Option<u128> {
    let text: &[u8; 26] = text.as_bytes().try_into().ok()?;
    if text[0] > b'7' {
        return None;
    }
    let mut wrong = 0;
    let mut word = |part: &[u8]| {
        part.iter().fold(0u64, |number, character| {
            let digit = DIGITS[usize::from(*character)];
            wrong |= digit;
            number << 5 | u64::from(digit & 31)
        })
    };
    let (head, middle, writer) = (word(&text[..2]), word(&text[2..14]), word(&text[14..]));
    (wrong < 32).then_some(u128::from(head) << 120 | u128::from(middle) << 60 | u128::from(writer))
}

/// Writes a number of 64 bits as 13 characters, which sort like the number.
pub fn write_id(number: u64) -> [u8; 13] {
    let mut text = [0; 13];
    write_digits(number, &mut text);
    text
}

/// Reads what [`write_id`] wrote; anything else is `None`.
pub fn read_id(text: &str) -> Option<u64> {
    let text: &[u8; 13] = text.as_bytes().try_into().ok()?;
    // Twelve characters are 60 bits: of the first one four are left.
    (text[0] <= b'f').then_some(())?;
    read_digits(text)
}

/// Writes the lowest bits of a number, five to a character.
pub fn write_digits(number: u64, text: &mut [u8]) {
    let mut left = number;
    for character in text.iter_mut().rev() {
        *character = ALPHABET[(left & 31) as usize];
        left >>= 5;
    }
}

/// Reads what [`write_digits`] wrote: up to twelve characters, or 13 whose first is known to be below 16.
pub fn read_digits(text: &[u8]) -> Option<u64> {
    let mut wrong = 0;
    let number = text.iter().fold(0u64, |number, character| {
        let digit = DIGITS[usize::from(*character)];
        wrong |= digit;
        number << 5 | u64::from(digit & 31)
    });
    (wrong < 32).then_some(number)
}
