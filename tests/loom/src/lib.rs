//! The pipeline's concurrency under a model checker.
//!
//! The modules below are the library's own files, compiled over [`sync`], which gives them [loom](https://docs.rs/loom)'s
//! mutexes, condition variables and atomics: a model then runs a scenario in every order its threads can take, within a
//! bound on preemptions that each scenario names. What the library has for [`circuit`], [`params`] and `memory::plain` is
//! replaced by the little of it that those files need.
//!
//! The scenarios are described in `src/engine/README.md`. [`mutants`] has the same tree again, each time with one thing
//! broken, to show that the scenario would notice.

pub mod circuit;
pub mod engine;
#[path = "../../../src/error.rs"]
pub mod error;
pub mod memory;
pub mod params;
pub mod scenarios;
pub mod sync;
pub mod telemetry;

// `build.rs` reads this file to here.
pub mod mutants {
    //! The tree above, broken in one place each: see `mutations.txt`.
    include!(concat!(env!("OUT_DIR"), "/mutants.rs"));
}
