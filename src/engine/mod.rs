//! Jobs, the threads that work on them, and what callers hold of them.
//!
//! A [`Submission`] becomes a job and a [`Pending`]. The decode thread turns its bytes into [`Work`] and a demand on the
//! scheduler. The dispatcher gives budget to what goes next: parameters, which the loader reads, and partitions, which
//! synthesis threads make, lanes [`start`](crate::groth16::Backend::start) and lane or finisher
//! [`finish`](crate::groth16::Backend::finish). Every thread is joined by [`Engine::shutdown`]. `README.md` beside this file
//! has the states and the scenarios.

mod core;
mod decode;
mod dispatch;
mod door;
mod events;
mod filecoin;
mod job;
mod lane;
mod metrics;
mod options;
mod pace;
mod resident;
mod scheduler;
mod self_test;
mod start;
mod threads;
mod work;

pub use core::{Engine, Stats};
pub use door::{Holding, RequestPlace, REQUEST_PART};
pub use events::Event;
pub use filecoin::{compare_circuit, compiled_circuit, params_path, record_circuit, work, FilecoinSource, Places};
pub use job::{Pending, Priority, Progress, Stage, Submission};
pub use options::Options;
pub use pace::Pace;
pub use resident::HeldParams;
pub use scheduler::{Demand, Handed, Params as ParamsState, Scheduler, Task, Ticket, Turn};
pub(crate) use threads::spawn;
pub use work::{ParamsRef, Source, Work};
