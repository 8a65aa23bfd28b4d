//! Number-theoretic transforms over the BLS12-381 scalar field, as Groth16's quotient needs them:
//! h = (a b - c) / z, from a, b, c given by their values on the n-th roots of unity.
//!
//! ```text
//! to_coset(a), to_coset(b), to_coset(c)    values at omega^i  ->  values at g omega^i
//! product(a, b), subtract(a, c)            a = (a b - c) / z on the coset, in two steps
//! from_coset(a)                            values at g omega^i  ->  coefficients
//! ```
//!
//! Everything is in place. The n values are taken as a square of about sqrt n rows and columns:
//! a transform passes over memory twice, once down the columns and once along the rows, each
//! time through a scratch that fits the second-level cache (see `passes.rs`). `to_coset`, two
//! transforms, takes three passes. On CPUs with AVX-512 IFMA the arithmetic is eight lanes wide
//! (`ifma.rs`), elsewhere blst's (`scalar.rs`).
//!
//! The functions run on the rayon pool current at the call. Extra memory a thread: 320 bytes *
//! sqrt n (0.6 MiB at n = 2^22, 5 MiB at 2^27 and 2^28) during a call. A [`Domain`] holds about
//! 700 bytes * sqrt n: 1.3 MiB at 2^22, 8 MiB at 2^27.

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma;
#[cfg(all(test, target_arch = "x86_64"))]
mod ifma_tests;
#[cfg(target_arch = "x86_64")]
mod lanes;
#[cfg(target_arch = "x86_64")]
pub(crate) mod memory;
#[cfg(target_arch = "x86_64")]
mod ordered;
mod passes;
mod reverse;
mod roots;
mod scalar;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod vector;
mod work;

use super::Stopped;
use blstrs::Scalar;

use passes::Finish;
use roots::Roots;
use scalar::Portable;

/// The n-th roots of unity, n = 2^log_n, and their coset by the field's multiplicative generator.
///
/// Every slice given to its methods must have n elements; they panic otherwise. The methods ask
/// `cancelled` at least every few milliseconds on each thread and then return [`Stopped::Cancelled`].
#[derive(Debug)]
pub struct Domain {
    roots: Roots,
    #[cfg(target_arch = "x86_64")]
    tables: Option<vector::Tables>,
}

/// Returns the expression with `engine` bound to the fastest arithmetic the domain has.
macro_rules! with_engine {
    ($domain:expr, $engine:ident => $body:expr) => {{
        #[cfg(target_arch = "x86_64")]
        if let Some(tables) = &$domain.tables {
            let $engine = &vector::Vectors::new(&$domain.roots, tables);
            return $body;
        }
        let $engine = &Portable(&$domain.roots);
        $body
    }};
}

impl Domain {
    /// The domain of 2^log_n values; None if the field has no root of unity of that order
    /// (log_n > 32).
    pub fn new(log_n: u32) -> Option<Domain> {
        let portable = Domain::portable(log_n)?;
        #[cfg(target_arch = "x86_64")]
        if let Some(tables) = vector::Tables::new(&portable.roots) {
            let mut roots = portable.roots;
            roots.release();
            return Some(Domain { roots, tables: Some(tables) });
        }
        Some(portable)
    }

    /// The same with blst's arithmetic whatever the CPU has, to compare.
    pub fn portable(log_n: u32) -> Option<Domain> {
        Some(Domain {
            #[cfg(target_arch = "x86_64")]
            tables: None,
            roots: Roots::new(log_n)?,
        })
    }

    /// The number of values, n.
    pub fn size(&self) -> usize {
        1 << self.roots.log_n
    }

    /// Values of a polynomial of degree < n at omega^i to its values at g omega^i.
    pub fn to_coset(&self, values: &mut [Scalar], cancelled: &(dyn Fn() -> bool + Sync)) -> Result<(), Stopped> {
        self.check(values.len());
        with_engine!(self, engine => passes::to_coset(engine, values, cancelled))
    }

    /// a = a b / z for values on the coset, where z = g^n - 1 is the vanishing polynomial.
    pub fn product(
        &self,
        a: &mut [Scalar],
        b: &[Scalar],
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), Stopped> {
        self.check(a.len());
        self.check(b.len());
        with_engine!(self, engine => passes::product(engine, a, b, cancelled))
    }

    /// a = a - c / z for values on the coset: the quotient, after [`product`](Self::product). In two steps, so that c may
    /// take b's place.
    pub fn subtract(
        &self,
        a: &mut [Scalar],
        c: &[Scalar],
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), Stopped> {
        self.check(a.len());
        self.check(c.len());
        with_engine!(self, engine => passes::subtract(engine, self.roots.z, a, c, cancelled))
    }

    /// Values at g omega^i to the polynomial's coefficients.
    pub fn from_coset(&self, values: &mut [Scalar], cancelled: &(dyn Fn() -> bool + Sync)) -> Result<(), Stopped> {
        self.transform(Finish::InverseCoset, values, cancelled)
    }

    /// Coefficients to values at omega^i.
    pub fn ntt(&self, values: &mut [Scalar], cancelled: &(dyn Fn() -> bool + Sync)) -> Result<(), Stopped> {
        self.transform(Finish::Forward, values, cancelled)
    }

    /// Values at omega^i to coefficients.
    pub fn intt(&self, values: &mut [Scalar], cancelled: &(dyn Fn() -> bool + Sync)) -> Result<(), Stopped> {
        self.transform(Finish::Inverse, values, cancelled)
    }

    fn transform(
        &self,
        finish: Finish,
        values: &mut [Scalar],
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), Stopped> {
        self.check(values.len());
        self.split(finish, values, cancelled)?;
        reverse::reverse(values, self.roots.log_n, cancelled)
    }

    fn split(
        &self,
        finish: Finish,
        values: &mut [Scalar],
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), Stopped> {
        with_engine!(self, engine => passes::split(engine, finish, values, cancelled))
    }

    fn check(&self, len: usize) {
        assert_eq!(len, self.size(), "a slice of the domain's size is required");
    }
}
