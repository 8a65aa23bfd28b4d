//! A PoRep partition, as storage-proofs' `StackedCircuit` allocates it.

use blstrs::Scalar;
use ff::Field;

use super::digest::{put_bits, words, Digester, Preimage};
use super::lanes::{path_len, Indices, Lanes};
use super::poseidon::Poseidon;
use super::sink::Sink;
use crate::error::{Error, Result};
use crate::memory::Buf;
use crate::proofs::check::node_of;
use crate::proofs::porep::Statement;
use crate::proofs::vanilla::{ColumnOpening, Opening, SealProof};
use crate::telemetry::Control;

/// What is done in lanes: a column's labels and hash, and the path from there or from another leaf.
struct Climb<'a> {
    labels: Vec<Scalar>,
    leaf: Option<Scalar>,
    path: &'a Opening,
}

/// Writes a partition; reports its challenges.
pub(super) fn write(
    statement: &Statement,
    proofs: &[SealProof],
    control: Control<'_>,
    sink: &mut impl Sink,
) -> Result<()> {
    let first = proofs.first().ok_or_else(|| Error::internal("a partition without challenges"))?;
    let [replica_id, comm_d, comm_r] =
        [statement.replica_id.scalar()?, statement.comm_d.scalar()?, statement.comm_r.scalar()?];
    let [comm_r_last, comm_c] = [first.comm_r_last_proof.root.scalar()?, first.c_x.inclusion_proof.root.scalar()?];
    let mut digester = Digester::new(first.c_x.rows.len());
    let mut partition = Partition::new(first)?;

    sink.scalars(&[replica_id])?;
    sink.input(replica_id)?;
    put_bits(&statement.replica_id.0, sink)?;
    for commitment in [comm_d, comm_r] {
        sink.scalars(&[commitment])?;
        sink.input(commitment)?;
    }
    sink.scalars(&[comm_r_last, comm_c])?;
    let two = Poseidon::of(2).ok_or_else(|| Error::internal("no hash of two"))?;
    let mut hash = vec![Scalar::ZERO; two.len()];
    two.hash(&[comm_c, comm_r_last], &mut hash);
    sink.scalars(&hash)?;

    for (i, proof) in proofs.iter().enumerate() {
        control.check()?;
        partition.challenge(statement, proof, &mut digester, sink)?;
        control.report(i + 1, proofs.len());
    }
    Ok(())
}

/// Working memory of a partition: the lanes of one challenge. In each are a column's labels, their hash, and the path.
struct Partition {
    /// The hash of a column.
    column: &'static Poseidon,
    layers: usize,
    /// Variables of a lane.
    lane: usize,
    lanes: Buf<Scalar>,
}

impl Partition {
    fn new(proof: &SealProof) -> Result<Self> {
        let layers = proof.c_x.rows.len();
        let column =
            Poseidon::of(layers).ok_or_else(|| Error::internal(format!("no column hash of {layers} layers")))?;
        let lane = layers + column.len() + path_len(&proof.c_x.inclusion_proof, true)?;
        let lanes = proof.drg_parents.len() + proof.exp_parents.len() + 2;
        Ok(Partition { column, layers, lane, lanes: Buf::zeroed("witness", lanes * lane)? })
    }

    fn challenge(
        &mut self,
        statement: &Statement,
        proof: &SealProof,
        digester: &mut Digester,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let data = proof.comm_d_proofs.leaf.scalar()?;
        sink.scalars(&[data])?;
        data_path(&proof.comm_d_proofs, data, digester, sink)?;

        let labels = self.labels(statement, proof)?;
        let encoded = *labels.last().ok_or_else(|| Error::internal("no layers"))? + data;
        self.climb(proof, &labels, encoded)?;
        let mut lanes = self.lanes.chunks_exact(self.lane);
        let mut next = || lanes.next().ok_or_else(|| Error::internal("too few lanes"));
        for parent in proof.drg_parents.iter().chain(&proof.exp_parents) {
            sink.scalars(next()?)?;
            sink.input(Scalar::from(node_of(&parent.inclusion_proof)))?;
        }

        sink.bits(&[proof.node], 64)?;
        sink.input(Scalar::from(proof.node))?;
        for (layer, expected) in (1..).zip(&labels) {
            for parent in parents(proof, layer)? {
                put_bits(parent, sink)?;
            }
            let label = preimage(statement, proof, layer, |preimage| digester.label(preimage, sink))?;
            debug_assert_eq!(label, *expected);
        }
        sink.scalars(&[encoded])?;
        sink.scalars(&next()?[self.layers + self.column.len()..])?;
        sink.input(Scalar::from(node_of(&proof.comm_r_last_proof)))?;
        sink.scalars(&next()?[self.layers..])?;
        sink.input(Scalar::from(node_of(&proof.c_x.inclusion_proof)))
    }

    /// The labels of the challenged node.
    fn labels(&self, statement: &Statement, proof: &SealProof) -> Result<Vec<Scalar>> {
        (1..=self.layers).map(|layer| preimage(statement, proof, layer, |preimage| preimage.label())).collect()
    }

    /// Fills the lanes: the parents' columns, the path of the encoded node, the node's own column.
    fn climb(&mut self, proof: &SealProof, labels: &[Scalar], encoded: Scalar) -> Result<()> {
        let column =
            |column: &'_ ColumnOpening| -> Result<Vec<Scalar>> { column.rows.iter().map(|row| row.scalar()).collect() };
        let mut climbs = Vec::with_capacity(16);
        for parent in proof.drg_parents.iter().chain(&proof.exp_parents) {
            climbs.push(Climb { labels: column(parent)?, leaf: None, path: &parent.inclusion_proof });
        }
        let none = vec![Scalar::ZERO; self.layers];
        climbs.push(Climb { labels: none, leaf: Some(encoded), path: &proof.comm_r_last_proof });
        climbs.push(Climb { labels: labels.to_vec(), leaf: None, path: &proof.c_x.inclusion_proof });
        if climbs.iter().any(|climb| climb.labels.len() != self.layers) {
            return Err(Error::internal("columns differ in length"));
        }
        for (climbs, lanes) in climbs.chunks(8).zip(self.lanes.chunks_mut(8 * self.lane)) {
            let mut lanes = Lanes::new(lanes.chunks_exact_mut(self.lane));
            let mut rows = Vec::with_capacity(self.layers);
            for row in 0..self.layers {
                let values =
                    std::array::from_fn(|lane| climbs.get(lane).map_or(Scalar::ZERO, |climb| climb.labels[row]));
                lanes.put(&values)?;
                rows.push(values);
            }
            let mut leaves = lanes.hash(self.column, &rows)?;
            for (leaf, climb) in leaves.iter_mut().zip(climbs) {
                *leaf = climb.leaf.unwrap_or(*leaf);
            }
            let paths: Vec<_> = climbs.iter().map(|climb| climb.path).collect();
            lanes.climb(&leaves, &paths, Indices::Own)?;
        }
        Ok(())
    }
}

/// A path up the binary tree of the data, and its public input.
fn data_path(path: &Opening, leaf: Scalar, digester: &mut Digester, sink: &mut impl Sink) -> Result<()> {
    let mut current = leaf;
    for step in path.steps() {
        let [sibling] = step.hashes[..] else { return Err(Error::internal("tree D is binary")) };
        let sibling = sibling.scalar()?;
        sink.bits(&[step.index], 1)?;
        sink.scalars(&[sibling])?;
        current = digester.picked(current, step.index, sibling, sink)?;
    }
    sink.input(Scalar::from(node_of(path)))
}

/// The labels that a label of this layer is made of, each once: the base parents' of the layer and the expander parents' of
/// the one before.
fn parents(proof: &SealProof, layer: usize) -> Result<Vec<&[u8; 32]>> {
    let expanders = if layer > 1 { &proof.exp_parents[..] } else { &[] };
    let mut labels = Vec::with_capacity(proof.drg_parents.len() + expanders.len());
    for (parents, layer) in [(&proof.drg_parents[..], layer), (expanders, layer.saturating_sub(1))] {
        for parent in parents {
            let label = parent.rows.get(layer - 1);
            labels.push(&label.ok_or_else(|| Error::internal(format!("a parent has no layer {layer}")))?.0);
        }
    }
    Ok(labels)
}

/// Hands over the preimage of a label of the challenged node.
fn preimage<T>(
    statement: &Statement,
    proof: &SealProof,
    layer: usize,
    take: impl FnOnce(&Preimage<'_>) -> Result<T>,
) -> Result<T> {
    let parents: Vec<_> = parents(proof, layer)?.into_iter().map(words).collect();
    take(&Preimage {
        replica_id: words(&statement.replica_id.0),
        layer: layer as u32,
        node: proof.node,
        parents: &parents,
    })
}
