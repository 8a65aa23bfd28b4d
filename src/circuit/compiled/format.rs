//! A compiled circuit as bytes.
//!
//! ```text
//! magic "SPLITPCC", version          8 + 4 bytes
//! circuit, crates                    each 2 bytes of length, then text
//! sizes                              constraints, inputs, aux, wide, coefficients, terms, templates, symbols, chunks,
//!                                    rows of chunks, length of the sequence: 8 bytes each
//! coefficients                       32 bytes each, canonical, little-endian
//! templates                          three numbers of terms, then the terms: coefficient and whether it is a run,
//!                                    the run's length, the place as a difference from the term before
//! symbols                            template as a difference, aux, inputs
//! chunks                             number of rows, then symbols as differences
//! sequence                           see `repeat.rs`
//! BLAKE2b-256 of all that            32 bytes
//! ```
//!
//! All but the fixed-size numbers are written seven bits a byte. The digest tells damage from staleness; it does not make a
//! file trusted: [`decode`] and [`check`](super::check) look at every number before it is used.

use blake2b_simd::Params;
use blstrs::Scalar;
use ff::Field;

use super::bytes::{corrupt, Reader, Writer};
use super::code::{Code, Place, Symbol, Template, Term, CHUNK_ROWS};
use super::identity::Identity;
use super::intern::{push, room_for};
use super::repeat;
use crate::circuit::Shape;
use crate::error::{Error, Result};

const MAGIC: &[u8; 8] = b"SPLITPCC";

/// Of the layout and of what the recorder makes of a circuit.
pub(super) const VERSION: u32 = 1;

const DIGEST_BYTES: usize = 32;

/// Why a file cannot be used.
#[derive(Debug)]
pub enum Unusable {
    /// It was written by another version, or of other circuits.
    Stale(Error),
    /// It is not what was written.
    Damaged(Error),
}

impl Unusable {
    /// The error, which names the field.
    pub fn into_error(self) -> Error {
        match self {
            Unusable::Stale(e) | Unusable::Damaged(e) => e,
        }
    }
}

impl From<Error> for Unusable {
    fn from(e: Error) -> Self {
        Unusable::Damaged(e)
    }
}

fn digest(bytes: &[u8]) -> [u8; DIGEST_BYTES] {
    let hash = Params::new().hash_length(DIGEST_BYTES).hash(bytes);
    let mut digest = [0; DIGEST_BYTES];
    digest.copy_from_slice(hash.as_bytes());
    digest
}

/// The bytes of a circuit.
pub(super) fn encode(code: &Code, identity: &Identity) -> Result<Vec<u8>> {
    let mut out = Writer::default();
    out.bytes(MAGIC)?;
    out.bytes(&VERSION.to_le_bytes())?;
    for text in [&identity.circuit, &identity.crates] {
        let len = u16::try_from(text.len()).map_err(|_| Error::argument("circuit", "the name is too long"))?;
        out.bytes(&len.to_le_bytes())?;
        out.bytes(text.as_bytes())?;
    }
    let Shape { constraints, inputs, aux } = code.shape;
    let sizes = [
        constraints,
        inputs,
        aux,
        code.wide,
        code.coefficients.len(),
        code.terms.len(),
        code.templates.len(),
        code.symbols.len(),
        code.chunks(),
        code.chunk_rows.len(),
        code.sequence.len(),
    ];
    for size in sizes {
        out.bytes(&(size as u64).to_le_bytes())?;
    }
    for coefficient in &code.coefficients {
        out.bytes(&coefficient.to_bytes_le())?;
    }
    for template in 0..code.templates.len() as u32 {
        write_template(&mut out, code.template(template))?;
    }
    let mut before = 0;
    for symbol in &code.symbols {
        out.signed(i64::from(symbol.template) - before)?;
        before = i64::from(symbol.template);
        out.varint(symbol.aux.into())?;
        out.varint(symbol.inputs.into())?;
    }
    let mut next = 0;
    for chunk in 0..code.chunks() as u32 {
        let rows = code.chunk(chunk);
        out.varint(rows.len() as u64)?;
        for symbol in rows {
            out.signed(i64::from(*symbol) - next)?;
            next = i64::from(*symbol) + 1;
        }
    }
    repeat::write(&mut out, &code.sequence)?;
    let digest = digest(out.as_bytes());
    out.bytes(&digest)?;
    Ok(out.into_bytes())
}

fn write_template(out: &mut Writer, terms: [&[Term]; 3]) -> Result<()> {
    for terms in terms {
        out.varint(terms.len() as u64)?;
    }
    let mut before = 0;
    for term in terms.into_iter().flatten() {
        out.varint(u64::from(term.coefficient) << 1 | u64::from(term.run > 1))?;
        if term.run > 1 {
            out.varint(term.run.into())?;
        }
        let number = i64::from(term.place.number());
        let difference = number - before;
        before = number;
        let zigzag = (difference << 1 ^ difference >> 63) as u64;
        out.varint(zigzag << 2 | u64::from(term.place.0 >> 30))?;
    }
    Ok(())
}

/// A circuit from its bytes. What it says of variables is not looked at yet.
pub(super) fn decode(bytes: &[u8], identity: &Identity) -> Result<Code, Unusable> {
    let mut reader = Reader::new(bytes, "circuit.magic");
    if reader.bytes(MAGIC.len())? != MAGIC {
        return Err(reader.wrong("no compiled circuit starts like this").into());
    }
    reader.enter("circuit.version");
    let version = reader.u32()?;
    if version != VERSION {
        return Err(Unusable::Stale(reader.wrong(&format!("version {version}, this library writes {VERSION}"))));
    }
    reader.enter("circuit.digest");
    let Some(content) = bytes.len().checked_sub(DIGEST_BYTES).filter(|n| *n >= MAGIC.len() + 4) else {
        return Err(reader.wrong("the file ends in it").into());
    };
    if digest(&bytes[..content]) != bytes[content..] {
        return Err(reader.wrong("the content is not what was written").into());
    }
    let mut reader = Reader::new(&bytes[MAGIC.len() + 4..content], "circuit.identity");
    for (name, expected) in [("circuit", &identity.circuit), ("crates", &identity.crates)] {
        let len = u16::from_le_bytes(reader.array()?);
        let text = reader.bytes(len.into())?;
        if text != expected.as_bytes() {
            let text = String::from_utf8_lossy(text);
            return Err(Unusable::Stale(reader.wrong(&format!("{name} {text:?}, expected {expected:?}"))));
        }
    }
    Ok(decode_content(reader)?)
}

fn decode_content(mut reader: Reader<'_>) -> Result<Code> {
    reader.enter("circuit.sizes");
    let mut sizes = [0usize; 11];
    for size in &mut sizes {
        // Variables and rows are numbered in 30 bits, so that no sum of them overflows.
        let n = reader.u64()?;
        *size = usize::try_from(n)
            .ok()
            .filter(|n| *n <= Place::LIMIT as usize)
            .ok_or_else(|| reader.wrong(&format!("{n} is more than any circuit has")))?;
    }
    let [constraints, inputs, aux, wide, coefficients, terms, templates, symbols, chunks, chunk_rows, sequence] = sizes;
    let left = reader.left();
    if inputs == 0 || inputs > constraints || wide > aux || coefficients > 1 << 16 {
        return Err(reader.wrong("they contradict each other"));
    }
    // The least bytes that each takes: nothing is allocated for what is not there.
    let least = 32 * coefficients + 2 * terms + 3 * templates + 3 * symbols + chunks + chunk_rows;
    let longest = (constraints - inputs) / CHUNK_ROWS[0] + 1;
    if least > left || sequence > longest {
        return Err(reader.wrong("they are more than the file holds"));
    }
    let mut code = Code {
        shape: Shape { constraints, inputs, aux },
        wide,
        coefficients: room_for(coefficients)?,
        terms: room_for(terms)?,
        templates: room_for(templates)?,
        symbols: room_for(symbols)?,
        chunk_rows: room_for(chunk_rows)?,
        chunk_ends: room_for(chunks + 1)?,
        sequence: Vec::new(),
    };

    reader.enter("circuit.coefficients");
    for _ in 0..coefficients {
        let scalar = Option::<Scalar>::from(Scalar::from_bytes_le(&reader.array()?));
        let scalar = scalar.filter(|s| !s.is_zero_vartime());
        push(&mut code.coefficients, scalar.ok_or_else(|| reader.wrong("zero or no field element"))?)?;
    }

    reader.enter("circuit.templates");
    for _ in 0..templates {
        read_template(&mut reader, &mut code, terms)?;
    }
    if code.terms.len() != terms {
        return Err(reader.wrong("fewer terms than the sizes say"));
    }

    reader.enter("circuit.symbols");
    let mut before = 0i64;
    for _ in 0..symbols {
        let template = reader.signed()?.checked_add(before).filter(|t| (0..templates as i64).contains(t));
        before = template.ok_or_else(|| reader.wrong("a template that is not there"))?;
        push(&mut code.symbols, Symbol { template: before as u32, aux: reader.small()?, inputs: reader.small()? })?;
    }

    reader.enter("circuit.chunks");
    push(&mut code.chunk_ends, 0)?;
    let mut next = 0i64;
    for _ in 0..chunks {
        let rows = reader.count(CHUNK_ROWS[1].min(chunk_rows - code.chunk_rows.len()))?;
        if rows == 0 {
            return Err(reader.wrong("a chunk without rows"));
        }
        for _ in 0..rows {
            let symbol = reader.signed()?.checked_add(next).filter(|s| (0..symbols as i64).contains(s));
            let symbol = symbol.ok_or_else(|| reader.wrong("a symbol that is not there"))?;
            push(&mut code.chunk_rows, symbol as u32)?;
            next = symbol + 1;
        }
        push(&mut code.chunk_ends, code.chunk_rows.len() as u32)?;
    }
    if code.chunk_rows.len() != chunk_rows {
        return Err(reader.wrong("fewer rows than the sizes say"));
    }

    reader.enter("circuit.sequence");
    code.sequence = repeat::read(&mut reader, sequence)?;
    reader.end()?;
    Ok(code)
}

fn read_template(reader: &mut Reader<'_>, code: &mut Code, most: usize) -> Result<()> {
    let mut ends = [code.terms.len() as u32; 4];
    for m in 0..3 {
        let left = most - ends[m] as usize;
        ends[m + 1] = ends[m] + reader.count(left)? as u32;
    }
    let mut before = 0i64;
    for _ in ends[0]..ends[3] {
        let n = reader.varint()?;
        let coefficient = u16::try_from(n >> 1).map_err(|_| reader.wrong("a coefficient that is not there"))?;
        let run = if n & 1 == 1 { reader.varint()? } else { 1 };
        let run = u8::try_from(run).map_err(|_| reader.wrong("a run that is too long"))?;
        let n = reader.varint()?;
        let zigzag = n >> 2;
        let difference = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
        let number = before.checked_add(difference).filter(|n| (0..i64::from(Place::LIMIT)).contains(n));
        before = number.ok_or_else(|| reader.wrong("a place out of range"))?;
        push(&mut code.terms, Term { place: Place((n as u32 & 3) << 30 | before as u32), coefficient, run })?;
    }
    push(&mut code.templates, Template(ends))
}

/// Makes the digest of changed bytes right again.
#[cfg(any(test, feature = "test-hooks"))]
pub(super) fn reseal(bytes: &mut [u8]) {
    let content = bytes.len().saturating_sub(DIGEST_BYTES);
    let sealed = digest(&bytes[..content]);
    let end = bytes.len() - content;
    bytes[content..].copy_from_slice(&sealed[..end]);
}

/// A file that could not be read.
pub(super) fn unreadable(message: impl Into<String>) -> Unusable {
    Unusable::Damaged(corrupt("circuit.file", message))
}
