//! Where in an input an error is.

use std::fmt;

use serde_path_to_error::{Path, Segment};

use super::session::capped;
use crate::error::Error;

/// The C surface has room for 64 bytes of field, the last one zero.
const FIELD_BYTES: usize = 63;

/// The error of a value that serde read, at its place; `whole` where it has none.
pub(crate) fn placed(path: &Path, whole: &'static str, message: &str) -> Error {
    let mut place = Written::default();
    for segment in path {
        match segment {
            Segment::Map { key } => place.name(key),
            Segment::Seq { index } => place.index(*index),
            _ => break,
        }
    }
    // serde says which field is missing or there twice, and nothing else does.
    for what in ["missing field `", "duplicate field `"] {
        if let Some((name, _)) = message.strip_prefix(what).and_then(|rest| rest.split_once('`')) {
            place.name(name);
        }
    }
    if place.0.is_empty() {
        place.0.push_str(whole);
    }
    place.error(message)
}

/// A place, written as in `vanilla_proofs[0][3].comm_d_proofs.path[2].hashes[0]`: without the names of variants and
/// without `data` and the second `path` that stand in every Merkle proof.
#[derive(Default)]
struct Written(String);

impl Written {
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

    /// `MALFORMED_INPUT` here. A place too long for the C surface loses its middle, and the message has all of it.
    fn error(self, message: impl fmt::Display) -> Error {
        let Written(place) = self;
        if place.len() <= FIELD_BYTES {
            return Error::malformed(place, capped(format_args!("{message}")));
        }
        Error::malformed(shortened(&place), capped(format_args!("{place}: {message}")))
    }
}

/// A place below another. Nothing is written until there is an error to write it for.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    above: Option<&'a Place<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    /// All of it: named only when nothing below is.
    Whole(&'static str),
    Field(&'a str),
    Item(usize),
}

impl Place<'_> {
    /// The place of this name.
    pub fn of(name: &'static str) -> Self {
        Place { above: None, step: Step::Field(name) }
    }

    /// The whole, whose fields' places do not begin with its name.
    pub const fn whole(name: &'static str) -> Self {
        Place { above: None, step: Step::Whole(name) }
    }

    /// A field of this place.
    pub fn field<'b>(&'b self, name: &'b str) -> Place<'b> {
        Place { above: Some(self), step: Step::Field(name) }
    }

    /// An item of this place.
    pub fn item(&self, index: usize) -> Place<'_> {
        Place { above: Some(self), step: Step::Item(index) }
    }

    /// `MALFORMED_INPUT` here.
    pub fn error(&self, message: impl fmt::Display) -> Error {
        let mut written = self.written();
        if written.0.is_empty() {
            // The whole itself, or a field of it whose name, the input's own, says nothing.
            written.0.push_str(self.root());
        }
        written.error(message)
    }

    /// The name of the place that is below no other.
    fn root(&self) -> &str {
        match (self.above, self.step) {
            (Some(above), _) => above.root(),
            (None, Step::Whole(name) | Step::Field(name)) => name,
            (None, Step::Item(_)) => "",
        }
    }

    fn written(&self) -> Written {
        let mut written = self.above.map(Place::written).unwrap_or_default();
        match self.step {
            Step::Whole(_) => {}
            Step::Field(name) => written.name(name),
            Step::Item(index) => written.index(index),
        }
        written
    }
}

/// The first part of a place and as many of its last as there is room for.
fn shortened(place: &str) -> String {
    const HEAD: usize = 24; // vanilla_proofs[125][17]
    let floor = |mut i: usize| {
        while !place.is_char_boundary(i) {
            i -= 1; // 0 is one
        }
        i
    };
    let head = &place[..floor(place.find('.').unwrap_or(HEAD).min(HEAD))];
    let room = FIELD_BYTES - head.len() - "..".len();
    // The first dot with no more than `room` after it; what follows a dot begins a character.
    let tail = place.match_indices('.').map(|(i, _)| &place[i + 1..]).find(|tail| tail.len() <= room);
    format!("{head}..{}", tail.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_cut_where_a_name_ends() {
        let proofs = Place::of("vanilla_proofs");
        let (partition, columns) = (proofs.item(125), "replica_column_proofs");
        let proof = partition.item(17);
        let opening = proof.field(columns);
        let opening = opening.field("drg_parents");
        let opening = opening.item(5);
        let error =
            opening.field("inclusion_proof").field("base_proof").field("path").item(3).field("hashes").error("has 6");
        assert_eq!(error.field, "vanilla_proofs[125][17]..inclusion_proof.base_proof[3].hashes");
        assert_eq!(
            error.message,
            "vanilla_proofs[125][17].replica_column_proofs.drg_parents[5].inclusion_proof.base_proof[3].hashes: has 6"
        );
        assert_eq!(Place::of("a").field("b").item(2).error("c").field, "a.b[2]");
        let whole = Place::whole("vanilla");
        assert_eq!(whole.error("d").field, "vanilla");
        assert_eq!(whole.field("e").error("f").field, "e");
        for name in ["", "data"] {
            assert_eq!(whole.field(name).error("g").field, "vanilla");
        }
        for odd in ["é".repeat(50), "x".repeat(200), format!("{}.{}", "ü".repeat(20), "ä".repeat(40)), ".".repeat(99)]
        {
            assert!(Written(odd).error("").field.len() <= FIELD_BYTES);
        }
    }
}
