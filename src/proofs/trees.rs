//! The Merkle trees of each sector size.

use std::fmt;

use filecoin_hashers::{Hasher, PoseidonArity};
use storage_proofs_core::merkle::MerkleProof;

use super::vanilla::Opening;
use crate::error::Error;

/// Evaluates an expression, a `Result`, with `$tree` standing for the type of a sector size's replica tree: Poseidon,
/// 8-ary, under nothing (2 KiB, 8 MiB, 512 MiB), an 8-ary root (32 GiB), or an 8-ary and a binary root (64 GiB).
/// `INVALID_ARGUMENT` names `sector_size` when it is none of these.
macro_rules! with_tree {
    ($sector_size:expr, $tree:ident => $body:expr) => {{
        use filecoin_proofs::constants as sizes;
        match $sector_size {
            sizes::SECTOR_SIZE_2_KIB | sizes::SECTOR_SIZE_8_MIB | sizes::SECTOR_SIZE_512_MIB => {
                type $tree = sizes::SectorShapeBase;
                $body
            }
            sizes::SECTOR_SIZE_32_GIB => {
                type $tree = sizes::SectorShapeSub8;
                $body
            }
            sizes::SECTOR_SIZE_64_GIB => {
                type $tree = sizes::SectorShapeTop2;
                $body
            }
            other => {
                Err($crate::error::Error::argument("sector_size", format!("{other} is no sector size of Filecoin")))
            }
        }
    }};
}
pub(crate) use with_tree;

/// An error of storage-proofs where our own checks leave room for none.
pub(crate) fn internal(e: impl fmt::Display) -> Error {
    Error::internal(format!("storage-proofs: {e:#}"))
}

/// A Merkle proof as storage-proofs' circuits take it.
pub(crate) fn merkle_proof<H, A, S, T>(opening: &Opening) -> MerkleProof<H, A, S, T>
where
    H: Hasher,
    A: 'static + PoseidonArity,
    S: 'static + PoseidonArity,
    T: 'static + PoseidonArity,
{
    let steps = opening
        .steps()
        .map(|step| (step.hashes.iter().map(|node| node.0.into()).collect(), step.index as usize))
        .collect();
    MerkleProof::from_parts(opening.leaf.0.into(), opening.root.0.into(), steps)
}
