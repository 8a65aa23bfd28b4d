//! Values of a circuit's variables, evaluations of its rows, and which variables the rows use.

use std::sync::Arc;

use blstrs::Scalar;

use super::{CompiledCircuit, Packed};
use crate::error::{Error, Result};
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

    /// Bytes of a and b over the whole domain; c takes b's place when b has been used.
    pub fn evaluation_bytes(&self) -> u64 {
        2 * mapped_bytes::<Scalar>(1 << self.log_domain())
    }
}

/// The values of a circuit's variables, plain.
#[derive(Debug, Default)]
pub struct Witness {
    /// Public inputs; the first is one.
    pub inputs: Vec<Scalar>,
    /// Auxiliary values in allocation order.
    pub aux: Buf<Scalar>,
}

/// Values of auxiliary variables, in one of two forms.
#[derive(Debug)]
pub enum Aux {
    /// Each in 32 bytes: where almost all are wide.
    Plain(Buf<Scalar>),
    /// In two bits where they are 0 or 1.
    Packed(Packed),
}

impl Default for Aux {
    fn default() -> Self {
        Aux::Plain(Buf::new())
    }
}

impl Aux {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Aux::Plain(plain) => plain.len(),
            Aux::Packed(packed) => packed.len(),
        }
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Value `i`, which must be below the length.
    pub fn get(&self, i: usize) -> Scalar {
        match self {
            Aux::Plain(plain) => plain[i],
            Aux::Packed(packed) => packed.get(i),
        }
    }

    /// All its memory is in another stage from here on.
    pub fn enter(&mut self, stage: Stage) {
        match self {
            Aux::Plain(plain) => plain.enter(stage),
            Aux::Packed(packed) => packed.enter(stage),
        }
    }
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
    /// `len` zeros. `OUT_OF_MEMORY` names `what`.
    pub fn zeros(what: &'static str, len: usize) -> Result<Self> {
        let mut words = Vec::new();
        words.try_reserve_exact(len.div_ceil(64)).map_err(|_| Error::out_of_memory(what, len.div_ceil(8)))?;
        words.resize(len.div_ceil(64), 0);
        Ok(Bits { words, len })
    }

    /// Sets those of the 64 bits from `first` on that `mask` has; each must be below the length.
    #[inline]
    pub fn set_word(&mut self, first: usize, mask: u64) {
        debug_assert!(mask == 0 || first + (63 - mask.leading_zeros() as usize) < self.len);
        let (word, bit) = (first / 64, first % 64);
        self.words[word] |= mask << bit;
        let rest = mask >> 1 >> (63 - bit);
        if rest != 0 {
            self.words[word + 1] |= rest;
        }
    }

    /// The bits in words; past the end they are 0.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

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

/// A circuit synthesised in full, and satisfied: what the compiled form is compared with.
#[derive(Debug, Default)]
pub struct Synthesis {
    /// Values of the variables.
    pub witness: Witness,
    /// Rows of A and B.
    pub evaluations: Evaluations,
    /// Variables that A and B use.
    pub densities: Densities,
}

impl Synthesis {
    /// Sizes of the circuit.
    pub fn shape(&self) -> Shape {
        Shape { constraints: self.evaluations.a.len(), inputs: self.witness.inputs.len(), aux: self.witness.aux.len() }
    }
}

/// One partition: its values and its circuit. Whether the values satisfy it is found when the rows are evaluated.
#[derive(Debug)]
pub struct Partition {
    /// Public inputs; the first is one.
    pub inputs: Vec<Scalar>,
    /// Auxiliary values in allocation order.
    pub aux: Aux,
    /// The circuit.
    pub circuit: Arc<CompiledCircuit>,
    /// The bytes it may still take.
    pub room: Room,
}

impl Partition {
    /// All its memory is in another stage from here on.
    pub fn enter(&mut self, stage: Stage) {
        self.aux.enter(stage);
        self.room.enter(stage);
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
        let mut words = Bits::zeros("test", 259).unwrap();
        for (i, word) in bits.words().iter().enumerate() {
            words.set_word(64 * i, word & 0xffff_ffff);
        }
        for i in (1..258).step_by(64).filter(|i| i + 32 < 259) {
            let mask = (0..64).filter(|k| i + 31 + k < 259 && bits.get(i + 31 + k)).fold(0, |m, k| m | 1 << k);
            words.set_word(i + 31, mask);
        }
        assert_eq!(words, bits);
        assert!((1..130).all(|i| bits.get(129 + i) == (i % 3 == 0)));
    }
}
