//! Decoding of requests and the circuits they give.

mod circuits;
mod fixtures;
mod hostile;
mod hostile_others;
mod inspect;
mod large;
mod malformed;
mod mutated;
mod native;
mod others;
mod others_large;
mod others_malformed;
mod sizes;
mod well_formed;
