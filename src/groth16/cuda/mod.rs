//! The CUDA backend. Built with the feature `cuda` where nvcc was found (`build.rs`); the code of the device is in `cuda`.

mod device;
mod ffi;
mod prover;

pub use device::{devices, Device, Devices};
pub use prover::CudaBackend;
