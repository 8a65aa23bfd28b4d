//! The pipeline with tiny circuits: memory stays bounded, everything that was counted comes back, the urgent go first.
//! Tests named t2 to t10 are what users of other provers suffered from.

mod budget;
#[path = "../common/mod.rs"]
mod common;
mod ends;
mod files;
mod order;
mod replaced;
mod resident;
mod support;
