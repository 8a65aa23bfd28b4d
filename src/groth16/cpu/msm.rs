//! Multi-scalar multiplication.
