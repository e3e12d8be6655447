//! Bytes and replies as words of a text file: readable, and on one line.

use redis::Value;

/// What is no plain character is written as `%` and two digits.
pub fn of_bytes(bytes: &[u8]) -> String {
    let mut word = String::new();
    for byte in bytes {
        match byte {
            b'%' | b' ' => word.push_str(&format!("%{byte:02x}")),
            byte if byte.is_ascii_graphic() => word.push(char::from(*byte)),
            byte => word.push_str(&format!("%{byte:02x}")),
        }
    }
    word
}

pub fn to_bytes(word: &str) -> Vec<u8> {
    let mut parts = word.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at(2);
        bytes.push(u8::from_str_radix(digits, 16).expect("two digits"));
        bytes.extend(rest.as_bytes());
    }
    bytes
}

pub fn of_value(value: &Value) -> String {
    if let Value::Nil = value {
        return "_".to_owned();
    }
    if let Value::Int(number) = value {
        return format!(":{number}");
    }
    if let Value::BulkString(bytes) = value {
        return format!("${}", of_bytes(bytes));
    }
    let Value::Array(all) = value else { panic!("scripts do not answer {value:?}") };
    format!("[{}]", all.iter().map(of_value).collect::<Vec<_>>().join(" "))
}

#[test]
fn bytes_come_back_from_words() {
    let hostile: Vec<u8> = (0..=255).collect();
    assert_eq!(to_bytes(&of_bytes(&hostile)), hostile);
    assert!(!of_bytes(&hostile).contains(char::is_whitespace));
}
