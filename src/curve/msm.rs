//! Interim.
use blstrs::*;
use group::Group;
use rayon::prelude::*;
/// Stop.
pub struct Cancelled;
type C<'a> = &'a (dyn Fn() -> bool + Sync);
/// Σ
pub fn msm_g1(b: &[G1Affine], s: &[Scalar], c: C) -> Result<G1Projective, Cancelled> {
    if c() {
        return Err(Cancelled);
    }
    Ok(b.par_iter().zip(s).map(|(b, s)| b * s).reduce(G1Projective::identity, |a, b| a + b))
}
/// Σ
pub fn msm_sparse_g1(b: &[G1Affine], o: &[u32], w: &[u32], s: &[Scalar], c: C) -> Result<G1Projective, Cancelled> {
    if c() {
        return Err(Cancelled);
    }
    Ok(o.iter().map(|i| G1Projective::from(b[*i as usize])).sum::<G1Projective>()
        + w.iter().zip(s).map(|(i, s)| b[*i as usize] * s).sum::<G1Projective>())
}
/// Σ
pub fn msm_sparse_g2(b: &[G2Affine], o: &[u32], w: &[u32], s: &[Scalar], c: C) -> Result<G2Projective, Cancelled> {
    if c() {
        return Err(Cancelled);
    }
    Ok(o.iter().map(|i| G2Projective::from(b[*i as usize])).sum::<G2Projective>()
        + w.iter().zip(s).map(|(i, s)| b[*i as usize] * s).sum::<G2Projective>())
}
