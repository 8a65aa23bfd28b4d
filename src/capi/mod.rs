//! The C surface.
