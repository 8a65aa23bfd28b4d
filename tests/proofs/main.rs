//! Decoding of requests and the circuits they give.

mod circuits;
mod fixtures;
mod large;
mod malformed;
mod mutated;
mod well_formed;
