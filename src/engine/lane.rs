//! Lanes: partitions on a device; and the finisher, which makes proofs of what comes back.

use std::sync::Arc;
use std::time::Instant;

use blstrs::Scalar;

use super::core::{Pools, Shared};
use super::job::{Job, Stage};
use super::scheduler::Handed;
use crate::circuit::{CompiledCircuit, Partition};
use crate::error::{Code, Error, Result};
use crate::groth16::{self, Blinding, Started, PROOF_BYTES};
use crate::panics;
use crate::params::Params;
use crate::telemetry::{Control, Stage as BufferStage};

/// Parts of a partition's progress, in permille: where each stage begins.
pub(super) const DEVICE_FROM: u32 = 250;
const FINISH_FROM: u32 = 750;

/// A synthesised partition on its way to a lane, with all it needs.
pub(super) struct Parcel {
    pub(super) job: Arc<Job>,
    pub(super) partition: Partition,
    pub(super) inputs: Vec<Scalar>,
    pub(super) params: Arc<Params>,
}

/// A started partition on its way to the finisher.
pub(super) struct Finishing {
    job: Arc<Job>,
    k: usize,
    lane: usize,
    inputs: Vec<Scalar>,
    started: Started,
}

impl Shared {
    /// Starts the most urgent synthesised partition on lane `lane`, one after the other, until the engine stops.
    pub(super) fn lane_loop(&self, pools: &Pools, lane: usize) {
        let track = format!("lane {lane}");
        let mut idle = false;
        loop {
            let seen = self.handed.seen();
            let handed = {
                let mut state = self.lock();
                if state.stopping {
                    return;
                }
                let handed = state.scheduler.take();
                if handed.is_none() && !idle {
                    state.scheduler.lane_waits();
                }
                idle = handed.is_none();
                handed
            };
            let Some(Handed { partition: k, payload, ticket }) = handed else {
                self.handed.wait(seen, None);
                continue;
            };
            // A place among the ready is free.
            self.dispatch.notify();
            let (begun, clock) = (self.timeline.now(), Instant::now());
            let backend = self.lanes[lane].as_ref();
            let Parcel { job, mut partition, inputs, params } = payload;
            job.set_device(backend.device());
            job.moves(Some(Stage::Witness), Some(Stage::Device));
            partition.enter(BufferStage::Device);
            let started = panics::guard(|| {
                job.check()?;
                let progress = |permille: u32| {
                    job.report(k, DEVICE_FROM + (FINISH_FROM - DEVICE_FROM) * permille.min(1000) / 1000);
                };
                let control = Control { cancelled: &job.cancelled, progress: &progress };
                pools.cpu.run(|| backend.start(&params, partition, control))
            });
            drop(params);
            job.moves(Some(Stage::Device), Some(Stage::Finishing));
            self.timeline.span(&track, "device", begun, Some((ticket, k)));
            self.timeline.count(&self.accounts.buffers);
            match started {
                Ok(mut started) => {
                    self.durations.device.add(clock.elapsed().as_nanos() as u64);
                    started.enter(BufferStage::Finishing);
                    let finishing = Finishing { job, k, lane, inputs, started };
                    if backend.finishes_beside() {
                        self.lock().finishing.push_back(finishing);
                        self.finishes.notify();
                    } else {
                        self.finish(pools, finishing, &track);
                    }
                    self.lock().scheduler.pace().proved(clock.elapsed().as_secs_f64());
                }
                Err(e) => {
                    job.moves(Some(Stage::Finishing), None);
                    self.partition_over(&job, Some(e));
                }
            }
        }
    }

    /// Finishes what lanes have started, until the engine stops.
    pub(super) fn finish_loop(&self, pools: &Pools) {
        loop {
            let seen = self.finishes.seen();
            let next = {
                let mut state = self.lock();
                if state.stopping {
                    return;
                }
                state.finishing.pop_front()
            };
            match next {
                Some(finishing) => self.finish(pools, finishing, "finisher"),
                None => self.finishes.wait(seen, None),
            }
        }
    }

    /// The second half of a partition: the rest of the sums, the assembly, the self-check.
    fn finish(&self, pools: &Pools, finishing: Finishing, track: &str) {
        let Finishing { job, k, lane, inputs, started } = finishing;
        let (begun, clock) = (self.timeline.now(), Instant::now());
        let proof = panics::guard(|| {
            job.check()?;
            job.report(k, FINISH_FROM);
            let progress = |permille: u32| job.report(k, FINISH_FROM + (999 - FINISH_FROM) * permille.min(1000) / 1000);
            let control = Control { cancelled: &job.cancelled, progress: &progress };
            let blinding = Blinding::random()?;
            let params = started.params.clone();
            pools.cpu.run(|| {
                let proof = self.lanes[lane].finish(started, &blinding, control)?;
                let mut bytes = Vec::with_capacity(PROOF_BYTES);
                proof.write(&mut bytes).map_err(|e| Error::internal(format!("a proof cannot be written: {e}")))?;
                if self.options.self_check {
                    groth16::verify(&params.vk, &bytes, &inputs).map_err(|e| {
                        let text = format!("partition {k}'s finished proof does not verify: {}", e.message);
                        Error::new(Code::SelfCheck, "proof", text)
                    })?;
                }
                Ok::<_, Error>(bytes)
            })
        });
        self.timeline.span(track, "finish", begun, Some((job.ticket, k)));
        self.timeline.count(&self.accounts.buffers);
        let failed = match proof {
            Ok(bytes) => {
                self.durations.finishing.add(clock.elapsed().as_nanos() as u64);
                job.partition_done(k, &bytes);
                None
            }
            Err(e) => Some(e),
        };
        // The last partition's job ends from here: it is Done rather than queued in between.
        if failed.is_none() && job.partitions_left() == 0 {
            self.partition_over(&job, None);
            job.moves(Some(Stage::Finishing), None);
        } else {
            job.moves(Some(Stage::Finishing), None);
            self.partition_over(&job, failed);
        }
    }
}

/// Whether the parameters are of the circuit.
pub(super) fn fits(params: &Params, circuit: &CompiledCircuit) -> Result<()> {
    let (shape, densities) = (circuit.shape(), circuit.densities());
    let b = densities.b_inputs.count() + densities.b_aux.count();
    let checks = [
        ("h", params.h.len() + 1, 1 << shape.log_domain()),
        ("ic", params.vk.ic.len(), shape.inputs),
        ("l", params.l.len(), shape.aux),
        ("a", params.a.len(), shape.inputs + densities.a_aux.count()),
        ("b_g1", params.b_g1.len(), b),
        ("b_g2", params.b_g2.len(), b),
    ];
    for (section, have, want) in checks {
        if have != want {
            return Err(Error::new(
                Code::ParamsCorrupt,
                section,
                format!(
                    "{} is not of this circuit: section {section} stands for {have} values, the circuit has {want}",
                    params.path.display()
                ),
            ));
        }
    }
    Ok(())
}
