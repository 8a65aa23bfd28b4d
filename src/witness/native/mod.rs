//! Witnesses straight from vanilla proofs, without constraint systems: the same values in the same order as the official
//! circuits allocate, in a hundredth of the time.
//!
//! The circuits say in which order gadgets are called ([`porep`], [`post`], [`snap`]), the gadgets in which order each
//! allocates: SHA-256 ([`plan`], [`sha256`], [`digest`]) and Poseidon ([`poseidon`], [`lanes`]). SHA-256 is done in 32-bit
//! words, Poseidon in field elements, eight hashes at once on CPUs with AVX-512 IFMA ([`eight`]).
//!
//! Nothing here checks that a circuit is satisfied: a vanilla proof that is wrong gives the witness that the official
//! circuit would have given, which does not satisfy it. Where that circuit refuses its values, so do these makers.
//!
//! A maker is used only for circuits whose witnesses have been compared with the official ones, value by value
//! ([`is_exact`], `tests/proofs/native.rs`).

mod digest;
#[cfg(target_arch = "x86_64")]
mod eight;
mod lanes;
mod plan;
mod porep;
mod poseidon;
mod post;
mod sha256;
mod sink;
mod snap;
#[cfg(test)]
mod tests;

use blstrs::Scalar;

pub use sink::{Packing, Sink};

use crate::error::{Error, Result};
use crate::proofs::kind::{CircuitId, Kind};
use crate::proofs::{Content, Decoded};
use crate::telemetry::Control;

/// The circuits whose native witnesses are known to be the official ones.
const EXACT: &[(Kind, u64)] = &[
    (Kind::Porep, 2 << 10),
    (Kind::Porep, 8 << 20),
    (Kind::Porep, 512 << 20),
    (Kind::Porep, 32 << 30),
    (Kind::Porep, 64 << 30),
    (Kind::Snap, 2 << 10),
    (Kind::Snap, 8 << 20),
    (Kind::Snap, 512 << 20),
    (Kind::Snap, 32 << 30),
    (Kind::Snap, 64 << 30),
    (Kind::WindowPost, 2 << 10),
    (Kind::WindowPost, 8 << 20),
    (Kind::WindowPost, 512 << 20),
    (Kind::WindowPost, 32 << 30),
    (Kind::WindowPost, 64 << 30),
    (Kind::WinningPost, 2 << 10),
    (Kind::WinningPost, 8 << 20),
    (Kind::WinningPost, 512 << 20),
    (Kind::WinningPost, 32 << 30),
    (Kind::WinningPost, 64 << 30),
];

/// Whether a native witness of this circuit has been compared with the official one and was equal in every value.
pub fn is_exact(circuit: &CircuitId) -> bool {
    EXACT.contains(&(circuit.kind, circuit.sector_size))
}

/// Writes the witness of partition `k`: aux values in allocation order, and public inputs without the constant one. Runs on
/// the calling thread; reports challenges, or slots.
///
/// Errors: `CANCELLED`, `OUT_OF_MEMORY`, what the sink gives, and `UNSATISFIED` where the official circuit would refuse
/// the vanilla proof before it is synthesised.
pub fn write(decoded: &Decoded, k: usize, control: Control<'_>, sink: &mut impl Sink) -> Result<()> {
    match decoded.content() {
        Content::Porep(porep) => {
            let (statement, proofs) = porep.vanilla(k)?;
            porep::write(statement, proofs, control, sink)
        }
        Content::Snap(snap) => {
            let (statement, partition) = snap.vanilla(k)?;
            snap::write(statement, k, partition, control, sink)
        }
        Content::Post(post) => post::write(&post.vanilla(k)?, control, sink),
    }
}

/// The aux values of partition `k` of a PoSt, whose slots are written side by side on the rayon pool this is called in.
/// `aux` has as many places as there are. Gives the public inputs, without the constant one. Errors as for [`write`], and
/// `INTERNAL` where it is no PoSt or the places are too few or too many.
pub fn write_slots(decoded: &Decoded, k: usize, control: Control<'_>, aux: &mut [Scalar]) -> Result<Vec<Scalar>> {
    match decoded.content() {
        Content::Post(post) => post::write_into(&post.vanilla(k)?, control, aux),
        _ => Err(Error::internal("only a PoSt has slots")),
    }
}
