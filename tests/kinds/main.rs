//! SnapDeals, WindowPoSt and WinningPoSt on the real fixtures: filecoin-proofs' own verifier accepts them, bellperson's
//! prover makes the same bytes at the same r and s.

mod bellperson;
#[path = "../capi_support/mod.rs"]
mod capi_support;
#[path = "../common/fixture.rs"]
mod fixture;
#[path = "../common/same_bytes.rs"]
mod same_bytes;
mod side_by_side;
mod swapped;
mod through_c;
mod verified;
