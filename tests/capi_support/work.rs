//! Jobs that do what a test wants, behind the C surface's handles.
#![allow(dead_code)]

use std::any::Any;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use blstrs::{G1Affine, G2Affine, Scalar};
use group::prime::PrimeCurveAffine;
use splitprove::capi::{hooks, pending_proof, prover};
use splitprove::circuit::{CompiledCircuit, Partition};
use splitprove::engine::{ParamsRef, Priority, Source, Submission, Work};
use splitprove::error::{Error, Result};
use splitprove::memory::{Buf, Room};
use splitprove::params::{Params, VerifyingKey};

/// Holds jobs back until opened.
#[derive(Clone, Default)]
pub struct Gate(Arc<(Mutex<(bool, usize)>, Condvar)>);

impl Gate {
    pub fn open(&self) {
        self.0 .0.lock().unwrap().0 = true;
        self.0 .1.notify_all();
    }

    /// Waits until `n` jobs have come.
    pub fn reached(&self, n: usize) {
        let mut state = self.0 .0.lock().unwrap();
        while state.1 < n {
            state = self.0 .1.wait(state).unwrap();
        }
    }

    fn pass(&self) {
        let mut state = self.0 .0.lock().unwrap();
        state.1 += 1;
        self.0 .1.notify_all();
        while !state.0 {
            state = self.0 .1.wait(state).unwrap();
        }
    }
}

/// How a job ends once its gate is open.
pub enum End {
    /// A proof of no partitions, so without bytes.
    Empty,
    Fails(Error),
    /// In decoding, with this payload.
    Panics(Box<dyn Any + Send>),
    /// Later, on the lane.
    PanicsOnTheLane(&'static str),
}

struct Job {
    gate: Option<Gate>,
    end: Mutex<Option<End>>,
}

impl Source for Job {
    fn bytes(&self) -> usize {
        0
    }

    fn decode(&self, _: &AtomicBool) -> Result<Box<dyn Work>> {
        if let Some(gate) = &self.gate {
            gate.pass();
        }
        match self.end.lock().unwrap().take().unwrap() {
            End::Empty => Ok(Box::new(Nothing(None))),
            End::Fails(e) => Err(e),
            // Unlike `panic_any`, this unwinds with the payload itself, not a box of it.
            End::Panics(payload) => std::panic::resume_unwind(payload),
            End::PanicsOnTheLane(text) => Ok(Box::new(Nothing(Some(text)))),
        }
    }
}

/// No partitions.
struct Nothing(Option<&'static str>);

impl Work for Nothing {
    fn bytes(&self) -> usize {
        0
    }

    fn partitions(&self) -> usize {
        0
    }

    fn params(&self) -> ParamsRef {
        if let Some(text) = self.0 {
            panic!("{text}");
        }
        ParamsRef::Loaded(Arc::new(no_params()))
    }

    fn public_inputs(&self, _: usize) -> Result<Vec<Scalar>> {
        Err(Error::internal("there is no partition"))
    }

    fn assign(&self, _: usize, _: &Arc<CompiledCircuit>, _: Room, _: &AtomicBool) -> Result<Partition> {
        Err(Error::internal("there is no partition"))
    }
}

fn no_params() -> Params {
    let (g1, g2) = (G1Affine::identity(), G2Affine::identity());
    Params {
        vk: VerifyingKey {
            alpha_g1: g1,
            beta_g1: g1,
            beta_g2: g2,
            gamma_g2: g2,
            delta_g1: g1,
            delta_g2: g2,
            ic: vec![g1],
        },
        h: Buf::new(),
        l: Buf::new(),
        a: Buf::new(),
        b_g1: Buf::new(),
        b_g2: Buf::new(),
        path: PathBuf::new(),
    }
}

fn submission(gate: Option<&Gate>, end: End) -> Submission {
    Submission {
        source: Box::new(Job { gate: gate.cloned(), end: Mutex::new(Some(end)) }),
        priority: Priority::Normal,
        deadline: None,
        tag: 0,
        key: 0,
        request_id: String::new(),
        fingerprint: 0,
    }
}

/// Starts a job that waits at the gate.
pub fn held(p: prover, gate: &Gate, end: End) -> pending_proof {
    hooks::start(p, submission(Some(gate), end)).unwrap()
}

/// Starts a job that runs through.
pub fn free(p: prover, end: End, tag: u64) -> Result<pending_proof> {
    hooks::start(p, Submission { tag, ..submission(None, end) })
}

/// Starts a held job with a deadline.
pub fn held_until(p: prover, gate: &Gate, deadline: Duration) -> pending_proof {
    hooks::start(p, Submission { deadline: Some(deadline), ..submission(Some(gate), End::Empty) }).unwrap()
}
