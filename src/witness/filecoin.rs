//! A partition of Filecoin's: natively where that is known to give the official circuit's values, else through the circuit.

use std::sync::atomic::AtomicBool;
use std::sync::Arc;

use bellpepper_core::Circuit;
use blstrs::Scalar;
use ff::Field;

use super::assign::{assign, partition};
use super::native::{self, Packing};
use super::slots::assign_slots;
use crate::circuit::{Aux, CompiledCircuit, Packer, Partition};
use crate::error::{Error, Result};
use crate::memory::Room;
use crate::proofs::{CircuitVisitor, Decoded};
use crate::telemetry::{Class, Control};

/// Partition `k` of a request, whose circuit `compiled` is. Runs on the rayon pool it is called in. Errors as for [`assign`].
pub fn assign_partition(
    decoded: &Decoded,
    k: usize,
    compiled: &Arc<CompiledCircuit>,
    room: Room,
    cancelled: &AtomicBool,
) -> Result<Partition> {
    match native::is_exact(&decoded.circuit()) {
        true => assign_native(decoded, k, compiled, room, cancelled),
        false => assign_official(decoded, k, compiled, room, cancelled),
    }
}

/// The same through the official circuit.
pub fn assign_official(
    decoded: &Decoded,
    k: usize,
    compiled: &Arc<CompiledCircuit>,
    room: Room,
    cancelled: &AtomicBool,
) -> Result<Partition> {
    struct Assign<'a>(&'a Arc<CompiledCircuit>, Room, &'a AtomicBool);
    impl CircuitVisitor for Assign<'_> {
        type Output = Result<Partition>;
        fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Result<Partition> {
            assign(circuit, self.0, self.1, self.2)
        }
        fn visit_slots<W, C>(self, circuit: W, slots: impl FnOnce(W) -> Vec<C>) -> Result<Partition>
        where
            W: Circuit<Scalar> + Send,
            C: Send + Sync,
            for<'a> &'a C: Circuit<Scalar>,
        {
            assign_slots(&slots(circuit), self.0, self.1, self.2)
        }
    }
    decoded.with_circuit(k, Assign(compiled, room, cancelled))?
}

/// The same from the vanilla proofs themselves.
pub fn assign_native(
    decoded: &Decoded,
    k: usize,
    compiled: &Arc<CompiledCircuit>,
    mut room: Room,
    cancelled: &AtomicBool,
) -> Result<Partition> {
    let (shape, sizes) = (compiled.shape(), compiled.sizes());
    let control = Control { cancelled, progress: &|_| {} };
    if sizes.packs() {
        let packer = Packer::in_room(shape.aux, sizes.wide_room(), &mut room)?;
        let mut sink = Packing::into_packer(packer);
        native::write(decoded, k, control, &mut sink)?;
        return partition(sink.inputs, Aux::Packed(sink.packer.finish()?), compiled, room);
    }
    let mut aux = room.zeroed("witness", Class::Witness, shape.aux)?;
    let public = native::write_slots(decoded, k, control, &mut aux)?;
    let mut inputs = Vec::new();
    inputs.try_reserve_exact(shape.inputs).map_err(|_| Error::out_of_memory("witness", 32 * shape.inputs))?;
    inputs.push(Scalar::ONE);
    inputs.extend(public);
    partition(inputs, Aux::Plain(aux), compiled, room)
}
