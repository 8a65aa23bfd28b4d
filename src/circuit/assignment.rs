//! A synthesised partition: values of the variables, evaluations of the rows, and which variables the rows use.

use blstrs::Scalar;

use crate::error::Result;
use crate::memory::{mapped_bytes, Buf, Room};
use crate::telemetry::{Class, Stage};

/// Sizes of a circuit. They size every buffer of a partition before it is synthesised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Rows, the one row per input that Groth16 adds included.
    pub constraints: usize,
    /// Public inputs, the constant one included.
    pub inputs: usize,
    /// Auxiliary variables.
    pub aux: usize,
}

impl Shape {
    /// log2 of the evaluation domain: the smallest power of two that holds every row.
    pub fn log_domain(&self) -> u32 {
        self.constraints.max(1).next_power_of_two().trailing_zeros()
    }

    /// Bytes of the auxiliary values.
    pub fn witness_bytes(&self) -> u64 {
        mapped_bytes::<Scalar>(self.aux)
    }

    /// Bytes of a, b and c over the whole domain.
    pub fn evaluation_bytes(&self) -> u64 {
        3 * mapped_bytes::<Scalar>(1 << self.log_domain())
    }

    /// Bytes of the inputs and of the bits that say which variables occur where: small, and not in mappings.
    pub fn small_bytes(&self) -> u64 {
        (self.inputs * size_of::<Scalar>()) as u64 + (2 * self.aux + self.inputs).div_ceil(8) as u64
    }
}

/// The values of a circuit's variables.
#[derive(Debug, Default)]
pub struct Witness {
    /// Public inputs; the first is one.
    pub inputs: Vec<Scalar>,
    /// Auxiliary values in allocation order.
    pub aux: Buf<Scalar>,
}

/// The rows of A and B times the witness. C's rows are their products wherever the circuit is satisfied, which synthesis
/// checks row by row, so C is not kept.
#[derive(Debug, Default)]
pub struct Evaluations {
    /// A's rows.
    pub a: Buf<Scalar>,
    /// B's rows.
    pub b: Buf<Scalar>,
}

/// A growable list of bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bits {
    words: Vec<u64>,
    len: usize,
}

impl Bits {
    /// Appends a zero.
    #[inline]
    pub fn push_zero(&mut self) {
        if self.len.is_multiple_of(64) {
            self.words.push(0);
        }
        self.len += 1;
    }

    /// Sets bit `i`; `i` must be below the length.
    #[inline]
    pub fn set(&mut self, i: usize) {
        debug_assert!(i < self.len);
        self.words[i / 64] |= 1 << (i % 64);
    }

    /// Bit `i`; `i` must be below the length.
    #[inline]
    pub fn get(&self, i: usize) -> bool {
        debug_assert!(i < self.len);
        self.words[i / 64] >> (i % 64) & 1 == 1
    }

    /// Number of bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no bit.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of ones.
    pub fn count(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Appends `other` from its bit `from` on.
    pub fn append(&mut self, other: &Bits, from: usize) {
        for i in from..other.len {
            self.push_zero();
            if other.get(i) {
                self.set(self.len - 1);
            }
        }
    }
}

/// Which variables occur in A and B with a coefficient other than zero: only those have a point in the queries.
/// (Every input occurs in A, by the row Groth16 adds for it; every aux variable has a point in `l`.)
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Densities {
    /// Aux variables in A.
    pub a_aux: Bits,
    /// Inputs in B.
    pub b_inputs: Bits,
    /// Aux variables in B.
    pub b_aux: Bits,
}

/// One partition, synthesised and satisfied.
#[derive(Debug, Default)]
pub struct Partition {
    /// Values of the variables.
    pub witness: Witness,
    /// Rows of A and B.
    pub evaluations: Evaluations,
    /// Variables that A and B use.
    pub densities: Densities,
    /// The bytes it may still take.
    pub room: Room,
}

impl Partition {
    /// All its memory is in another stage from here on.
    pub fn enter(&mut self, stage: Stage) {
        self.witness.aux.enter(stage);
        self.evaluations.a.enter(stage);
        self.evaluations.b.enter(stage);
        self.room.enter(stage);
    }

    /// Sizes of this partition's circuit.
    pub fn shape(&self) -> Shape {
        Shape { constraints: self.evaluations.a.len(), inputs: self.witness.inputs.len(), aux: self.witness.aux.len() }
    }
}

impl Evaluations {
    /// Empty evaluations with room for a whole domain, so that the transforms need no other buffer.
    pub fn with_room(shape: &Shape, room: &mut Room) -> Result<Self> {
        let domain = 1usize << shape.log_domain();
        Ok(Evaluations {
            a: room.buf("evaluations a", Class::Evaluations, domain)?,
            b: room.buf("evaluations b", Class::Evaluations, domain)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shape_of_the_domain() {
        let log = |constraints| Shape { constraints, inputs: 1, aux: 0 }.log_domain();
        assert_eq!((log(0), log(1), log(2), log(3), log(4), log(5)), (0, 0, 1, 2, 2, 3));
        assert_eq!(log(2_687_961), 22);
        assert_eq!(log(130_278_869), 27);
    }

    #[test]
    fn bits_set() {
        let mut bits = Bits::default();
        for i in 0..130 {
            bits.push_zero();
            if i % 3 == 0 {
                bits.set(i);
            }
        }
        assert_eq!((bits.len(), bits.count()), (130, 44));
        assert!((0..130).all(|i| bits.get(i) == (i % 3 == 0)));
        let one = bits.clone();
        bits.append(&one, 1);
        assert_eq!(bits.len(), 259);
        assert!((1..130).all(|i| bits.get(129 + i) == (i % 3 == 0)));
    }
}
