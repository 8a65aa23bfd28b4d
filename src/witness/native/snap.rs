//! A SnapDeals partition, as storage-proofs' `EmptySectorUpdateCircuit` allocates it.

use blstrs::Scalar;
use ff::{Field, PrimeField};
use storage_proofs_update::constants::{h_select, hs};

use super::digest::{put_bits, Digester};
use super::lanes::{path_len, siblings_len, Eight, Indices, Lanes};
use super::poseidon::Poseidon;
use super::sink::Sink;
use crate::error::{Code, Error, Result};
use crate::memory::Buf;
use crate::proofs::snap::{Partition, Statement, Update};
use crate::proofs::vanilla::{Node, Opening};
use crate::telemetry::Control;

/// Writes partition `k`; reports its challenges.
pub(super) fn write(
    statement: &Statement,
    k: usize,
    partition: &Partition,
    control: Control<'_>,
    sink: &mut impl Sink,
) -> Result<()> {
    let params = &statement.params;
    let first = partition.challenge_proofs.first().ok_or_else(|| Error::internal("a partition without challenges"))?;
    // The data's path from a partition's root on, which is that of each of its challenges.
    let above = params.challenge_bit_len - params.partition_bit_len;
    let partition_path = data_siblings(&first.proof_d_new, above..params.challenge_bit_len)?;
    for (i, update) in partition.challenge_proofs.iter().enumerate() {
        if data_siblings(&update.proof_d_new, above..params.challenge_bit_len)? != partition_path {
            return Err(unsatisfied(k, i, "proof_d_new leaves the partition by another path than the first"));
        }
    }
    let mut digester = Digester::new(0);

    let selected = h_select(params.sector_nodes, statement.h());
    let k_and_h_select = k as u64 | selected << params.partition_bit_len;
    sink.scalars(&[Scalar::from(k_and_h_select)])?;
    sink.input(Scalar::from(k_and_h_select))?;
    sink.bits(&[k_and_h_select], params.partition_bit_len + hs(params.sector_nodes).len())?;
    sink.scalars(&[Scalar::from(k as u64)])?;
    let [comm_r_old, comm_d_new, comm_r_new] =
        [statement.comm_r_old.scalar()?, statement.comm_d_new.scalar()?, statement.comm_r_new.scalar()?];
    for commitment in [comm_r_old, comm_d_new, comm_r_new] {
        sink.scalars(&[commitment])?;
        sink.input(commitment)?;
    }
    let phi = hash(Poseidon::randomness(), comm_d_new, comm_r_old, sink)?;
    let comm_c = partition.comm_c.scalar()?;
    let [root_r_old, root_r_new] = [first.proof_r_old.root.scalar()?, first.proof_r_new.root.scalar()?];
    sink.scalars(&[comm_c, root_r_old, root_r_new])?;
    let apex: Vec<Scalar> = partition.apex_leafs.iter().map(Node::scalar).collect::<Result<_>>()?;
    sink.scalars(&apex)?;
    sink.scalars(&partition_path)?;
    let two = Poseidon::of(2).ok_or_else(|| Error::internal("no hash of two"))?;
    hash(two, comm_c, root_r_old, sink)?;
    hash(two, comm_c, root_r_new, sink)?;

    // The apex tree, and the path from its root.
    let mut row = apex.clone();
    while row.len() > 1 {
        control.check()?;
        row = row
            .chunks(2)
            .map(|pair| digester.node(&pair[0], pair.get(1).unwrap_or(&pair[0]), sink))
            .collect::<Result<_>>()?;
    }
    let mut current = *row.first().ok_or_else(|| Error::internal("no apex leaves"))?;
    for (i, sibling) in partition_path.iter().enumerate() {
        current = digester.picked(current, k as u64 >> i & 1, *sibling, sink)?;
    }

    let challenges = challenges(statement, k, comm_r_new, partition.challenge_proofs.len(), sink)?;
    let mut eights = Eights::new(statement, phi, first)?;
    let groups = partition.challenge_proofs.chunks(8).zip(challenges.chunks(8));
    for (group, (updates, challenges)) in groups.enumerate() {
        control.check()?;
        eights.fill(updates, challenges)?;
        for (lane, (update, challenge)) in updates.iter().zip(challenges).enumerate() {
            control.check()?;
            sink.scalars(eights.lane(lane))?;
            if eights.leaf_r_new[lane] != update.proof_r_new.leaf.scalar()? {
                return Err(unsatisfied(k, 8 * group + lane, "proof_r_new is of another leaf than the update gives"));
            }
            // The challenge's apex leaf, found bit by bit from the highest.
            let bits = params.apex_leaf_bit_len;
            let below = params.challenge_bit_len - params.partition_bit_len - bits;
            let index = challenge >> below;
            let mut from = apex.clone();
            for bit in (0..bits).rev() {
                let half = from.len() / 2;
                let upper = index >> bit & 1 == 1;
                from = if upper { from.split_off(half) } else { from[..half].to_vec() };
                sink.scalars(&from)?;
            }
            let siblings = data_siblings(&update.proof_d_new, 0..below)?;
            sink.scalars(&siblings)?;
            let mut current = update.proof_d_new.leaf.scalar()?;
            for (i, sibling) in siblings.iter().enumerate() {
                current = digester.picked(current, challenge >> i & 1, *sibling, sink)?;
            }
            control.report(8 * group + lane + 1, partition.challenge_proofs.len());
        }
    }
    Ok(())
}

/// Where the official circuit refuses its values.
fn unsatisfied(k: usize, challenge: usize, text: &str) -> Error {
    let text = format!("the vanilla proof does not satisfy its circuit: challenge_proofs[{challenge}].{text}");
    Error::new(Code::Unsatisfied, format!("vanilla[{k}]"), text)
}

/// The siblings on some steps of a path up the data's tree.
fn data_siblings(path: &Opening, steps: std::ops::Range<usize>) -> Result<Vec<Scalar>> {
    path.steps()
        .skip(steps.start)
        .take(steps.len())
        .map(|step| match step.hashes[..] {
            [sibling] => sibling.scalar(),
            _ => Err(Error::internal("tree D is binary")),
        })
        .collect()
}

/// Puts the hash of two elements.
fn hash(poseidon: &Poseidon, a: Scalar, b: Scalar, sink: &mut impl Sink) -> Result<Scalar> {
    let mut values = vec![Scalar::ZERO; poseidon.len()];
    let hash = poseidon.hash(&[a, b], &mut values);
    sink.scalars(&values)?;
    Ok(hash)
}

/// Puts the digests that the challenges come from, and gives the challenges: leaves of the sector.
fn challenges(
    statement: &Statement,
    k: usize,
    comm_r_new: Scalar,
    count: usize,
    sink: &mut impl Sink,
) -> Result<Vec<u64>> {
    let params = &statement.params;
    let bits = params.challenge_bit_len - params.partition_bit_len;
    let a_digest = Scalar::CAPACITY as usize / bits;
    let digests = count.div_ceil(a_digest);
    let mut challenges = Vec::with_capacity(count);
    for j in 0..digests {
        let index = Scalar::from((k * digests + j) as u64);
        sink.scalars(&[index])?;
        let digest = hash(Poseidon::randomness(), comm_r_new, index, sink)?.to_repr();
        put_bits(&digest, sink)?;
        let bit = |i: usize| u64::from(digest[i / 8] >> (i % 8) & 1);
        for n in 0..a_digest.min(count - challenges.len()) {
            let leaf = (0..bits).fold(0, |leaf, i| leaf | bit(n * bits + i) << i);
            challenges.push(leaf | (k as u64) << bits);
        }
    }
    Ok(challenges)
}

/// Eight challenges side by side, as far as they are field elements: from the challenge's high bits to the path of the new
/// leaf.
struct Eights {
    phi: Scalar,
    bits: usize,
    hs: [usize; 6],
    /// Which of `hs` is selected.
    selected: u64,
    lane: usize,
    lanes: Buf<Scalar>,
    /// The leaves that the updates give.
    leaf_r_new: Eight,
}

impl Eights {
    fn new(statement: &Statement, phi: Scalar, update: &Update) -> Result<Self> {
        let params = &statement.params;
        let hs = hs(params.sector_nodes);
        let path = |path| Ok::<_, Error>(siblings_len(path) + path_len(path, false)?);
        let paths = path(&update.proof_r_old)? + path(&update.proof_r_new)?;
        let lane = 2 * hs.len() + 1 + Poseidon::randomness().len() + 4 + paths;
        Ok(Eights {
            phi,
            bits: params.challenge_bit_len,
            hs,
            selected: h_select(params.sector_nodes, statement.h()),
            lane,
            lanes: Buf::zeroed("witness", 8 * lane)?,
            leaf_r_new: Eight::default(),
        })
    }

    fn lane(&self, lane: usize) -> &[Scalar] {
        &self.lanes[lane * self.lane..][..self.lane]
    }

    fn fill(&mut self, updates: &[Update], challenges: &[u64]) -> Result<()> {
        let mut lanes = Lanes::new(self.lanes.chunks_exact_mut(self.lane).take(updates.len()));
        let (bits, hs, selected) = (self.bits, self.hs, self.selected);
        let mut high = Eight::default();
        lanes.each(2 * hs.len() + 1, |lane, out| {
            for ((i, h), out) in hs.iter().enumerate().zip(out.chunks_mut(2)) {
                let value = Scalar::from(challenges[lane] >> (bits - h));
                out[0] = value;
                out[1] = if selected >> i & 1 == 1 { value } else { Scalar::ZERO };
                high[lane] += out[1];
            }
            out[2 * hs.len()] = high[lane];
            Ok(())
        })?;
        let rho = lanes.hash(Poseidon::randomness(), &[[self.phi; 8], high])?;
        let of_each = |opening: fn(&Update) -> &Opening| -> Result<(Eight, Vec<&Opening>)> {
            let mut leaves = Eight::default();
            for (leaf, update) in leaves.iter_mut().zip(updates) {
                *leaf = opening(update).leaf.scalar()?;
            }
            Ok((leaves, updates.iter().map(opening).collect()))
        };
        let (old, old_paths) = of_each(|update| &update.proof_r_old)?;
        let (data, _) = of_each(|update| &update.proof_d_new)?;
        let (_, new_paths) = of_each(|update| &update.proof_r_new)?;
        let product: Eight = std::array::from_fn(|lane| data[lane] * rho[lane]);
        let new: Eight = std::array::from_fn(|lane| old[lane] + product[lane]);
        for values in [old, data, product, new] {
            lanes.put(&values)?;
        }
        for (leaves, paths) in [(old, old_paths), (new, new_paths)] {
            lanes.siblings(&paths)?;
            lanes.climb(&leaves, &paths, Indices::Given(challenges))?;
        }
        self.leaf_r_new = new;
        Ok(())
    }
}
