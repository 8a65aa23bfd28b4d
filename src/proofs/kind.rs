//! Proof kinds and the circuits they use.

use std::fmt;
use std::str::FromStr;

use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_core::parameter_cache::CacheableParameters;
use storage_proofs_post::fallback::{FallbackPoSt, FallbackPoStCompound};
use storage_proofs_update::{EmptySectorUpdate, EmptySectorUpdateCircuit, EmptySectorUpdateCompound};

use super::trees::{internal, with_tree};
use super::{porep, registered, CircuitVisitor};
use crate::error::{Error, Result};

/// A kind of proof, numbered as `PROVE_*` in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u32)]
pub enum Kind {
    /// PoRep C2.
    Porep = 1,
    /// SnapDeals (empty sector update).
    Snap = 2,
    /// WindowPoSt.
    WindowPost = 3,
    /// WinningPoSt.
    WinningPost = 4,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 4] = [Kind::Porep, Kind::Snap, Kind::WindowPost, Kind::WinningPost];

    /// The kind with this number; `INVALID_ARGUMENT` names `kind`.
    pub fn from_number(number: u32) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|k| *k as u32 == number)
            .ok_or_else(|| Error::argument("kind", format!("{number} is no proof kind (1 to 4)")))
    }

    /// The command's word for it: `porep`, `snap`, `window-post`, `winning-post`.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Porep => "porep",
            Kind::Snap => "snap",
            Kind::WindowPost => "window-post",
            Kind::WinningPost => "winning-post",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Kind {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|k| k.word() == s)
            .ok_or_else(|| Error::argument("kind", format!("{s:?} is none of porep, snap, window-post, winning-post")))
    }
}

/// Sector sizes Filecoin knows, in bytes, with their names.
pub const SECTOR_SIZES: [(u64, &str); 5] =
    [(2 << 10, "2KiB"), (8 << 20, "8MiB"), (512 << 20, "512MiB"), (32 << 30, "32GiB"), (64 << 30, "64GiB")];

/// The smallest sector that Filecoin's main network has, in bytes.
pub(crate) const PRODUCTION_BYTES: u64 = 32 << 30;

/// A circuit: one for each kind and sector size. Written `porep-2KiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CircuitId {
    /// The proof kind.
    pub kind: Kind,
    /// Sector size in bytes, one of [`SECTOR_SIZES`].
    pub sector_size: u64,
}

impl CircuitId {
    /// Whether Filecoin's main network uses this size (32 and 64 GiB).
    pub fn is_production(&self) -> bool {
        self.sector_size >= PRODUCTION_BYTES
    }
}

impl CircuitId {
    /// Every circuit of Filecoin's, kind by kind.
    pub fn all() -> impl Iterator<Item = Self> {
        let sizes = |kind| SECTOR_SIZES.into_iter().map(move |(sector_size, _)| CircuitId { kind, sector_size });
        Kind::ALL.into_iter().flat_map(sizes)
    }

    /// A registered proof of this kind and size. Proofs of one kind and size that differ in version or feature have the
    /// same circuit; this is the number of one of them. `INVALID_ARGUMENT` names `circuit` when the size is unknown.
    fn any_registered_proof(&self) -> Result<u32> {
        let i = SECTOR_SIZES.iter().position(|(size, _)| *size == self.sector_size).ok_or_else(|| {
            Error::argument("circuit", format!("{} bytes is no sector size of Filecoin", self.sector_size))
        })?;
        let first = match self.kind {
            Kind::Porep => registered::seal_number(registered::SEAL_PROOFS[5]),
            Kind::Snap | Kind::WinningPost => 0,
            Kind::WindowPost => registered::post_number(registered::POST_PROOFS[10]),
        };
        Ok(first + i as u32)
    }

    /// filecoin-proofs' cache identifier of the circuit; its parameter files are named after it.
    pub fn parameter_identifier(&self) -> Result<String> {
        let number = self.any_registered_proof()?;
        with_tree!(self.sector_size, Tree => match self.kind {
            Kind::Porep => {
                let config = registered::seal_from_number(number)?.as_v1_config();
                config.get_cache_identifier::<Tree>().map_err(internal)
            }
            Kind::WindowPost | Kind::WinningPost => {
                let config = registered::post_from_number(number)?.as_v1_config();
                config.get_cache_identifier::<Tree>().map_err(internal)
            }
            Kind::Snap => {
                let params = storage_proofs_update::PublicParams::from_sector_size(self.sector_size);
                type Circuit = EmptySectorUpdateCircuit<Tree>;
                Ok(<EmptySectorUpdateCompound<Tree> as CacheableParameters<Circuit, _>>::cache_identifier(&params))
            }
        })
    }

    /// Hands the visitor the circuit without any values (for recording its matrices).
    pub fn with_blank_circuit<V: CircuitVisitor>(&self, visitor: V) -> Result<V::Output> {
        use filecoin_proofs::parameters::{window_post_public_params, winning_post_public_params};
        let number = self.any_registered_proof()?;
        with_tree!(self.sector_size, Tree => match self.kind {
            Kind::Porep => porep::blank::<Tree, V>(registered::seal_from_number(number)?, visitor),
            Kind::WindowPost | Kind::WinningPost => {
                let config = registered::post_from_number(number)?.as_v1_config();
                let params = match self.kind {
                    Kind::WinningPost => winning_post_public_params::<Tree>(&config),
                    _ => window_post_public_params::<Tree>(&config),
                };
                let params = params.map_err(internal)?;
                type Compound = FallbackPoStCompound<Tree>;
                Ok(visitor.visit(<Compound as CompoundProof<FallbackPoSt<'_, Tree>, _>>::blank_circuit(&params)))
            }
            Kind::Snap => {
                let params = storage_proofs_update::PublicParams::from_sector_size(self.sector_size);
                type Compound = EmptySectorUpdateCompound<Tree>;
                Ok(visitor.visit(<Compound as CompoundProof<EmptySectorUpdate<Tree>, _>>::blank_circuit(&params)))
            }
        })
    }
}

impl fmt::Display for CircuitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match SECTOR_SIZES.iter().find(|(n, _)| *n == self.sector_size) {
            Some((_, name)) => write!(f, "{}-{name}", self.kind),
            None => write!(f, "{}-{}B", self.kind, self.sector_size),
        }
    }
}

impl FromStr for CircuitId {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self> {
        let (kind, size) = s
            .rsplit_once('-')
            .ok_or_else(|| Error::argument("circuit", format!("{s:?} is not KIND-SIZE, such as porep-2KiB")))?;
        let kind = kind.parse().map_err(|e: Error| Error::argument("circuit", e.message))?;
        let (sector_size, _) = SECTOR_SIZES.into_iter().find(|(_, name)| *name == size).ok_or_else(|| {
            Error::argument("circuit", format!("size {size:?} is none of 2KiB, 8MiB, 512MiB, 32GiB, 64GiB"))
        })?;
        Ok(CircuitId { kind, sector_size })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_number(kind as u32).unwrap(), kind);
            for (sector_size, _) in SECTOR_SIZES {
                let id = CircuitId { kind, sector_size };
                assert_eq!(id.to_string().parse::<CircuitId>().unwrap(), id);
            }
        }
        for bad in ["", "porep", "porep-", "porep-3KiB", "PoRep-2KiB", "winning-2KiB", "-2KiB"] {
            assert!(bad.parse::<CircuitId>().is_err(), "{bad}");
        }
        assert!(Kind::from_number(0).is_err() && Kind::from_number(5).is_err());
    }
}
