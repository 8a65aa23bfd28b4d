//! How many large buffers there are and how many bytes they have, by class and stage.
//!
//! A buffer is counted by a [`Counted`] it owns: made with it, moved with it, gone with it. Nothing else changes the
//! numbers, so success, errors, cancellation and panics all end at zero.

use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::Arc;

/// What a buffer holds, numbered as `PROVER_BUFFER_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Class {
    /// A request's bytes and what they decode to.
    Request = 1,
    /// The values of a partition's variables.
    Witness = 2,
    /// A partition's a, b and c, and the quotient made of them.
    Evaluations = 3,
    /// A circuit's parameters.
    Params = 4,
    /// Pinned staging memory.
    Pinned = 5,
    /// Memory of a device; the CPU's scratch space on the CPU.
    Device = 6,
}

/// What is being done with a buffer, numbered as `PROVE_STAGE_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Stage {
    /// It waits: a request for its turn, a synthesised partition for a lane.
    Queued = 1,
    /// Parameters, from the moment they are read until they are let go.
    Loading = 2,
    /// A partition is being synthesised into it.
    Synthesis = 3,
    /// A lane works on it.
    Device = 4,
    /// The rest of a proof is made from it.
    Finishing = 5,
    /// It is being freed.
    Reclaiming = 6,
}

impl Class {
    /// Every class, in the order of their numbers.
    pub const ALL: [Class; 6] =
        [Class::Request, Class::Witness, Class::Evaluations, Class::Params, Class::Pinned, Class::Device];

    /// The name in metrics and logs.
    pub fn name(self) -> &'static str {
        match self {
            Class::Request => "request",
            Class::Witness => "witness",
            Class::Evaluations => "evaluations",
            Class::Params => "params",
            Class::Pinned => "pinned",
            Class::Device => "device",
        }
    }
}

impl Stage {
    /// Every stage, in the order of their numbers.
    pub const ALL: [Stage; 6] =
        [Stage::Queued, Stage::Loading, Stage::Synthesis, Stage::Device, Stage::Finishing, Stage::Reclaiming];

    /// The name in metrics and logs.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Queued => "queued",
            Stage::Loading => "loading",
            Stage::Synthesis => "synthesis",
            Stage::Device => "device",
            Stage::Finishing => "finishing",
            Stage::Reclaiming => "reclaiming",
        }
    }
}

/// Buffers and bytes, at present and at most so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferStats {
    /// Buffers at present.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The most buffers at one time.
    pub peak_count: u64,
    /// The most bytes at one time.
    pub peak_bytes: u64,
}

#[derive(Default)]
struct Cell {
    count: AtomicU64,
    bytes: AtomicU64,
    peak_count: AtomicU64,
    peak_bytes: AtomicU64,
}

impl Cell {
    // Relaxed everywhere: each number is right by itself, and nobody concludes anything about other memory from it.
    fn add(&self, bytes: u64) {
        let count = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let bytes = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak_count.fetch_max(count, Ordering::Relaxed);
        self.peak_bytes.fetch_max(bytes, Ordering::Relaxed);
    }

    fn sub(&self, bytes: u64) {
        self.count.fetch_sub(1, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn stats(&self) -> BufferStats {
        BufferStats {
            count: self.count.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            peak_count: self.peak_count.load(Ordering::Relaxed),
            peak_bytes: self.peak_bytes.load(Ordering::Relaxed),
        }
    }
}

/// One engine's counters.
#[derive(Default)]
pub struct Buffers {
    /// By class, and in each the total, then the stages.
    cells: [[Cell; 7]; 6],
}

impl Buffers {
    /// Buffers of a class in a stage; `None`: in all of them.
    pub fn stats(&self, class: Class, stage: Option<Stage>) -> BufferStats {
        self.cells[class as usize - 1][stage.map_or(0, |s| s as usize)].stats()
    }

    fn cell(&self, class: Class, stage: Stage) -> &Cell {
        &self.cells[class as usize - 1][stage as usize]
    }

    fn total(&self, class: Class) -> &Cell {
        &self.cells[class as usize - 1][0]
    }
}

/// Counts a buffer for as long as it lives.
pub struct Counted {
    buffers: Arc<Buffers>,
    class: Class,
    stage: Stage,
    bytes: u64,
}

impl Counted {
    /// Counts a buffer of `bytes`.
    pub fn new(buffers: &Arc<Buffers>, class: Class, stage: Stage, bytes: u64) -> Self {
        buffers.total(class).add(bytes);
        buffers.cell(class, stage).add(bytes);
        Counted { buffers: buffers.clone(), class, stage, bytes }
    }

    /// The buffer has no more than `bytes` from here on.
    pub fn shrink_to(&mut self, bytes: u64) {
        let less = self.bytes.saturating_sub(bytes);
        self.buffers.cell(self.class, self.stage).bytes.fetch_sub(less, Ordering::Relaxed);
        self.buffers.total(self.class).bytes.fetch_sub(less, Ordering::Relaxed);
        self.bytes -= less;
    }

    /// The buffer is in another stage from here on.
    pub fn enter(&mut self, stage: Stage) {
        if stage != self.stage {
            // Who reads several cells may see the buffer in both or in none; the class's total is right at any time.
            self.buffers.cell(self.class, stage).add(self.bytes);
            self.buffers.cell(self.class, self.stage).sub(self.bytes);
            self.stage = stage;
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.buffers.cell(self.class, self.stage).sub(self.bytes);
        self.buffers.total(self.class).sub(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_follow_the_buffers() {
        let buffers = Arc::new(Buffers::default());
        let get = |stage| {
            let s = buffers.stats(Class::Witness, stage);
            (s.count, s.bytes, s.peak_count, s.peak_bytes)
        };
        let mut a = Counted::new(&buffers, Class::Witness, Stage::Synthesis, 100);
        let b = Counted::new(&buffers, Class::Witness, Stage::Synthesis, 10);
        assert_eq!(get(None), (2, 110, 2, 110));
        a.enter(Stage::Device);
        assert_eq!(get(Some(Stage::Synthesis)), (1, 10, 2, 110));
        assert_eq!(get(Some(Stage::Device)), (1, 100, 1, 100));
        a.shrink_to(200);
        a.shrink_to(60);
        assert_eq!((get(None), get(Some(Stage::Device))), ((2, 70, 2, 110), (1, 60, 1, 100)));
        drop(a);
        assert_eq!(get(None), (1, 10, 2, 110));
        drop(b);
        for class in Class::ALL {
            for stage in Stage::ALL.into_iter().map(Some).chain([None]) {
                let s = buffers.stats(class, stage);
                assert_eq!((s.count, s.bytes), (0, 0));
            }
        }
    }
}
