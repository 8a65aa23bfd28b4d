//! Development parameters: a Groth16 set-up with a trapdoor of our own.
