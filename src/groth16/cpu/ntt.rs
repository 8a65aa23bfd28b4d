//! Number-theoretic transforms.
