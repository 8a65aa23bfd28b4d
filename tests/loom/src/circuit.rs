//! As much of a circuit as the parameters' table needs.

/// A circuit's dimensions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape;
