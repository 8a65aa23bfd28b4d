//! Filecoin's proof kinds: decode a request, build its partition circuits one at a time, and their public inputs.
//!
//! Nothing here reads environment variables, settings files or the working directory.

mod binary;
mod c1;
pub(crate) mod check;
mod inspect;
mod json;
pub mod kind;
mod nest;
mod pieces;
mod place;
pub mod porep;
pub(crate) mod post;
pub mod public_json;
mod reader;
pub mod registered;
pub mod request;
mod session;
mod shape;
pub(crate) mod snap;
mod trees;
pub(crate) mod vanilla;

use bellpepper_core::Circuit;
use blstrs::Scalar;

pub use inspect::{inspect, Format, Inspected};
pub use kind::{CircuitId, Kind};
pub use public_json::{public_from_json, request_from_json};
pub(crate) use request::Content;
pub use request::{decode, Decoded, Public, Request, Sector};

/// Takes a circuit of whatever type it is. Circuits of different kinds and sector sizes have different types, and
/// synthesis is generic over the constraint system, so neither can stand behind a trait object.
pub trait CircuitVisitor: Sized {
    /// What the visit gives.
    type Output;

    /// Called once, with the circuit.
    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Self::Output;

    /// Called once instead where the circuit is one circuit many times over: `slots` takes it apart into those, in order,
    /// which share no variable but the constant one.
    fn visit_slots<W, C>(self, circuit: W, slots: impl FnOnce(W) -> Vec<C>) -> Self::Output
    where
        W: Circuit<Scalar> + Send,
        C: Send + Sync,
        for<'a> &'a C: Circuit<Scalar>,
    {
        let _ = slots;
        self.visit(circuit)
    }
}
