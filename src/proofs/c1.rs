//! Reading a C1: JSON, JSON in the wrapper that lotus-bench and Curio use, or bincode. Which one it is, is seen, not said.
//!
//! A first pass reads; only when it fails a second one follows that keeps track of where it is, so that the error names
//! the place. Memory: a value is never larger than a small multiple of its text, whatever lengths the text claims.

use std::borrow::Cow;

use base64::engine::general_purpose::STANDARD;
use base64::Engine;
use bincode::Options;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::Deserialize;

use super::place::placed;
use super::vanilla::{Schema, C1};
use crate::error::{Error, Result};

/// The request's field that holds the bytes as a whole.
const INPUT: &str = "vanilla";

/// A C1, with what its wrapper says if it came in one.
#[derive(Debug)]
pub(crate) struct Read {
    pub c1: C1,
    /// `SectorNum` and `SectorSize`.
    pub wrapper: Option<(u64, u64)>,
}

/// Reads a C1. `MALFORMED_INPUT` names the place.
pub(crate) fn read(bytes: &[u8]) -> Result<Read> {
    if is_wrapper(bytes) {
        let wrapper: Wrapper<'_> = read_json(bytes, None)?;
        let inner = STANDARD
            .decode(wrapper.phase1_out.as_bytes())
            .map_err(|e| Error::malformed("Phase1Out", format!("is not base64: {e}")))?;
        let c1 = read_bare(&inner, "Phase1Out")?;
        return Ok(Read { c1, wrapper: Some((wrapper.sector_num, wrapper.sector_size)) });
    }
    Ok(Read { c1: read_bare(bytes, INPUT)?, wrapper: None })
}

/// Reads JSON or bincode without a wrapper; `field` names the bytes as a whole.
fn read_bare(bytes: &[u8], field: &'static str) -> Result<C1> {
    match first_character(bytes) {
        None => Err(Error::malformed(field, "is empty")),
        Some(b'{' | b'[') => read_json(bytes, Some(&C1::SCHEMA)),
        // A C1 in bincode begins with the number of its registered proof.
        Some(_) if bytes.len() >= 4 && bytes[0] < 20 && bytes[1..4] == [0; 3] => read_bincode(bytes),
        Some(_) => Err(Error::malformed(field, "is neither JSON nor bincode of SealCommitPhase1Output")),
    }
}

fn first_character(json: &[u8]) -> Option<u8> {
    json.iter().copied().find(|c| !b" \t\r\n".contains(c))
}

/// What lotus-bench and Curio put around a C1.
#[derive(Deserialize)]
struct Wrapper<'a> {
    #[serde(rename = "SectorNum")]
    sector_num: u64,
    #[serde(rename = "Phase1Out", borrow)]
    phase1_out: Cow<'a, str>,
    #[serde(rename = "SectorSize")]
    sector_size: u64,
}

/// Whether the first key that a C1 or its wrapper has is one of the wrapper's. Reads no further than that.
fn is_wrapper(json: &[u8]) -> bool {
    struct Keys<'a>(&'a mut bool);

    impl<'de> Visitor<'de> for Keys<'_> {
        type Value = ();

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some(key) = map.next_key::<Cow<'de, str>>()? {
                match &*key {
                    "SectorNum" | "Phase1Out" | "SectorSize" => {
                        *self.0 = true;
                        break;
                    }
                    "registered_proof" | "vanilla_proofs" | "comm_r" | "comm_d" | "replica_id" | "seed" | "ticket" => {
                        break
                    }
                    _ => map.next_value::<IgnoredAny>().map(drop)?,
                }
            }
            Ok(())
        }
    }

    impl<'de> DeserializeSeed<'de> for Keys<'_> {
        type Value = ();
        fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
            deserializer.deserialize_map(self)
        }
    }

    let mut found = false;
    // Stopping early is an error to serde_json; what was found by then is what counts.
    if first_character(json) == Some(b'{') {
        let _ = Keys(&mut found).deserialize(&mut serde_json::Deserializer::from_slice(json));
    }
    found
}

fn read_json<'de, T: Deserialize<'de>>(json: &'de [u8], schema: Option<&Schema>) -> Result<T> {
    serde_json::from_slice(json).map_err(|first| {
        let mut json = serde_json::Deserializer::from_slice(json);
        match serde_path_to_error::deserialize::<_, T>(&mut json) {
            Err(e) => placed(e.path(), schema, INPUT, &e.inner().to_string()),
            // The value is whole, so what follows it is at fault.
            Ok(_) => Error::malformed(INPUT, first.to_string()),
        }
    })
}

fn read_bincode(bytes: &[u8]) -> Result<C1> {
    // As `bincode::serialize` writes, except that nothing may follow; no length can make it read or reserve more than
    // there is.
    let options = || bincode::options().with_fixint_encoding().with_limit(bytes.len() as u64).reject_trailing_bytes();
    options().deserialize(bytes).map_err(|first| {
        let mut reader = bincode::Deserializer::from_slice(bytes, options());
        match serde_path_to_error::deserialize::<_, C1>(&mut reader) {
            Err(e) => placed(e.path(), Some(&C1::SCHEMA), INPUT, &e.inner().to_string()),
            Ok(_) => Error::malformed(INPUT, format!("bincode: {first}")),
        }
    })
}
