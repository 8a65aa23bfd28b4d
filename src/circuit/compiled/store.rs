//! Compiled circuits in the circuit cache.
