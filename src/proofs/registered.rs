//! Go's numbers of registered proofs, and what they stand for.
