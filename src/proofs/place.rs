//! Where in an input an error is.

use serde_path_to_error::{Path, Segment};

use super::vanilla::Schema;
use crate::error::Error;

/// The C surface has room for 64 bytes of field, the last one zero.
const FIELD_BYTES: usize = 63;

/// An error at a place: `vanilla_proofs[0][3].comm_d_proofs.path[2].hashes[0]`.
pub(crate) fn placed(path: &Path, schema: Option<&Schema>, whole: &'static str, message: &str) -> Error {
    let mut place = Place::default();
    let mut schema = schema.unwrap_or(&Schema::Leaf);
    let mut byte = None;
    for segment in path {
        match (segment, schema) {
            (Segment::Seq { index }, Schema::Struct(fields)) => {
                let Some((name, below)) = fields.get(*index) else { break };
                place.name(name);
                schema = below;
            }
            (Segment::Map { key }, Schema::Struct(fields)) => {
                place.name(key);
                schema = fields.iter().find(|(name, _)| name == key).map_or(&Schema::Leaf, |(_, below)| below);
            }
            (Segment::Seq { index }, Schema::Seq(below)) => {
                place.index(*index);
                schema = below;
            }
            // A variant's name says nothing that the place needs; in bincode it is a number.
            (Segment::Enum { variant }, Schema::Enum(variants)) => {
                let named = variants.iter().find(|(name, _)| name == variant);
                let numbered = || variant.parse().ok().and_then(|i: usize| variants.get(i));
                schema = named.or_else(numbered).map_or(&Schema::Leaf, |(_, below)| below);
            }
            (Segment::Map { key }, Schema::Leaf) => place.name(key),
            (Segment::Seq { index }, Schema::Leaf) => byte = byte.or(Some(*index)),
            _ => break,
        }
    }
    // serde says which field is missing or there twice, and nothing else does.
    for what in ["missing field `", "duplicate field `"] {
        if let Some((name, _)) = message.strip_prefix(what).and_then(|rest| rest.split_once('`')) {
            place.name(name);
        }
    }
    let at = byte.map(|i| format!("byte {i}: ")).unwrap_or_default();
    if place.0.is_empty() {
        return Error::malformed(whole, message);
    }
    place.error(format!("{at}{message}"))
}

/// A place in a C1, written as in `vanilla_proofs[0][3].comm_d_proofs.path[2].hashes[0]`: without the names of variants
/// and without `data` and the second `path` that stand in every Merkle proof.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place(String);

impl Place {
    /// The place of this name.
    pub fn of(name: &str) -> Self {
        Place(name.to_owned())
    }

    fn name(&mut self, name: &str) {
        let in_path = ["path", "base_proof", "sub_proof", "top_proof"].iter().any(|p| self.0.ends_with(p));
        if name == "data" || (name == "path" && in_path) {
            return;
        }
        if !self.0.is_empty() {
            self.0.push('.');
        }
        self.0.push_str(name);
    }

    fn index(&mut self, index: usize) {
        self.0.push_str(&format!("[{index}]"));
    }

    /// A field of this place.
    pub fn field(&self, name: &str) -> Self {
        let mut place = self.clone();
        place.name(name);
        place
    }

    /// An item of this place.
    pub fn item(&self, index: usize) -> Self {
        let mut place = self.clone();
        place.index(index);
        place
    }

    /// `MALFORMED_INPUT` here. A place too long for the C surface loses its middle, and the message has all of it.
    pub fn error(self, message: impl Into<String>) -> Error {
        let Place(place) = self;
        let message = message.into();
        if place.len() <= FIELD_BYTES {
            return Error::malformed(place, message);
        }
        const HEAD: usize = 22; // vanilla_proofs[99][17]
        let boundary = |mut i: usize| {
            while !place.is_char_boundary(i) {
                i += 1; // ends at the latest at the end, which is one
            }
            i
        };
        let head = &place[..boundary(HEAD)];
        // A character has up to four bytes, so the head at most three more than HEAD.
        let tail = &place[boundary(place.len() - (FIELD_BYTES - HEAD - 5))..];
        let field = format!("{head}..{tail}");
        Error::malformed(field, format!("{place}: {message}"))
    }
}
