//! Decoding of requests and the circuits they give.

mod circuits;
mod fixtures;
mod hostile;
mod large;
mod malformed;
mod mutated;
mod native;
mod others;
mod others_large;
mod others_malformed;
mod well_formed;
