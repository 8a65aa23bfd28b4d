//! The decode thread: bytes become work, and work becomes the scheduler's demand.

use std::sync::Arc;
use std::time::Instant;

use super::core::{Active, Pools, Shared};
use super::job::{Job, Priority};
use super::scheduler::{Demand, Params};
use super::threads::Pool;
use super::work::{ParamsRef, Work};
use crate::circuit::{CompiledCircuit, Shape};
use crate::error::{Code, Error, Result};
use crate::memory::Held;
use crate::panics;
use crate::params;
use crate::sync::lock;

/// What decoding found out.
struct Decoded {
    work: Held<Box<dyn Work>>,
    params: ParamsRef,
    /// Bytes of the parameters, and their circuit's shape.
    size: (u64, Shape),
}

impl Shared {
    /// Decodes what arrives, the most urgent first, until the engine stops. `urgent`: critical jobs, which so wait
    /// behind nobody's input; else all others. One thread for each keeps equals in the order of their arrival.
    pub(super) fn decode_loop(&self, pools: &Pools, urgent: bool) {
        loop {
            let seen = self.arrivals.seen();
            let job = {
                let mut state = self.lock();
                if state.stopping {
                    return;
                }
                let waiting = state.arrived.iter().enumerate();
                let mine = waiting.filter(|(_, j)| (j.priority() == Priority::Critical) == urgent);
                let first = mine.max_by_key(|(i, j)| (j.priority(), std::cmp::Reverse(*i)));
                let job = first.map(|(i, _)| i).and_then(|i| state.arrived.remove(i));
                state.decoding.extend(job.clone());
                job
            };
            let Some(job) = job else {
                self.arrivals.wait(seen, None);
                continue;
            };
            let begun = self.timeline.now();
            let pool = if urgent { &pools.urgent } else { &pools.decode };
            let decoded = panics::guard(|| self.decode(pool, &job));
            self.timeline.span("decode", "decode", begun, Some((job.ticket, 0)));
            let outcome = match decoded {
                Ok(decoded) => self.admit(&job, decoded),
                Err(e) => Err(e),
            };
            let ended = match outcome {
                Ok(true) => None,
                // Nothing to prove.
                Ok(false) => Some(job.check().map(|()| Arc::from([]))),
                Err(e) => Some(Err(job.stop_error().unwrap_or(e))),
            };
            {
                let mut state = self.lock();
                state.decoding.retain(|j| !Arc::ptr_eq(j, &job));
                state.ending += usize::from(ended.is_some());
            }
            match ended {
                None => self.dispatch.notify(),
                Some(outcome) => self.end(&job, outcome),
            }
        }
    }

    fn decode(&self, pool: &Pool, job: &Job) -> Result<Decoded> {
        // The dispatcher watches deadlines, but may not have seen this one.
        let (events, _) = job.expire(Instant::now());
        for event in events {
            self.tell(job, event);
        }
        job.check()?;
        let source = lock(&job.source).take().ok_or_else(|| Error::internal("a job without its input"))?;
        let charge = lock(&job.decoded).take();
        let mut charge = charge.ok_or_else(|| Error::internal("a job without room for its input"))?;
        let work = pool.run(|| source.decode(&job.cancelled))?;
        charge.shrink_to(work.bytes() as u64);
        let work = Held::new(work, charge);
        // Only now: a request that is counted nowhere for a moment would let another one in beside it.
        drop(source);
        let params = work.params();
        let size = match &params {
            ParamsRef::Loaded(params) => (0, params.shape()),
            ParamsRef::File(path) => {
                let held = self.lock().resident.held(path);
                match held {
                    Some(size) => size,
                    None => {
                        let layout = params::read_layout(path)?;
                        (layout.memory_bytes(), layout.shape())
                    }
                }
            }
        };
        Ok(Decoded { work, params, size })
    }

    /// Hands a decoded job to the scheduler; false when it has no partitions. `TOO_LARGE` when the budget can never hold
    /// what it needs.
    fn admit(&self, job: &Arc<Job>, decoded: Decoded) -> Result<bool> {
        let Decoded { work, params, size: (params_bytes, shape) } = decoded;
        let load_only = work.loads_only();
        let compiled = if load_only || work.partitions() == 0 { None } else { Some(work.circuit()?) };
        let partition = compiled.as_ref().map_or(0, |circuit| self.partition_bytes(circuit));
        let own = work.bytes() as u64;
        let need = params_bytes.saturating_add(partition).saturating_add(own.max(self.request_limit(true)));
        let most = self.accounts.budget.total_for(job.priority() == Priority::Critical);
        if need > most {
            return Err(Error::new(
                Code::TooLarge,
                "host_memory_limit",
                format!(
                    "parameters of {params_bytes} bytes, a partition of {partition} and waiting requests need {need}; \
                     the budget has {most} for them"
                ),
            ));
        }
        let partitions = work.partitions();
        job.set_partitions(partitions);
        if partitions == 0 && !load_only {
            return Ok(false);
        }
        let mut state = self.lock();
        // Whoever stops the job from here on finds it in the scheduler.
        job.check()?;
        let (circuit, wanted, loaded) = match params {
            ParamsRef::Loaded(params) => (state.resident.number(), Params::Resident, Some(params)),
            ParamsRef::File(path) => {
                let circuit = state.resident.slot(&path, params_bytes, shape).circuit;
                let wanted = if state.resident.get(circuit).is_some() {
                    Params::Resident
                } else if state.resident.loading(circuit).is_some() {
                    Params::Loading
                } else {
                    Params::Missing(params_bytes)
                };
                (circuit, wanted, None)
            }
        };
        let priority = job.priority();
        state.scheduler.add(Demand {
            ticket: job.ticket,
            priority: priority as u32,
            urgent: priority == Priority::Critical,
            partitions: partitions.max(1),
            load_only,
            bytes: partition,
            circuit,
            params: wanted,
        });
        let work = Some(Arc::new(work));
        state
            .active
            .insert(job.ticket, Active { job: job.clone(), work, circuit, compiled, params: loaded, begun: None });
        state.decoding.retain(|j| !Arc::ptr_eq(j, job));
        Ok(true)
    }

    /// The bytes of budget that a partition takes on any lane.
    pub(super) fn partition_bytes(&self, circuit: &CompiledCircuit) -> u64 {
        self.lanes.iter().map(|lane| lane.partition_bytes(&circuit.sizes())).max().unwrap_or(0)
    }

    /// Those of them that are working memory.
    pub(super) fn scratch_bytes(&self, circuit: &CompiledCircuit) -> u64 {
        self.lanes.iter().map(|lane| lane.scratch_bytes(&circuit.sizes())).max().unwrap_or(0)
    }
}
