//! Kernels over BLS12-381 for the CPU: multi-scalar multiplication, fixed-base multiplication, transforms.

pub mod decode;
pub mod msm;
pub mod ntt;
