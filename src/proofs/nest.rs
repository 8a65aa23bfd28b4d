//! Where in a JSON value of any depth its reader stands, in a bit a level.

use super::session::Session;
use crate::error::Result;

/// What encloses a value passed over, one bit a level: set for an object.
#[derive(Default)]
pub(crate) struct Nest {
    full: Vec<u64>,
    top: u64,
    depth: usize,
}

impl Nest {
    /// Into an object, or else an array. `OUT_OF_MEMORY` names `vanilla`.
    pub fn push(&mut self, session: &Session<'_>, object: bool) -> Result<()> {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            session.push(&mut self.full, self.top)?;
        }
        self.top = self.top << 1 | u64::from(object);
        self.depth += 1;
        Ok(())
    }

    /// Out of the innermost; there must be one.
    pub fn pop(&mut self) {
        self.depth -= 1;
        self.top >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.top = self.full.pop().unwrap_or_default();
        }
    }

    /// Whether the innermost is an object; `None` outside of all.
    pub fn is_object(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.top & 1 == 1)
    }
}
