//! What `prove` and `bench` hand to the engine: a request from files, which must say the same as its public statement.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use splitprove::engine::{self, Engine, Places, Priority, Source, Submission, Work};
use splitprove::error::Result;
use splitprove::memory::Buf;
use splitprove::proofs::{self, public_json, Public, Request};

use crate::args::Statement;
use crate::input;

/// A request and its public statement.
pub struct Stated {
    request: Request,
    public: Public,
    vanilla: Buf<u8>,
}

impl Stated {
    /// Reads the statement and the vanilla proofs.
    pub fn read(statement: &Statement, inputs: &[PathBuf]) -> Result<Self> {
        let text = input::read("public", &statement.public)?;
        let public = public_json::public_from_json(statement.kind, &text)?;
        let mut request = public_json::request_from_json(statement.kind, &text)?;
        let (vanilla, lens) = input::read_vanilla(inputs)?;
        request.vanilla_lens = lens;
        Ok(Stated { request, public, vanilla })
    }

    /// The public statement.
    pub fn public(&self) -> &Public {
        &self.public
    }

    /// The same request once more, with bytes of its own.
    pub fn copy(&self) -> Result<Self> {
        Ok(Stated {
            request: self.request.clone(),
            public: self.public.clone(),
            vanilla: Buf::copy_of("vanilla", &self.vanilla)?,
        })
    }

    /// A submission to `engine`, with the caller's number for it.
    pub fn submission(self, engine: &Engine, priority: Priority, key: u64) -> Submission {
        let Stated { request, public, vanilla } = self;
        Submission {
            source: Box::new(Compared { request, public, vanilla, places: Places::new(engine.options()) }),
            priority,
            deadline: None,
            tag: 0,
            key,
            request_id: String::new(),
            fingerprint: 0,
        }
    }
}

/// Request and statement are compared before anything is proved.
struct Compared {
    request: Request,
    public: Public,
    vanilla: Buf<u8>,
    places: Places,
}

impl Source for Compared {
    fn bytes(&self) -> usize {
        self.vanilla.len()
    }

    fn decode(&self, cancelled: &AtomicBool) -> Result<Box<dyn Work>> {
        let decoded = proofs::decode(&self.request, &self.vanilla, cancelled)?;
        decoded.agrees_with(&self.public)?;
        engine::work(decoded, &self.places, cancelled)
    }
}
