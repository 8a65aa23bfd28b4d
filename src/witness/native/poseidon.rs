//! The variables of a Poseidon hash, as neptune's legacy circuit allocates them (`neptune/src/circuit.rs`; Filecoin's
//! circuits use no other).
//!
//! A state of t = arity + 1 elements goes through full rounds, partial rounds and full rounds again. A round raises the
//! elements (a partial one the first alone) to the fifth power, adds a round key and multiplies by a matrix. Only powers
//! are allocated: the element l (not in the first round, where the circuit adds a key to what is allocated already), l^2,
//! l^4, and l^5 with its key. The tag, which is the first element, is constant, and so is its power in the first round. Last
//! comes the result. The matrices are neptune's: those of the partial rounds are sparse (a row, a column, ones on the
//! diagonal), made so by the one before them.

use std::sync::LazyLock;

use blstrs::Scalar;
use ff::Field;
use filecoin_hashers::{POSEIDON_CONSTANTS_11, POSEIDON_CONSTANTS_2, POSEIDON_CONSTANTS_8};
use storage_proofs_update::constants::POSEIDON_CONSTANTS_GEN_RANDOMNESS;

#[cfg(target_arch = "x86_64")]
use super::eight;

/// The most elements a state has.
pub(super) const WIDTH: usize = 12;

/// A partial round's matrix.
#[derive(Debug)]
pub(super) struct Sparse {
    /// What the first element is made with, from all.
    pub row: Vec<Scalar>,
    /// How much of the first goes to each of the others.
    pub column: Vec<Scalar>,
}

/// Constants of the hash of so many elements.
#[derive(Debug)]
pub(super) struct Poseidon {
    pub width: usize,
    /// The first element after its power in the first round.
    pub tag: Scalar,
    /// In the order of their use.
    pub keys: Vec<Scalar>,
    /// Full rounds on each side.
    pub half: usize,
    /// Column by column, `width` each.
    pub mds: Vec<Scalar>,
    /// The matrix of the last full round before the partial ones.
    pub before_sparse: Vec<Scalar>,
    pub sparse: Vec<Sparse>,
    /// The same for eight hashes at once, where this CPU can.
    #[cfg(target_arch = "x86_64")]
    eight: Option<eight::Tables>,
}

/// Takes neptune's constants, whose type is generic over the arity.
macro_rules! poseidon {
    ($constants:expr) => {
        LazyLock::new(|| {
            let c = &*$constants;
            let width = c.mds_matrices.m.len();
            let columns = |m: &Vec<Vec<Scalar>>| (0..width).flat_map(|j| m.iter().map(move |row| row[j])).collect();
            let keys = &c.compressed_round_constants;
            let l = c.domain_tag + keys[0];
            let mut poseidon = Poseidon {
                width,
                tag: l.square().square() * l + keys[width],
                keys: keys.clone(),
                half: c.half_full_rounds,
                mds: columns(&c.mds_matrices.m),
                before_sparse: columns(&c.pre_sparse_matrix),
                sparse: c
                    .sparse_matrixes
                    .iter()
                    .map(|m| Sparse { row: m.w_hat.clone(), column: m.v_rest.clone() })
                    .collect(),
                #[cfg(target_arch = "x86_64")]
                eight: None,
            };
            poseidon.prepare();
            poseidon
        })
    };
}

static TWO: LazyLock<Poseidon> = poseidon!(POSEIDON_CONSTANTS_2);
static EIGHT: LazyLock<Poseidon> = poseidon!(POSEIDON_CONSTANTS_8);
static ELEVEN: LazyLock<Poseidon> = poseidon!(POSEIDON_CONSTANTS_11);
static RANDOMNESS: LazyLock<Poseidon> = poseidon!(POSEIDON_CONSTANTS_GEN_RANDOMNESS);

impl Poseidon {
    /// The hash of `arity` elements, if Filecoin's circuits have one.
    pub fn of(arity: usize) -> Option<&'static Self> {
        match arity {
            2 => Some(&TWO),
            8 => Some(&EIGHT),
            11 => Some(&ELEVEN),
            _ => None,
        }
    }

    /// The hash of two elements with the tag of SnapDeals' randomness.
    pub fn randomness() -> &'static Self {
        &RANDOMNESS
    }

    #[cfg(target_arch = "x86_64")]
    fn prepare(&mut self) {
        self.eight = eight::available().then(|| eight::Tables::new(self));
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn prepare(&mut self) {}

    /// How many variables a hash has. The last is the result.
    pub fn len(&self) -> usize {
        3 * (self.width - 1) + 4 * self.width * (2 * self.half - 1) + 4 * self.sparse.len() + 1
    }

    /// Writes the variables of the hash of `preimage`, as many as the width less one, to `out`, which has [`len`](Self::len)
    /// places; gives the result.
    pub fn hash(&self, preimage: &[Scalar], out: &mut [Scalar]) -> Scalar {
        let t = self.width;
        let mut writer = Writer { out, len: 0 };
        let mut keys = self.keys[2 * t..].iter();
        let mut state = [Scalar::ZERO; WIDTH];
        let state = &mut state[..t];
        state[0] = self.tag;
        for i in 1..t {
            let l = preimage[i - 1] + self.keys[i];
            let l2 = l.square();
            let l4 = l2.square();
            state[i] = l4 * l + self.keys[t + i];
            writer.push(&[l2, l4, state[i]]);
        }
        multiply(state, &self.mds);
        let mut key = || keys.next().copied().unwrap_or(Scalar::ZERO);
        for round in 1..self.half {
            state.iter_mut().for_each(|l| *l = writer.power(*l, key()));
            multiply(state, if round + 1 == self.half { &self.before_sparse } else { &self.mds });
        }
        for Sparse { row, column } in &self.sparse {
            let first = writer.power(state[0], key());
            let (_, others) = state.split_at_mut(1);
            let mut sum = first * row[0];
            for ((other, row), column) in others.iter_mut().zip(&row[1..]).zip(column) {
                sum += *other * row;
                *other += first * column;
            }
            state[0] = sum;
        }
        for _ in 1..self.half {
            state.iter_mut().for_each(|l| *l = writer.power(*l, key()));
            multiply(state, &self.mds);
        }
        // The last round has no keys.
        state.iter_mut().for_each(|l| *l = writer.power(*l, Scalar::ZERO));
        let result = product(state, &self.mds[t..2 * t]);
        writer.push(&[result]);
        result
    }

    /// The hashes of up to eight preimages, one a lane of `outs`: element i of lane l is `preimage[i][l]`. The variables
    /// go to each lane's places from `at` on, which must be there.
    pub fn hash_lanes(&self, preimage: &[[Scalar; 8]], outs: &mut [&mut [Scalar]], at: usize) -> [Scalar; 8] {
        #[cfg(target_arch = "x86_64")]
        if let Some(tables) = self.eight.as_ref().filter(|_| outs.len() > 1) {
            return tables.hash(preimage, outs, at);
        }
        self.hash_in_turn(preimage, outs, at)
    }

    /// As [`Self::hash_lanes`], one after the other, on any CPU.
    pub fn hash_in_turn(&self, preimage: &[[Scalar; 8]], outs: &mut [&mut [Scalar]], at: usize) -> [Scalar; 8] {
        let mut results = [Scalar::ZERO; 8];
        for (lane, (out, result)) in outs.iter_mut().zip(&mut results).enumerate() {
            let mut one = [Scalar::ZERO; WIDTH];
            for (one, all) in one.iter_mut().zip(preimage) {
                *one = all[lane];
            }
            *result = self.hash(&one[..self.width - 1], &mut out[at..at + self.len()]);
        }
        results
    }
}

/// Variables, written from the start of `out`.
struct Writer<'a> {
    out: &'a mut [Scalar],
    len: usize,
}

impl Writer<'_> {
    fn push(&mut self, values: &[Scalar]) {
        self.out[self.len..][..values.len()].copy_from_slice(values);
        self.len += values.len();
    }

    /// l^5 + key and what comes before.
    fn power(&mut self, l: Scalar, key: Scalar) -> Scalar {
        let l2 = l.square();
        let l4 = l2.square();
        let l5 = l4 * l + key;
        self.push(&[l, l2, l4, l5]);
        l5
    }
}

fn product(state: &[Scalar], column: &[Scalar]) -> Scalar {
    state.iter().zip(column).map(|(x, m)| *x * m).sum()
}

fn multiply(state: &mut [Scalar], matrix: &[Scalar]) {
    let t = state.len();
    let mut next = [Scalar::ZERO; WIDTH];
    for (next, column) in next.iter_mut().zip(matrix.chunks_exact(t)) {
        *next = product(state, column);
    }
    state.copy_from_slice(&next[..t]);
}
