//! Reading a C1: JSON, JSON in the wrapper that lotus-bench and Curio use, or bincode. Which one it is, is seen, not said.
//!
//! The request's registered proof says what there must be, to the last hash, so what is held never exceeds that,
//! whatever the bytes claim. The system is asked for all of it before the first byte is read.

use base64::engine::general_purpose::STANDARD;
use base64::Engine;
use filecoin_proofs_api::RegisteredSealProof;

use super::binary::Binary;
use super::inspect::Format;
use super::json::{unescape, Json};
use super::place::Place;
use super::reader::Reader;
use super::registered::{self, SEAL_PROOFS};
use super::session::{Session, BYTES_A_LOOK};
use super::shape::Shape;
use super::vanilla::{C1, C1_FIELDS};
use crate::error::{Code, Result};
use crate::memory::Buf;

/// The request's field that holds the bytes as a whole.
const INPUT: &str = "vanilla";

/// The wrapper's fields, in Go's order, and the one with the C1 in base64.
const WRAPPER_FIELDS: [&str; 3] = ["SectorNum", "Phase1Out", "SectorSize"];
const INNER: &str = WRAPPER_FIELDS[1];

/// A C1, with what its wrapper says if it came in one.
#[derive(Debug)]
pub(crate) struct Read {
    pub c1: C1,
    /// `SectorNum` and `SectorSize`.
    pub wrapper: Option<(u64, u64)>,
}

/// Reads a C1 for `proof`, whose circuit takes `shape`. `MALFORMED_INPUT` names the place, `OUT_OF_MEMORY` `vanilla`.
pub(crate) fn read(bytes: &[u8], proof: RegisteredSealProof, shape: &Shape, session: &Session<'_>) -> Result<Read> {
    let (wrapper, c1) = unwrapped(bytes, session, |c1, field| read_bare(c1, field, proof, shape, session))?;
    Ok(Read { c1, wrapper })
}

/// How a C1 is written, and which registered proof it says that it is of. Reads no further than that, but for a wrapper.
pub(crate) fn look(bytes: &[u8], session: &Session<'_>) -> Result<(Format, RegisteredSealProof)> {
    let (wrapper, (format, proof)) = unwrapped(bytes, session, |c1, field| {
        let whole = Place::whole(field);
        let names = SEAL_PROOFS.map(registered::seal_name);
        let names = names.each_ref().map(String::as_str);
        let (format, number) = match first_character(c1, session)? {
            Some(b'{' | b'[') => {
                let mut json = Json::new(c1, session);
                let at = whole.field(C1_FIELDS[0]);
                json.seek(&whole, C1_FIELDS[0])?;
                (Format::Json, json.name(&at, &names)?)
            }
            None => return Err(session.fault(&whole, format_args!("is empty"))),
            Some(_) => (Format::Bincode, Binary::new(c1, session).name(&whole, &names)?),
        };
        Ok((format, SEAL_PROOFS[number]))
    })?;
    Ok((if wrapper.is_some() { Format::Wrapper } else { format }, proof))
}

/// Hands `read` the C1 in a wrapper, or all bytes where there is none, and the field that names them as a whole. What the
/// wrapper says, and what `read` gives.
fn unwrapped<T>(
    bytes: &[u8],
    session: &Session<'_>,
    read: impl FnOnce(&[u8], &'static str) -> Result<T>,
) -> Result<(Option<(u64, u64)>, T)> {
    if !is_wrapper(bytes, session)? {
        return Ok((None, read(bytes, INPUT)?));
    }
    let (mut number, mut size, mut inner) = (0, 0, Buf::new());
    let whole = Place::whole(INPUT);
    let mut json = Json::new(bytes, session);
    json.fields(&whole, &WRAPPER_FIELDS, |json, i, at| {
        match i {
            0 => number = json.u64(at)?,
            1 => {
                let text = json.string(at)?;
                inner =
                    if text.escaped { unescaped_base64(text.raw, at, session) } else { base64(text.raw, at, session) }?;
            }
            _ => size = json.u64(at)?,
        }
        Ok(())
    })?;
    json.end(&whole)?;
    Ok((Some((number, size)), read(&inner, INNER)?))
}

/// Reads JSON or bincode without a wrapper; `field` names the bytes as a whole.
fn read_bare(
    bytes: &[u8],
    field: &'static str,
    proof: RegisteredSealProof,
    shape: &Shape,
    session: &Session<'_>,
) -> Result<C1> {
    let whole = Place::whole(field);
    let first = first_character(bytes, session)?;
    session.probe(shape.bytes())?;
    match first {
        None => Err(session.fault(&whole, format_args!("is empty"))),
        Some(b'{' | b'[') => {
            let mut json = Json::new(bytes, session);
            let c1 = C1::read(&mut json, &whole, proof, shape)?;
            json.end(&whole).map(|()| c1)
        }
        // A C1 in bincode begins with the number of its registered proof.
        Some(_) if bytes.len() >= 4 && bytes[0] < 20 && bytes[1..4] == [0; 3] => {
            let mut binary = Binary::new(bytes, session);
            let c1 = C1::read(&mut binary, &whole, proof, shape)?;
            binary.end(&whole).map(|()| c1)
        }
        Some(_) => Err(session.fault(&whole, format_args!("is neither JSON nor bincode of SealCommitPhase1Output"))),
    }
}

fn first_character(json: &[u8], session: &Session<'_>) -> Result<Option<u8>> {
    for part in json.chunks(BYTES_A_LOOK) {
        if let Some(c) = part.iter().find(|c| !b" \t\r\n".contains(c)) {
            return Ok(Some(*c));
        }
        session.look()?;
    }
    Ok(None)
}

/// Whether the first key that a C1 or its wrapper has is one of the wrapper's. Reads no further than that.
fn is_wrapper(json: &[u8], session: &Session<'_>) -> Result<bool> {
    if first_character(json, session)? != Some(b'{') {
        return Ok(false);
    }
    let mut names = [""; WRAPPER_FIELDS.len() + C1_FIELDS.len()];
    let (wrapper, c1) = names.split_at_mut(WRAPPER_FIELDS.len());
    wrapper.copy_from_slice(&WRAPPER_FIELDS);
    c1.copy_from_slice(&C1_FIELDS);
    match Json::new(json, session).first_key(&Place::whole(INPUT), &names) {
        Ok(key) => Ok(key.is_some_and(|i| i < WRAPPER_FIELDS.len())),
        // What is wrong with it is said when it is read as a C1.
        Err(e) if e.code == Code::MalformedInput => Ok(false),
        Err(e) => Err(e),
    }
}

fn unescaped_base64(raw: &[u8], at: &Place<'_>, session: &Session<'_>) -> Result<Buf<u8>> {
    let mut room = session.buf(raw.len())?;
    match unescape(raw, &mut room, || session.look())? {
        Some(text) => base64(text, at, session),
        None => Err(session.fault(at, format_args!("has an escape that is no character"))),
    }
}

/// Decodes base64, piece by piece so that it can be cancelled.
fn base64(text: &[u8], at: &Place<'_>, session: &Session<'_>) -> Result<Buf<u8>> {
    const PIECE: usize = 4 * BYTES_A_LOOK;
    let mut bytes = session.buf(text.len().div_ceil(4) * 3)?;
    let mut len = 0;
    for (i, piece) in text.chunks(PIECE).enumerate() {
        session.look()?;
        let begin = i * PIECE;
        let fault = |what: &dyn std::fmt::Display| {
            session.fault(at, format_args!("is not base64 (in the {PIECE} bytes from byte {begin} on): {what}"))
        };
        let decoded = STANDARD.decode_slice(piece, &mut bytes[len..]).map_err(|e| fault(&e))?;
        len += decoded;
        // Only the last piece may be padded.
        if begin + PIECE < text.len() && decoded != PIECE / 4 * 3 {
            return Err(fault(&"padding before the end"));
        }
    }
    bytes.resize_zeroed(INPUT, len)?;
    Ok(bytes)
}
