//! A circuit's matrices, recorded.
