//! What a circuit calls its rows, found by synthesising it again.

use bellpepper_core::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;

use crate::circuit::compiled::RowNames;
use crate::proofs::{CircuitId, CircuitVisitor};

/// The path of namespaces to a row and the row's name. No value is computed, so a blank circuit will do. `None` when the
/// circuit has no such row.
pub fn row_name<C: Circuit<Scalar>>(circuit: C, row: usize) -> Option<String> {
    let mut system = NamingSystem { left: row, path: Vec::new(), found: None };
    // It fails once the row is found.
    let _ = circuit.synthesize(&mut system);
    system.found
}

/// The rows of Filecoin's circuits.
pub struct FilecoinRows(pub CircuitId);

impl RowNames for FilecoinRows {
    fn name(&self, row: usize) -> Option<String> {
        struct Name(usize);
        impl CircuitVisitor for Name {
            type Output = Option<String>;
            fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Self::Output {
                row_name(circuit, self.0)
            }
        }
        self.0.with_blank_circuit(Name(row)).ok()?
    }
}

/// Counts rows and remembers where it is.
struct NamingSystem {
    /// Rows before the one looked for.
    left: usize,
    path: Vec<String>,
    found: Option<String>,
}

impl NamingSystem {
    fn go_on(&self) -> Result<Variable, SynthesisError> {
        match self.found {
            None => Ok(Variable::new_unchecked(Index::Aux(0))),
            Some(_) => Err(SynthesisError::Unsatisfiable),
        }
    }
}

impl ConstraintSystem<Scalar> for NamingSystem {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.go_on()
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.go_on()
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, name: A, _: LA, _: LB, _: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
        if self.found.is_some() {
            return;
        }
        match self.left.checked_sub(1) {
            Some(left) => self.left = left,
            None => {
                let name: String = name().into();
                self.path.push(name);
                self.found = Some(self.path.join("/"));
                self.path.pop();
            }
        }
    }

    fn push_namespace<NR, N>(&mut self, name: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
        self.path.push(if self.found.is_none() { name().into() } else { String::new() });
    }

    fn pop_namespace(&mut self) {
        self.path.pop();
    }

    fn get_root(&mut self) -> &mut Self {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nested;

    impl Circuit<Scalar> for Nested {
        fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
            for i in 0..3 {
                let mut cs = cs.namespace(|| format!("outer {i}"));
                for j in 0..2 {
                    let mut cs = cs.namespace(|| format!("inner {j}"));
                    cs.alloc(|| "x", || Err(SynthesisError::AssignmentMissing))?;
                    cs.enforce(|| "row", |l| l, |l| l, |l| l);
                }
                cs.enforce(|| "sum", |l| l, |l| l, |l| l);
            }
            Ok(())
        }
    }

    #[test]
    fn rows_have_paths() {
        let expected = ["outer 0/inner 0/row", "outer 0/inner 1/row", "outer 0/sum", "outer 1/inner 0/row"];
        for (row, name) in expected.into_iter().enumerate() {
            assert_eq!(row_name(Nested, row).as_deref(), Some(name));
        }
        assert_eq!(row_name(Nested, 8).as_deref(), Some("outer 2/sum"));
        assert_eq!(row_name(Nested, 9), None);
    }
}
