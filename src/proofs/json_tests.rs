//! The JSON reader against serde_json, on texts that are right and on texts changed at random.

use std::sync::atomic::AtomicBool;

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use serde::de::IgnoredAny;

use super::*;
use crate::error::{Code, Error};

const TEXT: Place<'static> = Place::whole("text");

/// What `read` makes of a whole text.
fn whole<T>(text: &[u8], read: impl FnOnce(&mut Json<'_>) -> Result<T>) -> Result<T> {
    let flag = AtomicBool::new(false);
    let session = Session::new(&flag).unwrap();
    let mut json = Json::new(text, &session);
    let value = read(&mut json)?;
    json.end(&TEXT).map(|()| value)
}

fn malformed(result: Result<impl Sized>) -> Error {
    let Err(e) = result else { panic!("taken for good") };
    assert_eq!(e.code, Code::MalformedInput);
    e
}

/// A text changed at up to three places.
fn changed(rng: &mut StdRng, text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    for _ in 0..rng.gen_range(0..4) {
        let at = rng.gen_range(0..text.len());
        match rng.gen_range(0..4) {
            0 => drop(text.remove(at)),
            1 => text.insert(at, *b"[]{}:,\"\\0159-+.eEu \n\x01tn".choose(rng).unwrap()),
            2 => text[at] = *b"[]{}:,\"\\0159-+.eEu \n\x01tn".choose(rng).unwrap(),
            _ => text.swap(at, 0),
        }
        if text.is_empty() {
            text.push(b' ');
        }
    }
    text
}

#[test]
fn passes_over_what_serde_json_takes() {
    let texts: [&[u8]; 8] = [
        br#"{"a":[1,-2.5e+3,{"b":null},[]],"c\u00e9\"":"x\ny","d":{}}"#,
        br#" [ [ [ ] , { } ] , true , false , "" , 0 , -0.0e0 , 12E9 ] "#,
        br#"[[[[[[[[{"a":[[[[{"b":{"c":{"d":[{}]}}}]]]]}]]]]]]]]"#,
        br#""\ud83d\ude00 \/ \b\f\n\r\t\\""#,
        b"-7",
        b"null",
        b"{\"\":\"\"}",
        b"[0,00]",
    ];
    let mut rng = StdRng::seed_from_u64(1);
    let (mut good, mut bad) = (0, 0);
    for round in 0..200_000 {
        let text = changed(&mut rng, texts[round % texts.len()]);
        let ours = whole(&text, |json| json.skip(&TEXT));
        let theirs = serde_json::from_slice::<IgnoredAny>(&text);
        assert_eq!(ours.is_ok(), theirs.is_ok(), "{:?}: {ours:?}, {theirs:?}", String::from_utf8_lossy(&text));
        if ours.is_ok() {
            good += 1;
        } else {
            malformed(ours);
            bad += 1;
        }
    }
    assert!(good > 10_000 && bad > 10_000, "{good} good, {bad} bad");
}

#[test]
fn reads_bytes_and_numbers_as_serde_json_does() {
    let mut rng = StdRng::seed_from_u64(2);
    let (mut good, mut loose) = (0, 0);
    for round in 0..50_000 {
        let bytes: [u8; 32] = std::array::from_fn(|_| rng.gen::<u8>() >> rng.gen_range(0..8));
        let text = serde_json::to_vec(&bytes).unwrap();
        let text = if round % 2 == 0 { changed(&mut rng, &text) } else { text };
        let ours = whole(&text, |json| json.bytes32(&TEXT)).ok();
        assert_eq!(ours, serde_json::from_slice(&text).ok(), "{:?}", String::from_utf8_lossy(&text));
        good += usize::from(ours.is_some());
        loose += usize::from(ours.is_some() && compact_bytes32(&text).is_none());

        let number = rng.gen::<u64>() >> rng.gen_range(0..64);
        let number = changed(&mut rng, number.to_string().as_bytes());
        let text = String::from_utf8_lossy(&number);
        assert_eq!(whole(&number, |j| j.u64(&TEXT)).ok(), serde_json::from_slice(&number).ok(), "{text:?}");
        assert_eq!(whole(&number, |j| j.u32(&TEXT)).ok(), serde_json::from_slice(&number).ok(), "{text:?}");
    }
    assert!(good > 25_000 && loose > 100, "{good} good, {loose} of them with space");
}

#[test]
fn names_the_byte_that_is_wrong() {
    let text = |byte: &str| format!("[{}{byte},0]", "1, ".repeat(30));
    for byte in ["256", "-1", "1.0", "1e1", "01", "\"1\"", "99999999999999999999999"] {
        let e = malformed(whole(text(byte).as_bytes(), |json| json.bytes32(&TEXT)));
        assert!(e.message.starts_with("byte 30: is no whole number from 0 to 255"), "{byte}: {e}");
    }
    for (text, message) in [("[1,2]", "has 2 bytes"), ("[]", "has 0 bytes"), ("7", "has no '['")] {
        let e = malformed(whole(text.as_bytes(), |json| json.bytes32(&TEXT)));
        assert!(e.message.starts_with(message), "{e}");
    }
    assert_eq!(whole(text("7").as_bytes(), |json| json.bytes32(&TEXT)).unwrap()[30], 7);
}

#[test]
fn unescapes_as_serde_json_does() {
    let parts: [&[u8]; 12] = [
        b"a",
        b"\\n",
        b"\\u0041",
        b"\\ud83d\\ude00",
        b"\\ud83d",
        b"\\ude00",
        b"\\\"",
        b"\\/",
        b"\\u20ac",
        b"\\u00e9",
        "\u{e9}".as_bytes(),
        b"longer than eight",
    ];
    let mut rng = StdRng::seed_from_u64(3);
    for _ in 0..50_000 {
        let mut raw = Vec::new();
        for _ in 0..rng.gen_range(0..6) {
            raw.extend_from_slice(parts.choose(&mut rng).unwrap());
        }
        let quoted = [b"\"", &raw[..], b"\""].concat();
        let theirs = serde_json::from_slice::<String>(&quoted).ok();
        let mut room = vec![0; raw.len()];
        let Ok(ours) = unescape(&raw, &mut room, || Ok::<_, Infallible>(()));
        assert_eq!(ours, theirs.as_deref().map(str::as_bytes), "{:?}", String::from_utf8_lossy(&raw));
        let text = whole(&quoted, |json| json.string(&TEXT).map(|text| (text.raw.len(), text.escaped)));
        assert_eq!(text.unwrap(), (raw.len(), raw.contains(&b'\\')));
    }
}

#[test]
fn finds_the_first_special_character() {
    let mut rng = StdRng::seed_from_u64(4);
    for _ in 0..100_000 {
        let text: Vec<u8> = (0..rng.gen_range(0..40))
            .map(|_| *b"aaaaaaaaaaa\"\\\x1f\x20\x7f\x80\xa2\xdc\xff!#[]".choose(&mut rng).unwrap())
            .collect();
        let first = text.iter().position(|c| *c < 0x20 || *c == b'"' || *c == b'\\').unwrap_or(text.len());
        assert_eq!(plain(&text), first, "{text:?}");
    }
}

#[test]
fn keys_are_short() {
    let text = |len: usize| format!("{{\"{}\":0,\"a\":1}}", "k".repeat(len));
    let read = |text: &str| {
        let mut a = 0;
        whole(text.as_bytes(), |json| {
            json.fields(&TEXT, &["a"], |json, _, at| {
                a = json.u64(at)?;
                Ok(())
            })
        })
        .map(|()| a)
    };
    assert_eq!(read(&text(KEY_BYTES)).unwrap(), 1);
    assert!(malformed(read(&text(KEY_BYTES + 1))).message.starts_with("has a key of 1025 bytes"));
    assert_eq!(malformed(read("{\"b\":0,\"a\":1,\"a\":1}")).field, "a");
    assert_eq!(malformed(read("{\"b\":0}")).field, "a");
    assert_eq!(malformed(read("{\"b\":0")).field, "text");
    assert_eq!(malformed(read("{\"b\":[")).field, "b");
}
