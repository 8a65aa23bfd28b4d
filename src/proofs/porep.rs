//! PoRep C2.
