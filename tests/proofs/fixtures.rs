//! The sealed sectors under tests/data, and a visitor that counts.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use bellpepper_core::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::PrimeField;
use filecoin_proofs_api::seal::SealCommitPhase1Output;
use splitprove::error::Result;
use splitprove::proofs::{self, public_from_json, request_from_json, CircuitVisitor, Decoded, Kind, Public, Request};

pub const POREPS: [&str; 3] = ["porep-2k", "porep-2k-noninteractive", "porep-8m"];

pub fn data(path: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(path);
    fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Decodes what nobody cancels.
pub fn decode(request: &Request, bytes: &[u8]) -> Result<Decoded> {
    proofs::decode(request, bytes, &AtomicBool::new(false))
}

/// A sealed sector of tests/data.
pub struct Porep {
    pub json: Vec<u8>,
    pub wrapped: Vec<u8>,
    pub bincode: Vec<u8>,
    pub request: Request,
    pub public: Public,
    /// By partition, as filecoin-proofs gave them.
    pub inputs: Vec<Vec<Scalar>>,
}

impl Porep {
    pub fn load(name: &str) -> Self {
        let json = data(&format!("{name}/c1.json"));
        let c1: SealCommitPhase1Output = serde_json::from_slice(&json).unwrap();
        let public = data(&format!("{name}/public.json"));
        let values: serde_json::Value = serde_json::from_slice(&public).unwrap();
        let inputs: Vec<Vec<String>> = serde_json::from_value(values["public_inputs_le_hex"].clone()).unwrap();
        let scalar = |h: &String| Scalar::from_repr_vartime(hex::decode(h).unwrap().try_into().unwrap()).unwrap();
        Porep {
            json,
            wrapped: data(&format!("{name}/c1.lotus-bench.json")),
            bincode: bincode::serialize(&c1).unwrap(),
            request: request_from_json(Kind::Porep, &public).unwrap(),
            public: public_from_json(Kind::Porep, &public).unwrap(),
            inputs: inputs.iter().map(|k| k.iter().map(scalar).collect()).collect(),
        }
    }

    pub fn decode(&self) -> Decoded {
        decode(&self.request, &self.json).unwrap()
    }
}

/// Visits by running a closure's worth of counting: constraints, inputs (the constant one included), aux.
pub struct Count;

impl CircuitVisitor for Count {
    type Output = (usize, usize, usize);
    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Self::Output {
        let mut system = Counter { constraints: 0, inputs: 1, aux: 0 };
        circuit.synthesize(&mut system).unwrap();
        (system.constraints, system.inputs, system.aux)
    }
}

struct Counter {
    constraints: usize,
    inputs: usize,
    aux: usize,
}

impl ConstraintSystem<Scalar> for Counter {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.aux += 1;
        Ok(Variable::new_unchecked(Index::Aux(self.aux - 1)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.inputs += 1;
        Ok(Variable::new_unchecked(Index::Input(self.inputs - 1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, _: LA, _: LB, _: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
        self.constraints += 1;
    }

    fn push_namespace<NR, N>(&mut self, _: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
    }

    fn pop_namespace(&mut self) {}

    fn get_root(&mut self) -> &mut Self {
        self
    }
}
