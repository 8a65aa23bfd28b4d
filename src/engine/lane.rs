//! The lane: proves a job's partitions.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use super::core::{Pools, Shared};
use super::job::{Job, Stage};
use super::work::{ParamsRef, Work};
use crate::error::{Code, Error, Result};
use crate::groth16::{self, Blinding, PROOF_BYTES};
use crate::params::{self, Params};
use crate::telemetry::Control;

/// Parts of a partition's progress, in permille: where each stage begins.
const DEVICE_FROM: u32 = 250;
const FINISH_FROM: u32 = 750;

/// Proves every partition, one after the other; the proofs' bytes back to back.
pub(super) fn prove(shared: &Shared, pools: &Pools, job: &Job, work: &dyn Work) -> Result<Arc<[u8]>> {
    let control = |from: u32, to: u32| move |permille: u32| job.report(from + (to - from) * permille.min(1000) / 1000);
    job.enter(Stage::Loading);
    let params = match work.params() {
        ParamsRef::Loaded(params) => params,
        ParamsRef::File(path) => {
            let control = Control { cancelled: &job.cancelled, progress: &|_| {} };
            shared.params.get(&path, || pools.cpu.run(|| params::file::read(&path, control)))?
        }
    };
    let backend = shared.backend.as_ref();
    job.set_device(backend.device());
    let mut proofs = Vec::with_capacity(work.partitions() * PROOF_BYTES);
    for k in 0..work.partitions() {
        job.check()?;
        job.enter(Stage::Witness);
        let shape = params.shape();
        let partition = pools.synthesis.run(|| work.synthesize(k, &shape, &job.cancelled))?;
        fits(&params, &partition)?;
        let inputs = pools.synthesis.run(|| work.public_inputs(k))?;

        job.enter(Stage::Device);
        job.report(DEVICE_FROM);
        let progress = control(DEVICE_FROM, FINISH_FROM);
        let device = Control { cancelled: &job.cancelled, progress: &progress };
        let started = pools.cpu.run(|| backend.start(&params, partition, device))?;

        job.enter(Stage::Finishing);
        job.report(FINISH_FROM);
        let progress = control(FINISH_FROM, 1000);
        let finish = Control { cancelled: &job.cancelled, progress: &progress };
        let blinding = Blinding::random()?;
        let from = proofs.len();
        pools.cpu.run(|| {
            let proof = backend.finish(started, &blinding, finish)?;
            proof.write(&mut proofs).map_err(|e| Error::internal(format!("a proof cannot be written: {e}")))?;
            if shared.options.self_check {
                groth16::verify(&params.vk, &proofs[from..], &inputs).map_err(|e| {
                    let text = format!("partition {k}'s finished proof does not verify: {}", e.message);
                    Error::new(Code::SelfCheck, "proof", text)
                })?;
            }
            Ok::<_, Error>(())
        })?;
        job.partition_done();
    }
    Ok(proofs.into())
}

/// Whether the parameters are of the circuit that was synthesised.
fn fits(params: &Params, partition: &crate::circuit::Partition) -> Result<()> {
    let (shape, densities) = (partition.shape(), &partition.densities);
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

/// The parameters used last. Loading others lets them go first, so that never two sets are in memory.
#[derive(Default)]
pub(super) struct ParamsCache {
    last: Mutex<Option<(PathBuf, Arc<Params>)>>,
}

impl ParamsCache {
    fn get(&self, path: &PathBuf, load: impl FnOnce() -> Result<Params>) -> Result<Arc<Params>> {
        if let Some((_, params)) = self.lock().as_ref().filter(|(p, _)| p == path) {
            return Ok(params.clone());
        }
        drop(self.lock().take());
        let params = Arc::new(load()?);
        *self.lock() = Some((path.clone(), params.clone()));
        Ok(params)
    }

    pub(super) fn bytes(&self) -> usize {
        self.lock().as_ref().map_or(0, |(_, p)| p.bytes())
    }

    pub(super) fn clear(&self) {
        drop(self.lock().take());
    }

    fn lock(&self) -> MutexGuard<'_, Option<(PathBuf, Arc<Params>)>> {
        self.last.lock().unwrap_or_else(|e| e.into_inner())
    }
}
