//! Decoding of requests and the circuits they give.

mod circuits;
mod fixtures;
mod well_formed;
