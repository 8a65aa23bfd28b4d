//! What JSON and bincode have in common for those who read a C1 from them.
//!
//! A reader knows what it expects before it looks: which fields, how many items. So it holds nothing but what it has
//! read, in one pass, and what is wrong is refused where it stands.

use super::place::Place;
use super::session::Session;
use crate::error::Result;

/// Reads values one after the other. `MALFORMED_INPUT` names the place given with each.
pub(crate) trait Reader {
    /// The cancel flag and the memory.
    fn session(&self) -> &Session<'_>;

    /// A struct: calls `each` once for every name, with its number and place, in the order of the input.
    fn fields(
        &mut self,
        place: &Place<'_>,
        names: &[&'static str],
        each: impl FnMut(&mut Self, usize, &Place<'_>) -> Result<()>,
    ) -> Result<()>;

    /// A sequence of exactly `expected` items: calls `each` for every one. `what` is their word in messages.
    fn items(
        &mut self,
        place: &Place<'_>,
        what: &str,
        expected: usize,
        each: impl FnMut(&mut Self, &Place<'_>) -> Result<()>,
    ) -> Result<()>;

    /// One of several variants: calls `content` with its number among the names, which reads the variant's value.
    fn variant<T>(
        &mut self,
        place: &Place<'_>,
        names: &[&str],
        content: impl FnOnce(&mut Self, usize) -> Result<T>,
    ) -> Result<T>;

    /// One of several names without a value: its number.
    fn name(&mut self, place: &Place<'_>, names: &[&str]) -> Result<usize>;

    /// Nothing, as it is written.
    fn unit(&mut self, place: &Place<'_>) -> Result<()>;

    /// 32 numbers below 256.
    fn bytes32(&mut self, place: &Place<'_>) -> Result<[u8; 32]>;

    /// A number below 2^32.
    fn u32(&mut self, place: &Place<'_>) -> Result<u32>;

    /// A number below 2^64.
    fn u64(&mut self, place: &Place<'_>) -> Result<u64>;

    /// A sequence of exactly `expected` items, each read by `each`.
    fn list<T>(
        &mut self,
        place: &Place<'_>,
        what: &str,
        expected: usize,
        mut each: impl FnMut(&mut Self, &Place<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut list = self.session().vec(expected)?;
        self.items(place, what, expected, |reader, at| {
            list.push(each(reader, at)?);
            Ok(())
        })?;
        Ok(list)
    }
}
