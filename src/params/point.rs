//! Points as bellperson writes them: uncompressed, big-endian, x before y, an extension's higher coefficient first.

use blst::{
    blst_p1_affine_in_g1, blst_p1_affine_serialize, blst_p1_deserialize, blst_p2_affine_in_g2,
    blst_p2_affine_serialize, blst_p2_deserialize, BLST_ERROR,
};
use blstrs::{G1Affine, G2Affine};

use crate::curve::decode::{eight_g1, eight_g2, TOGETHER};
use crate::memory::Plain;

/// Why bytes are no point of a parameter file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// A coordinate is not below the modulus, or a flag bit is set.
    NotCanonical,
    /// y² ≠ x³ + b.
    NotOnCurve,
    /// The point at infinity.
    Infinity,
    /// On the curve, outside the subgroup of prime order.
    NotInSubgroup,
}

impl Flaw {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Flaw::NotCanonical => "is not written in the one way it may be",
            Flaw::NotOnCurve => "is not on its curve",
            Flaw::Infinity => "is the point at infinity",
            Flaw::NotInSubgroup => "is outside the subgroup of prime order",
        }
    }
}

/// The three top bits of an encoding: compressed, at infinity, sign. Coordinates have 381 bits and leave them clear.
const FLAGS: u8 = 0xe0;
const INFINITY: u8 = 0x40;

/// A point of G1 or G2.
pub(crate) trait Point: Plain + Send + Sync {
    /// Bytes of the uncompressed encoding.
    const BYTES: usize;

    /// Decodes `Self::BYTES` bytes: coordinates canonical, on the curve, not at infinity. The subgroup is not looked at.
    fn decode(bytes: &[u8]) -> Result<Self, Flaw>;

    /// Decodes points that lie one after the other; on a flaw, gives the number of the first point that has one.
    fn decode_all(bytes: &[u8], points: &mut [Self]) -> Result<(), (usize, Flaw)>;

    /// Encodes into `Self::BYTES` bytes.
    fn encode(&self, bytes: &mut [u8]);

    /// Whether a point on the curve lies in the subgroup of prime order.
    fn in_subgroup(&self) -> bool;
}

fn look_at_flags(bytes: &[u8]) -> Result<(), Flaw> {
    match bytes[0] & FLAGS {
        0 => Ok(()),
        INFINITY if bytes[0] == INFINITY && bytes[1..].iter().all(|b| *b == 0) => Err(Flaw::Infinity),
        _ => Err(Flaw::NotCanonical),
    }
}

fn flaw(answer: BLST_ERROR) -> Result<(), Flaw> {
    match answer {
        // blst calls (0, ±2) outside the group already here; it is on the curve, and the subgroup is tested elsewhere.
        BLST_ERROR::BLST_SUCCESS | BLST_ERROR::BLST_POINT_NOT_IN_GROUP => Ok(()),
        BLST_ERROR::BLST_POINT_NOT_ON_CURVE => Err(Flaw::NotOnCurve),
        _ => Err(Flaw::NotCanonical),
    }
}

macro_rules! point {
    ($point:ty, $bytes:literal, $eight:path, $deserialize:ident, $serialize:ident, $in_group:ident) => {
        impl Point for $point {
            const BYTES: usize = $bytes;

            #[inline]
            fn decode(bytes: &[u8]) -> Result<Self, Flaw> {
                assert_eq!(bytes.len(), Self::BYTES);
                look_at_flags(bytes)?;
                let mut point = Self::default();
                // SAFETY: blst reads exactly Self::BYTES bytes and writes one affine point.
                let answer = unsafe { $deserialize(point.as_mut(), bytes.as_ptr()) };
                flaw(answer)?;
                Ok(point)
            }

            fn decode_all(bytes: &[u8], points: &mut [Self]) -> Result<(), (usize, Flaw)> {
                assert_eq!(bytes.len(), points.len() * Self::BYTES);
                let groups = bytes.chunks(TOGETHER * Self::BYTES).zip(points.chunks_mut(TOGETHER));
                for (number, (bytes, points)) in groups.enumerate() {
                    // Eight at a time where the CPU can and none has a flaw, else each for itself.
                    if let (Ok(bytes), Ok(points)) = (bytes.try_into(), (&mut points[..]).try_into()) {
                        if $eight(bytes, points) {
                            continue;
                        }
                    }
                    for (i, (bytes, point)) in bytes.chunks_exact(Self::BYTES).zip(points).enumerate() {
                        *point = Self::decode(bytes).map_err(|flaw| (number * TOGETHER + i, flaw))?;
                    }
                }
                Ok(())
            }

            #[inline]
            fn encode(&self, bytes: &mut [u8]) {
                assert_eq!(bytes.len(), Self::BYTES);
                // SAFETY: blst reads one affine point and writes exactly Self::BYTES bytes.
                unsafe { $serialize(bytes.as_mut_ptr(), self.as_ref()) }
            }

            fn in_subgroup(&self) -> bool {
                // SAFETY: blst reads one affine point.
                unsafe { $in_group(self.as_ref()) }
            }
        }
    };
}

point!(G1Affine, 96, eight_g1, blst_p1_deserialize, blst_p1_affine_serialize, blst_p1_affine_in_g1);
point!(G2Affine, 192, eight_g2, blst_p2_deserialize, blst_p2_affine_serialize, blst_p2_affine_in_g2);
