//! JSON, read in one pass over its bytes.
//!
//! Nothing of it is copied but the bits that say, of each level of a value passed over, whether it is an object: not the
//! longest key, the longest string or the deepest nesting costs more. A general parser keeps the text of escaped strings
//! and passes over unknown values without a word; here the cancel flag is looked at within every loop.

use std::convert::Infallible;
use std::fmt;

use super::nest::Nest;
use super::place::Place;
use super::reader::Reader;
use super::session::{Session, BYTES_A_LOOK};
use crate::error::Result;

/// Keys longer than this are refused.
const KEY_BYTES: usize = 1024;

/// No name that is known is longer than this.
const NAME_BYTES: usize = 64;

/// Reads JSON.
pub(crate) struct Json<'a> {
    text: &'a [u8],
    at: usize,
    session: &'a Session<'a>,
}

/// A string as it stands between its quotes. Its escapes are well formed, and it has no control characters.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a> {
    pub raw: &'a [u8],
    pub escaped: bool,
}

impl Text<'_> {
    fn is_one_of(&self, names: &[&str]) -> Option<usize> {
        let mut unescaped = [0; NAME_BYTES];
        let text = if self.escaped {
            let Ok(text) = unescape(self.raw, &mut unescaped, || Ok::<_, Infallible>(()));
            text?
        } else {
            self.raw
        };
        names.iter().position(|name| name.as_bytes() == text)
    }

    /// The first bytes, for a message.
    fn beginning(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.raw[..self.raw.len().min(NAME_BYTES)])
    }
}

impl<'a> Json<'a> {
    /// From the first byte on.
    pub fn new(text: &'a [u8], session: &'a Session<'a>) -> Self {
        Json { text, at: 0, session }
    }

    /// Whether this was all; `place` is the whole.
    pub fn end(&mut self, place: &Place<'_>) -> Result<()> {
        self.space()?;
        if self.at < self.text.len() {
            return Err(self.fault(place, "has something after its end"));
        }
        Ok(())
    }

    #[cold]
    fn fault(&self, place: &Place<'_>, message: impl fmt::Display) -> crate::error::Error {
        self.session.fault(place, format_args!("{message} (at byte {})", self.at))
    }

    /// To what is no space.
    fn space(&mut self) -> Result<()> {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.text.get(self.at) {
            self.at += 1;
            if self.at.is_multiple_of(BYTES_A_LOOK) {
                self.session.look()?;
            }
        }
        Ok(())
    }

    /// What comes next, space apart.
    #[inline]
    fn peek(&mut self, place: &Place<'_>) -> Result<u8> {
        match self.text.get(self.at) {
            Some(c) if *c > b' ' => Ok(*c),
            _ => self.peek_past_space(place),
        }
    }

    fn peek_past_space(&mut self, place: &Place<'_>) -> Result<u8> {
        self.space()?;
        match self.text.get(self.at) {
            Some(c) => Ok(*c),
            None => Err(self.fault(place, "ends early")),
        }
    }

    #[inline]
    fn expect(&mut self, place: &Place<'_>, what: u8) -> Result<()> {
        if self.peek(place)? != what {
            return Err(self.fault(place, format_args!("has no {:?} where one must be", char::from(what))));
        }
        self.at += 1;
        Ok(())
    }

    /// After a value: whether another follows. Else the list's end, `close`, is passed.
    #[inline]
    fn more(&mut self, place: &Place<'_>, close: u8) -> Result<bool> {
        let c = self.peek(place)?;
        if c != b',' && c != close {
            return Err(self.fault(place, format_args!("has neither ',' nor {:?} after a value", char::from(close))));
        }
        self.at += 1;
        Ok(c == b',')
    }

    /// After `open`: whether a list has any values. Else its end is passed.
    #[inline]
    fn any(&mut self, place: &Place<'_>, close: u8) -> Result<bool> {
        let empty = self.peek(place)? == close;
        self.at += usize::from(empty);
        Ok(!empty)
    }

    /// A string.
    pub fn string(&mut self, place: &Place<'_>) -> Result<Text<'a>> {
        if self.peek(place)? != b'"' {
            return Err(self.fault(place, "has no string where one must be"));
        }
        let (begin, mut escaped) = (self.at + 1, false);
        self.at = begin;
        loop {
            let rest = &self.text[self.at..];
            let part = &rest[..rest.len().min(BYTES_A_LOOK)];
            let plain = plain(part);
            self.at += plain;
            match part.get(plain) {
                Some(b'"') => {
                    let raw = &self.text[begin..self.at];
                    self.at += 1;
                    return Ok(Text { raw, escaped });
                }
                Some(b'\\') => {
                    escaped = true;
                    let Some(len) = escape(&self.text[self.at..]) else {
                        return Err(self.fault(place, "has an escape that is none"));
                    };
                    self.at += len;
                }
                Some(_) => return Err(self.fault(place, "has a control character in a string")),
                None if part.len() == rest.len() => return Err(self.fault(place, "ends early, in a string")),
                None => {}
            }
            self.session.look()?;
        }
    }

    /// A key, with the colon after it.
    fn key(&mut self, place: &Place<'_>) -> Result<Text<'a>> {
        if self.peek(place)? != b'"' {
            return Err(self.fault(place, "has no key where one must be"));
        }
        let key = self.string(place)?;
        if key.raw.len() > KEY_BYTES {
            return Err(self.fault(place, format_args!("has a key of {} bytes", key.raw.len())));
        }
        self.expect(place, b':')?;
        Ok(key)
    }

    /// A key that is none of `names`, and its value, which is passed over.
    fn unknown(&mut self, place: &Place<'_>, key: Text<'a>) -> Result<()> {
        match std::str::from_utf8(key.raw) {
            Ok(name) => self.skip(&place.field(name)),
            Err(_) => Err(self.fault(place, "has a key that is not UTF-8")),
        }
    }

    /// The first key of an object that is one of `names`. What comes before it is passed over.
    pub fn first_key(&mut self, place: &Place<'_>, names: &[&str]) -> Result<Option<usize>> {
        self.expect(place, b'{')?;
        let mut more = self.any(place, b'}')?;
        while more {
            let key = self.key(place)?;
            if let Some(name) = key.is_one_of(names) {
                return Ok(Some(name));
            }
            self.unknown(place, key)?;
            more = self.more(place, b'}')?;
        }
        Ok(None)
    }

    /// To the value of a struct's first field: an object may have it anywhere, an array begins with it.
    pub fn seek(&mut self, place: &Place<'_>, first: &'static str) -> Result<()> {
        if self.peek(place)? == b'[' {
            self.at += 1;
            return Ok(());
        }
        match self.first_key(place, &[first])? {
            Some(_) => Ok(()),
            None => Err(self.fault(&place.field(first), "is missing")),
        }
    }

    /// Passes over a value, however deep it is.
    fn skip(&mut self, place: &Place<'_>) -> Result<()> {
        let mut nest = Nest::default();
        loop {
            self.session.look()?;
            match self.peek(place)? {
                b'{' => {
                    self.at += 1;
                    if self.any(place, b'}')? {
                        nest.push(self.session, true)?;
                        self.key(place)?;
                        continue;
                    }
                }
                b'[' => {
                    self.at += 1;
                    if self.any(place, b']')? {
                        nest.push(self.session, false)?;
                        continue;
                    }
                }
                b'"' => drop(self.string(place)?),
                b'-' | b'0'..=b'9' => self.skip_number(place)?,
                _ => self.skip_word(place)?,
            }
            loop {
                let Some(object) = nest.is_object() else { return Ok(()) };
                if self.more(place, if object { b'}' } else { b']' })? {
                    if object {
                        self.key(place)?;
                    }
                    break;
                }
                nest.pop();
                self.session.look()?;
            }
        }
    }

    fn skip_word(&mut self, place: &Place<'_>) -> Result<()> {
        let rest = &self.text[self.at..];
        match ["null", "true", "false"].into_iter().find(|word| rest.starts_with(word.as_bytes())) {
            Some(word) => self.at += word.len(),
            None => return Err(self.fault(place, "has no value where one must be")),
        }
        Ok(())
    }

    fn skip_number(&mut self, place: &Place<'_>) -> Result<()> {
        self.at += usize::from(self.text[self.at] == b'-');
        match self.text.get(self.at) {
            Some(b'0') => self.at += 1,
            _ => self.skip_digits(place)?,
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.skip_digits(place)?;
        }
        if let Some(b'e' | b'E') = self.text.get(self.at) {
            self.at += 1;
            self.at += usize::from(matches!(self.text.get(self.at), Some(b'+' | b'-')));
            self.skip_digits(place)?;
        }
        Ok(())
    }

    /// At least one digit.
    fn skip_digits(&mut self, place: &Place<'_>) -> Result<()> {
        let begin = self.at;
        while let Some(b'0'..=b'9') = self.text.get(self.at) {
            self.at += 1;
            if self.at.is_multiple_of(BYTES_A_LOOK) {
                self.session.look()?;
            }
        }
        if self.at == begin {
            return Err(self.fault(place, "has a number without digits"));
        }
        Ok(())
    }

    /// A whole number up to `max`; `byte` says which of 32 it is.
    fn whole(&mut self, place: &Place<'_>, byte: Option<usize>, max: u64) -> Result<u64> {
        let is = |what| Which(byte, what);
        if !self.peek(place)?.is_ascii_digit() {
            return Err(self.fault(place, is(format_args!("is no whole number from 0 to {max}"))));
        }
        let begin = self.at;
        let mut value = 0u64;
        while let Some(c @ b'0'..=b'9') = self.text.get(self.at) {
            let next = value.checked_mul(10).and_then(|v| v.checked_add(u64::from(c - b'0')));
            match next.filter(|v| *v <= max && (value > 0 || self.at == begin)) {
                Some(next) => value = next,
                None => return Err(self.fault(place, is(format_args!("is no whole number from 0 to {max}")))),
            }
            self.at += 1;
        }
        if let Some(b'.' | b'e' | b'E') = self.text.get(self.at) {
            return Err(self.fault(place, is(format_args!("is no whole number from 0 to {max}"))));
        }
        Ok(value)
    }

    /// [`Reader::bytes32`] with space in it, or with what is wrong about it.
    #[cold]
    #[inline(never)]
    fn loose_bytes32(&mut self, place: &Place<'_>) -> Result<[u8; 32]> {
        let mut bytes = [0; 32];
        self.expect(place, b'[')?;
        let mut count = 0;
        let mut more = self.any(place, b']')?;
        while more {
            let Some(byte) = bytes.get_mut(count) else {
                return Err(self.fault(place, "has more than 32 bytes"));
            };
            *byte = self.whole(place, Some(count), 255)? as u8;
            count += 1;
            more = self.more(place, b']')?;
        }
        if count < 32 {
            return Err(self.fault(place, format_args!("has {count} bytes where 32 must be")));
        }
        Ok(bytes)
    }
}

impl Reader for Json<'_> {
    fn session(&self) -> &Session<'_> {
        self.session
    }

    /// An object, or an array of the fields' values in order.
    fn fields(
        &mut self,
        place: &Place<'_>,
        names: &[&'static str],
        mut each: impl FnMut(&mut Self, usize, &Place<'_>) -> Result<()>,
    ) -> Result<()> {
        if self.peek(place)? == b'[' {
            let mut count = 0;
            self.items(place, "fields", names.len(), |json, _| {
                count += 1;
                each(json, count - 1, &place.field(names[count - 1]))
            })?;
            return Ok(());
        }
        self.expect(place, b'{')?;
        let mut there = 0u32;
        let mut more = self.any(place, b'}')?;
        while more {
            let key = self.key(place)?;
            match key.is_one_of(names) {
                Some(i) if there >> i & 1 == 1 => return Err(self.fault(&place.field(names[i]), "is there twice")),
                Some(i) => {
                    there |= 1 << i;
                    each(self, i, &place.field(names[i]))?;
                }
                None => self.unknown(place, key)?,
            }
            more = self.more(place, b'}')?;
        }
        match names.iter().enumerate().find(|(i, _)| there >> i & 1 == 0) {
            Some((_, name)) => Err(self.fault(&place.field(name), "is missing")),
            None => Ok(()),
        }
    }

    fn items(
        &mut self,
        place: &Place<'_>,
        what: &str,
        expected: usize,
        mut each: impl FnMut(&mut Self, &Place<'_>) -> Result<()>,
    ) -> Result<()> {
        self.expect(place, b'[')?;
        let mut count = 0;
        let mut more = self.any(place, b']')?;
        while more {
            if count == expected {
                return Err(self.fault(place, format_args!("has more than {expected} {what}")));
            }
            each(self, &place.item(count))?;
            count += 1;
            more = self.more(place, b']')?;
        }
        if count < expected {
            return Err(self.fault(place, format_args!("has {count} {what} where there must be {expected}")));
        }
        Ok(())
    }

    fn variant<T>(
        &mut self,
        place: &Place<'_>,
        names: &[&str],
        content: impl FnOnce(&mut Self, usize) -> Result<T>,
    ) -> Result<T> {
        self.expect(place, b'{')?;
        let name = self.key(place)?;
        let Some(i) = name.is_one_of(names) else {
            return Err(self.fault(place, format_args!("{:?} is none of its variants", name.beginning())));
        };
        let value = content(self, i)?;
        self.expect(place, b'}')?;
        Ok(value)
    }

    fn name(&mut self, place: &Place<'_>, names: &[&str]) -> Result<usize> {
        let name = self.string(place)?;
        match name.is_one_of(names) {
            Some(i) => Ok(i),
            None => Err(self.fault(place, format_args!("{:?} is none of its names", name.beginning()))),
        }
    }

    fn unit(&mut self, place: &Place<'_>) -> Result<()> {
        self.peek(place)?;
        if !self.text[self.at..].starts_with(b"null") {
            return Err(self.fault(place, "is not null"));
        }
        self.at += 4;
        Ok(())
    }

    #[inline]
    fn bytes32(&mut self, place: &Place<'_>) -> Result<[u8; 32]> {
        self.session.look()?;
        match compact_bytes32(&self.text[self.at..]) {
            Some((bytes, len)) => {
                self.at += len;
                Ok(bytes)
            }
            None => self.loose_bytes32(place),
        }
    }

    fn u32(&mut self, place: &Place<'_>) -> Result<u32> {
        self.whole(place, None, u32::MAX.into()).map(|n| n as u32)
    }

    fn u64(&mut self, place: &Place<'_>) -> Result<u64> {
        self.whole(place, None, u64::MAX)
    }
}

/// A message about one of 32 bytes, or about something else.
struct Which<'a>(Option<usize>, fmt::Arguments<'a>);

impl fmt::Display for Which<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(byte) = self.0 {
            write!(f, "byte {byte}: ")?;
        }
        f.write_fmt(self.1)
    }
}

/// 32 bytes written without space, and the length of that; none if it is anything else.
#[inline]
fn compact_bytes32(text: &[u8]) -> Option<([u8; 32], usize)> {
    let mut bytes = [0; 32];
    if *text.first()? != b'[' {
        return None;
    }
    let mut at = 1;
    for (i, byte) in bytes.iter_mut().enumerate() {
        let mut value = u32::from(text.get(at)?.wrapping_sub(b'0'));
        if value > 9 {
            return None;
        }
        let mut after = *text.get(at + 1)?;
        at += 2;
        // A zero has no digit after it.
        if after.is_ascii_digit() && value > 0 {
            value = value * 10 + u32::from(after - b'0');
            after = *text.get(at)?;
            at += 1;
            if after.is_ascii_digit() {
                value = value * 10 + u32::from(after - b'0');
                after = *text.get(at)?;
                at += 1;
            }
        }
        *byte = u8::try_from(value).ok()?;
        if after != if i == 31 { b']' } else { b',' } {
            return None;
        }
    }
    Some((bytes, at))
}

/// How many bytes at the beginning are neither quote, backslash nor control character.
fn plain(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    // The high bit of every byte that is zero; above the lowest of these bits others may be wrong.
    let zeros = |x: u64| x.wrapping_sub(ONES) & !x;
    let mut at = 0;
    for chunk in bytes.as_chunks::<8>().0 {
        let x = u64::from_le_bytes(*chunk);
        let control = x.wrapping_sub(ONES * 0x20) & !x;
        let found =
            (control | zeros(x ^ (ONES * u64::from(b'"'))) | zeros(x ^ (ONES * u64::from(b'\\')))) & (ONES << 7);
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let special = |c: &u8| *c < 0x20 || *c == b'"' || *c == b'\\';
    at + bytes[at..].iter().position(special).unwrap_or(bytes.len() - at)
}

/// The length of the escape that a text begins with; none if it is no escape.
fn escape(text: &[u8]) -> Option<usize> {
    match text.get(1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
        b'u' => text.get(2..6)?.iter().all(u8::is_ascii_hexdigit).then_some(6),
        _ => None,
    }
}

/// What a raw string stands for, written into `out`; none if there is no room or half a character stands alone. No
/// string is longer than its raw form. `look` is called before every escape.
pub(crate) fn unescape<'o, E>(
    raw: &[u8],
    out: &'o mut [u8],
    look: impl Fn() -> Result<(), E>,
) -> Result<Option<&'o [u8]>, E> {
    let (mut at, mut len) = (0, 0);
    loop {
        let rest = &raw[at..];
        let plain = rest.iter().position(|c| *c == b'\\').unwrap_or(rest.len());
        let Some(to) = out.get_mut(len..len + plain) else { return Ok(None) };
        to.copy_from_slice(&rest[..plain]);
        (at, len) = (at + plain, len + plain);
        if at == raw.len() {
            return Ok(Some(&out[..len]));
        }
        look()?;
        let Some((character, size)) = escaped(&raw[at..]) else { return Ok(None) };
        let Some(to) = out.get_mut(len..len + character.len_utf8()) else { return Ok(None) };
        character.encode_utf8(to);
        (at, len) = (at + size, len + character.len_utf8());
    }
}

/// The character that the escape at the beginning of `text` stands for, and the escape's length.
fn escaped(text: &[u8]) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = std::str::from_utf8(text.get(at..at + 4)?).ok()?;
        u32::from_str_radix(digits, 16).ok()
    };
    Some(match text.get(1)? {
        b'b' => ('\u{8}', 2),
        b'f' => ('\u{c}', 2),
        b'n' => ('\n', 2),
        b'r' => ('\r', 2),
        b't' => ('\t', 2),
        b'u' => match unit(2)? {
            high @ 0xd800..0xdc00 => {
                text.get(6..8).filter(|u| *u == b"\\u")?;
                let low = unit(8).filter(|low| (0xdc00..0xe000).contains(low))?;
                (char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))?, 12)
            }
            other => (char::from_u32(other)?, 6),
        },
        c => (char::from(*c), 2),
    })
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
