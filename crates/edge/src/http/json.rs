//! JSON by hand, for the answers that are written most: the general way spends most of its time in looking for
//! characters to escape, one by one. It writes what `serde_json` writes, byte for byte.

use super::time::Time;

/// An answer that writes itself, as it would be by `Serialize`.
pub trait ByHand {
    fn write(&self, out: &mut Vec<u8>);
}

/// An object under construction. Keys are ours and need no escapes.
#[derive(Debug)]
pub struct Object<'a> {
    out: &'a mut Vec<u8>,
    begun: bool,
}

impl<'a> Object<'a> {
    pub fn begin(out: &'a mut Vec<u8>) -> Object<'a> {
        out.push(b'{');
        Object { out, begun: false }
    }

    pub fn text(&mut self, key: &str, value: &str) {
        let out = self.key(key);
        // Without an early end, so that many bytes are looked at in one instruction.
        let special = |byte: u8| (byte < 0x20) | (byte == b'"') | (byte == b'\\');
        if value.bytes().fold(false, |found, byte| found | special(byte)) {
            // Writing to a `Vec` cannot fail.
            let _ = serde_json::to_writer(out, value);
            return;
        }
        out.push(b'"');
        out.extend_from_slice(value.as_bytes());
        out.push(b'"');
    }

    pub fn number(&mut self, key: &str, value: impl itoa::Integer) {
        self.key(key).extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }

    pub fn time(&mut self, key: &str, value: Time) {
        let out = self.key(key);
        out.push(b'"');
        out.extend_from_slice(&value.write());
        out.push(b'"');
    }

    pub fn flag(&mut self, key: &str, value: bool) {
        self.key(key).extend_from_slice(if value { b"true" } else { b"false" });
    }

    /// A list of objects, each filled by `fill`.
    pub fn list<T>(&mut self, key: &str, items: &[T], fill: impl Fn(&mut Object<'_>, &T)) {
        let out = self.key(key);
        out.push(b'[');
        for (place, item) in items.iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            let mut object = Object::begin(out);
            fill(&mut object, item);
            object.end();
        }
        out.push(b']');
    }

    pub fn end(self) {
        self.out.push(b'}');
    }

    fn key(&mut self, key: &str) -> &mut Vec<u8> {
        let before: &[u8] = if self.begun { b",\"" } else { b"\"" };
        self.begun = true;
        self.out.extend_from_slice(before);
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }
}
