//! PoRep vanilla proofs as `SealCommitPhase1Output` spells them, in JSON and in bincode.
//!
//! filecoin-proofs' own types hide their rows and labels, so nobody outside can check their lengths before its circuits
//! index into them; and they are generic over the tree, while what is on the wire is not. These have the same fields in
//! the same order (a C1 that one reads, the other reads too), refuse what is no field element, and keep only what the
//! circuit needs: the labels that `labeling_proofs` and `encoding_proof` repeat are counted and let go.

use std::fmt;
use std::marker::PhantomData;

use blstrs::Scalar;
use ff::PrimeField;
use filecoin_proofs_api::RegisteredSealProof;
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};

/// A field element, little endian, less than the modulus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Node(pub [u8; 32]);

impl Node {
    /// The element of these bytes, if they are less than the modulus.
    pub fn from_bytes(bytes: [u8; 32]) -> Option<Self> {
        // The modulus begins 0x73; most elements begin lower and need no conversion to be told apart.
        (bytes[31] < 0x73 || Scalar::from_repr_vartime(bytes).is_some()).then_some(Node(bytes))
    }
}

/// What replaces a node's bytes in `Deserialize`.
struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field element of 32 bytes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut bytes = [0u8; 32];
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = seq.next_element()?.ok_or_else(|| de::Error::invalid_length(i, &self))?;
        }
        Node::from_bytes(bytes)
            .ok_or_else(|| de::Error::custom("32 bytes that are no field element (not less than the modulus)"))
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_tuple(32, NodeVisitor)
    }
}

/// How many nodes there were, each checked and let go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeCount(pub usize);

impl<'de> Deserialize<'de> for NodeCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Counter;
        impl<'de> Visitor<'de> for Counter {
            type Value = NodeCount;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a sequence of field elements")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<NodeCount, A::Error> {
                let mut count = 0;
                while seq.next_element::<Node>()?.is_some() {
                    count += 1;
                }
                Ok(NodeCount(count))
            }
        }
        deserializer.deserialize_seq(Counter)
    }
}

/// Defines structs and enums that deserialize as serde derives it, and beside each a [`Schema`] of it: bincode names
/// no fields, so the place of an error in it is a row of positions until the schema names them.
macro_rules! wire {
    ($($(#[$doc:meta])* struct $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty = $schema:expr,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, serde::Deserialize)]
        pub(crate) struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl $name {
            /// The names of the fields, in order.
            pub const SCHEMA: Schema = Schema::Struct(&[$((stringify!($field), &$schema),)*]);
        }
    )*};
}

/// Names for positions: see [`wire!`].
#[derive(Debug)]
pub(crate) enum Schema {
    /// Fields by position.
    Struct(&'static [(&'static str, &'static Schema)]),
    /// Items of one schema.
    Seq(&'static Schema),
    /// Variants by position; the value is the variant's content.
    Enum(&'static [(&'static str, &'static Schema)]),
    /// Nothing below has a name.
    Leaf,
}

const LEAF: Schema = Schema::Leaf;
const NODES: Schema = Schema::Seq(&LEAF);

wire! {
    /// One step up a tree.
    struct PathElement {
        /// The siblings: arity - 1 of them.
        hashes: Vec<Node> = NODES,
        /// Where among them the node on the path stands.
        index: u64 = LEAF,
    }

    /// Steps up a tree, the leaf's first.
    struct Path {
        path: Vec<PathElement> = Schema::Seq(&PathElement::SCHEMA),
    }

    /// A Merkle proof.
    struct Opening {
        data: Steps = Steps::SCHEMA,
    }

    /// The labels of a node, one a layer.
    struct Column {
        index: u32 = LEAF,
        rows: Vec<Node> = NODES,
        _h: PhantomData<()> = LEAF,
    }

    /// A column and the proof that its hash is in tree C.
    struct ColumnOpening {
        column: Column = Column::SCHEMA,
        inclusion_proof: Opening = Opening::SCHEMA,
    }

    /// The challenged node's column and those of its parents.
    struct ReplicaColumns {
        c_x: ColumnOpening = ColumnOpening::SCHEMA,
        drg_parents: Vec<ColumnOpening> = Schema::Seq(&ColumnOpening::SCHEMA),
        exp_parents: Vec<ColumnOpening> = Schema::Seq(&ColumnOpening::SCHEMA),
    }

    /// A label's preimage, or that of the encoding key.
    struct Labeling {
        parents: NodeCount = NODES,
        #[allow(dead_code)] // Bincode has it between the others.
        layer_index: u32 = LEAF,
        node: u64 = LEAF,
    }

    /// What proves one challenge.
    struct SealProof {
        comm_d_proofs: Opening = Opening::SCHEMA,
        comm_r_last_proof: Opening = Opening::SCHEMA,
        replica_column_proofs: ReplicaColumns = ReplicaColumns::SCHEMA,
        labeling_proofs: Vec<Labeling> = Schema::Seq(&Labeling::SCHEMA),
        encoding_proof: Labeling = Labeling::SCHEMA,
    }

    /// `SealCommitPhase1Output`.
    struct C1 {
        registered_proof: RegisteredSealProof = LEAF,
        vanilla_proofs: VanillaProofs = VanillaProofs::SCHEMA,
        comm_r: Node = LEAF,
        comm_d: Node = LEAF,
        replica_id: Node = LEAF,
        seed: [u8; 32] = LEAF,
        ticket: [u8; 32] = LEAF,
    }
}

/// A Merkle proof by the heights of its tree: one of trees alone, under a root, under two roots.
#[derive(Debug, serde::Deserialize)]
pub(crate) enum Steps {
    Single { root: Node, leaf: Node, path: Path },
    Sub { base_proof: Path, sub_proof: Path, root: Node, leaf: Node },
    Top { base_proof: Path, sub_proof: Path, top_proof: Path, root: Node, leaf: Node },
}

impl Steps {
    /// The variants, in order.
    pub const SCHEMA: Schema = {
        const ROOT: (&str, &Schema) = ("root", &LEAF);
        const NODE: (&str, &Schema) = ("leaf", &LEAF);
        const BASE: (&str, &Schema) = ("base_proof", &Path::SCHEMA);
        const SUB: (&str, &Schema) = ("sub_proof", &Path::SCHEMA);
        const TOP: (&str, &Schema) = ("top_proof", &Path::SCHEMA);
        Schema::Enum(&[
            ("Single", &Schema::Struct(&[ROOT, NODE, ("path", &Path::SCHEMA)])),
            ("Sub", &Schema::Struct(&[BASE, SUB, ROOT, NODE])),
            ("Top", &Schema::Struct(&[BASE, SUB, TOP, ROOT, NODE])),
        ])
    };
}

impl Opening {
    /// The tree's root.
    pub fn root(&self) -> Node {
        match self.data {
            Steps::Single { root, .. } | Steps::Sub { root, .. } | Steps::Top { root, .. } => root,
        }
    }

    /// The node proved to be in it.
    pub fn leaf(&self) -> Node {
        match self.data {
            Steps::Single { leaf, .. } | Steps::Sub { leaf, .. } | Steps::Top { leaf, .. } => leaf,
        }
    }

    /// The parts of the path, the leaf's first, each with its name.
    pub fn parts(&self) -> Vec<(&'static str, &[PathElement])> {
        match &self.data {
            Steps::Single { path, .. } => vec![("path", &path.path)],
            Steps::Sub { base_proof, sub_proof, .. } => {
                vec![("base_proof", &base_proof.path), ("sub_proof", &sub_proof.path)]
            }
            Steps::Top { base_proof, sub_proof, top_proof, .. } => {
                vec![("base_proof", &base_proof.path), ("sub_proof", &sub_proof.path), ("top_proof", &top_proof.path)]
            }
        }
    }

    /// All steps, the leaf's first.
    pub fn steps(&self) -> impl Iterator<Item = &PathElement> {
        self.parts().into_iter().flat_map(|(_, part)| part)
    }
}

/// Vanilla proofs by partition and challenge, under the name of the sector size.
#[derive(Debug, serde::Deserialize)]
pub(crate) enum VanillaProofs {
    StackedDrg2KiBV1(Vec<Vec<SealProof>>),
    StackedDrg8MiBV1(Vec<Vec<SealProof>>),
    StackedDrg512MiBV1(Vec<Vec<SealProof>>),
    StackedDrg32GiBV1(Vec<Vec<SealProof>>),
    StackedDrg64GiBV1(Vec<Vec<SealProof>>),
}

impl VanillaProofs {
    /// The variants, in order.
    pub const SCHEMA: Schema = {
        const PROOFS: Schema = Schema::Seq(&Schema::Seq(&SealProof::SCHEMA));
        Schema::Enum(&[
            ("StackedDrg2KiBV1", &PROOFS),
            ("StackedDrg8MiBV1", &PROOFS),
            ("StackedDrg512MiBV1", &PROOFS),
            ("StackedDrg32GiBV1", &PROOFS),
            ("StackedDrg64GiBV1", &PROOFS),
        ])
    };

    /// The variant's place among the sector sizes.
    pub fn size_index(&self) -> usize {
        match self {
            VanillaProofs::StackedDrg2KiBV1(_) => 0,
            VanillaProofs::StackedDrg8MiBV1(_) => 1,
            VanillaProofs::StackedDrg512MiBV1(_) => 2,
            VanillaProofs::StackedDrg32GiBV1(_) => 3,
            VanillaProofs::StackedDrg64GiBV1(_) => 4,
        }
    }

    /// The proofs by partition and challenge.
    pub fn into_proofs(self) -> Vec<Vec<SealProof>> {
        match self {
            VanillaProofs::StackedDrg2KiBV1(proofs)
            | VanillaProofs::StackedDrg8MiBV1(proofs)
            | VanillaProofs::StackedDrg512MiBV1(proofs)
            | VanillaProofs::StackedDrg32GiBV1(proofs)
            | VanillaProofs::StackedDrg64GiBV1(proofs) => proofs,
        }
    }
}
