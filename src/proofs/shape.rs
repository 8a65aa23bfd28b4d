//! What the circuit of a seal proof takes, and how much memory that is.

use filecoin_proofs_api::RegisteredSealProof;
use storage_proofs_core::drgraph::{Graph, BASE_DEGREE};
use storage_proofs_core::merkle::{base_path_length, MerkleTreeTrait};
use storage_proofs_porep::stacked::{PublicParams, EXP_DEGREE};
use typenum::Unsigned;

use super::vanilla::{ColumnOpening, Node, PathElement, SealProof};

/// A part of a path up a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub name: &'static str,
    pub steps: usize,
    pub arity: usize,
}

/// How many of everything the circuit of a seal proof takes.
#[derive(Debug)]
pub(crate) struct Shape {
    pub partitions: usize,
    pub challenges: usize,
    pub layers: usize,
    /// The binary tree D from the leaf up.
    pub tree_d: Vec<Part>,
    /// Trees C and R from the leaf up.
    pub tree_r: Vec<Part>,
}

impl Shape {
    /// The shape that the circuit of `proof` expects.
    pub fn of<Tree: 'static + MerkleTreeTrait>(proof: RegisteredSealProof, params: &PublicParams<Tree>) -> Self {
        let nodes = params.graph.size();
        Shape {
            partitions: proof.partitions().into(),
            challenges: params.challenges.num_challenges_per_partition(),
            layers: params.num_layers,
            tree_d: data_tree(nodes),
            tree_r: replica_tree::<Tree>(nodes),
        }
    }

    /// Bytes that vanilla proofs of this shape take in memory.
    pub fn bytes(&self) -> usize {
        let column = allocated::<Node>(self.layers) + opening_bytes(&self.tree_r);
        let proof = opening_bytes(&self.tree_d)
            + opening_bytes(&self.tree_r)
            + (1 + BASE_DEGREE + EXP_DEGREE) * column
            + allocated::<ColumnOpening>(BASE_DEGREE)
            + allocated::<ColumnOpening>(EXP_DEGREE);
        let partition = allocated::<SealProof>(self.challenges) + self.challenges * proof;
        allocated::<Vec<SealProof>>(self.partitions) + self.partitions * partition
    }
}

/// A path in the tree over a sector's replica or columns, from the leaf up.
pub(crate) fn replica_tree<Tree: MerkleTreeTrait>(nodes: usize) -> Vec<Part> {
    let (base, sub, top) = (Tree::Arity::USIZE, Tree::SubTreeArity::USIZE, Tree::TopTreeArity::USIZE);
    let steps = base_path_length::<Tree::Arity, Tree::SubTreeArity, Tree::TopTreeArity>(nodes);
    let mut tree = vec![Part { name: if sub == 0 { "path" } else { "base_proof" }, steps, arity: base }];
    tree.extend((sub > 0).then_some(Part { name: "sub_proof", steps: 1, arity: sub }));
    tree.extend((top > 0).then_some(Part { name: "top_proof", steps: 1, arity: top }));
    tree
}

/// A path in the binary tree over a sector's data.
pub(crate) fn data_tree(nodes: usize) -> Vec<Part> {
    vec![Part { name: "path", steps: nodes.trailing_zeros() as usize, arity: 2 }]
}

/// Bytes of the steps of one opening.
pub(crate) fn opening_bytes(tree: &[Part]) -> usize {
    let part = |part: &Part| allocated::<PathElement>(part.steps) + part.steps * allocated::<Node>(part.arity - 1);
    tree.iter().map(part).sum()
}

/// Bytes of one opening in bincode, its variant, root, leaf and lengths included.
pub(crate) fn opening_wire_bytes(tree: &[Part]) -> usize {
    let step = |part: &Part| size_of::<u64>() + 32 * (part.arity - 1) + size_of::<u64>();
    size_of::<u32>() + 2 * 32 + tree.iter().map(|part| size_of::<u64>() + part.steps * step(part)).sum::<usize>()
}

/// What the system's allocator takes for a vector: multiples of 16 bytes, and 16 of its own.
pub(crate) fn allocated<T>(len: usize) -> usize {
    (len * size_of::<T>()).next_multiple_of(16) + 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_follow_from_the_counts() {
        // A path of two steps with seven siblings each.
        let tree = [Part { name: "path", steps: 2, arity: 8 }];
        assert_eq!(opening_bytes(&tree), 2 * size_of::<PathElement>() + 16 + 2 * (7 * 32 + 16));
        assert_eq!(allocated::<u8>(1), 32);
    }
}
