//! Jobs, the threads that work on them, and what callers hold of them.
//!
//! A [`Submission`] becomes a job and a [`Pending`]. The decode thread turns its bytes into [`Work`]; the lane thread
//! takes the most urgent decoded job, loads its parameters, and proves its partitions one after the other: synthesis,
//! [`Backend::start`](crate::groth16::Backend::start), [`finish`](crate::groth16::Backend::finish), self-check. Every
//! thread is joined by [`Engine::shutdown`].

mod core;
mod events;
mod filecoin;
mod job;
mod lane;
mod options;
mod self_test;
mod start;
mod threads;
mod work;

pub use core::{Engine, Stats};
pub use events::Event;
pub use filecoin::{params_path, work, FilecoinSource};
pub use job::{Pending, Priority, Progress, Stage, Submission};
pub use options::Options;
pub(crate) use threads::spawn;
pub use work::{ParamsRef, Source, Work};
