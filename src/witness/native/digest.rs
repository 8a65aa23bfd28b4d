//! Labels and nodes of tree D: SHA-256 of field elements, which become bits before and an element after.
//!
//! An element has 255 bits, the lowest first, and a constant zero is put to them. Bytes are hashed from their highest bit
//! on, so that the constant is the highest bit of the last byte: bit 7 of the last of eight words. A hash's first 254 bits
//! in the same order are an element again.

use blstrs::Scalar;
use ff::PrimeField;
use storage_proofs_porep::stacked::TOTAL_PARENTS;

use super::lanes::insert;
use super::plan::{constant, Bit, Plan, Word, VARIABLE};
use super::sha256::{compress, Block, START};
use super::sink::Sink;
use crate::error::{Error, Result};

/// Bits of an element.
const BITS: usize = 255;

/// Bytes of a label's preimage: the replica's id, layer and node in 32, the parents.
const LABEL_BYTES: usize = 32 * (2 + TOTAL_PARENTS);

/// An element as SHA-256 takes it: eight words, big endian.
pub(super) type Words = [u32; 8];

/// The words of an element's bytes.
pub(super) fn words(bytes: &[u8; 32]) -> Words {
    std::array::from_fn(|i| {
        let at = 4 * i;
        u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
    })
}

/// Puts the bits of an element.
pub(super) fn put_bits(bytes: &[u8; 32], sink: &mut impl Sink) -> Result<()> {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    }
    sink.bits(&words, BITS)
}

/// The element of a hash.
fn element(state: &Words) -> Result<Scalar> {
    let mut bytes = [0; 32];
    for (bytes, word) in bytes.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    bytes[31] &= 0x3f;
    Scalar::from_repr_vartime(bytes).ok_or_else(|| Error::internal("254 bits are no element"))
}

/// A label's preimage, block by block.
pub(super) struct Preimage<'a> {
    pub replica_id: Words,
    pub layer: u32,
    pub node: u64,
    /// Those of the layer, cyclically as many as a label has.
    pub parents: &'a [Words],
}

/// Blocks of a label, the padding's included.
const LABEL_BLOCKS: usize = LABEL_BYTES / 64 + 1;

impl Preimage<'_> {
    fn block(&self, i: usize) -> [u32; 16] {
        let half = |i: usize| match i {
            0 => self.replica_id,
            1 => [self.layer, (self.node >> 32) as u32, self.node as u32, 0, 0, 0, 0, 0],
            i if i < 2 + TOTAL_PARENTS => self.parents[(i - 2) % self.parents.len()],
            _ => [1 << 31, 0, 0, 0, 0, 0, 0, 8 * LABEL_BYTES as u32],
        };
        join(half(2 * i), half(2 * i + 1))
    }

    /// The label.
    pub fn label(&self) -> Result<Scalar> {
        let mut state = START;
        for i in 0..LABEL_BLOCKS {
            compress(&mut state, &self.block(i));
        }
        element(&state)
    }
}

fn join<T: Copy + Default>(a: [T; 8], b: [T; 8]) -> [T; 16] {
    let mut both = [T::default(); 16];
    both[..8].copy_from_slice(&a);
    both[8..].copy_from_slice(&b);
    both
}

/// Puts hashes. Has the plans of their blocks, which are made once.
pub(super) struct Digester {
    block: Block,
    /// A label's first blocks by layer, its middle ones, its last.
    first: Vec<Plan>,
    middle: Plan,
    last: Plan,
    /// A node's two children, and the padding.
    children: Plan,
    padding: Plan,
}

impl Digester {
    /// For nodes, and labels of so many layers.
    pub fn new(layers: usize) -> Self {
        let mut padded = VARIABLE;
        padded[7] = Bit::Constant(false);
        let mut element = [VARIABLE; 8];
        element[7] = padded;
        let constants = |words: [u32; 8]| words.map(constant);
        let both =
            |a: [Word; 8], b: [Word; 8]| -> [Word; 16] { std::array::from_fn(|i| if i < 8 { a[i] } else { b[i - 8] }) };
        let start = constants(START);
        let after = [VARIABLE; 8];
        let first = |layer| {
            let mut second = constants([layer as u32, 0, 0, 0, 0, 0, 0, 0]);
            second[1..3].fill(VARIABLE);
            Plan::new(&both(element, second), &start)
        };
        let end = constants([1 << 31, 0, 0, 0, 0, 0, 0, 8 * LABEL_BYTES as u32]);
        let rest = both(constants([1 << 31, 0, 0, 0, 0, 0, 0, 0]), constants([0, 0, 0, 0, 0, 0, 0, 512]));
        Digester {
            block: Block::new(),
            first: (1..=layers).map(first).collect(),
            middle: Plan::new(&both(element, element), &after),
            last: Plan::new(&both(element, end), &after),
            children: Plan::new(&both(element, element), &start),
            padding: Plan::new(&rest, &after),
        }
    }

    /// Puts a label; its parents' bits are there already.
    pub fn label(&mut self, preimage: &Preimage<'_>, sink: &mut impl Sink) -> Result<Scalar> {
        let layer = preimage.layer as usize;
        let first = self.first.get(layer - 1).ok_or_else(|| Error::internal("a label's layer has no plan"))?;
        let mut state = START;
        for i in 0..LABEL_BLOCKS {
            let plan = match i {
                0 => first,
                i if i + 1 == LABEL_BLOCKS => &self.last,
                _ => &self.middle,
            };
            put(&mut self.block, plan, &mut state, &preimage.block(i), sink)?;
        }
        put_element(&state, sink)
    }

    /// Puts the node above `current` and its sibling, the picks that order them first.
    pub fn picked(&mut self, current: Scalar, index: u64, sibling: Scalar, sink: &mut impl Sink) -> Result<Scalar> {
        let mut picks = [Scalar::default(); 2];
        insert(current, index, &[sibling], &mut picks);
        sink.scalars(&picks)?;
        self.node(&picks[0], &picks[1], sink)
    }

    /// Puts the node above two others, their bits first.
    pub fn node(&mut self, left: &Scalar, right: &Scalar, sink: &mut impl Sink) -> Result<Scalar> {
        let (left, right) = (left.to_repr(), right.to_repr());
        put_bits(&left, sink)?;
        put_bits(&right, sink)?;
        let mut state = START;
        put(&mut self.block, &self.children, &mut state, &join(words(&left), words(&right)), sink)?;
        let mut rest = [0; 16];
        (rest[0], rest[15]) = (1 << 31, 512);
        put(&mut self.block, &self.padding, &mut state, &rest, sink)?;
        put_element(&state, sink)
    }
}

fn put(block: &mut Block, plan: &Plan, state: &mut Words, message: &[u32; 16], sink: &mut impl Sink) -> Result<()> {
    block.compress(plan, state, message);
    let (words, count) = block.bits();
    debug_assert_eq!(count, plan.count);
    sink.bits(words, count)
}

fn put_element(state: &Words, sink: &mut impl Sink) -> Result<Scalar> {
    let element = element(state)?;
    sink.scalars(&[element])?;
    Ok(element)
}
