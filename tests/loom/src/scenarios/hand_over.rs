//! Permit across hand-over.

use loom::thread;

use super::gauge::{Gauge, Memory};
use super::{check, demand, scheduler};
use crate::engine::{Scheduler, Task, Turn};
use crate::memory::{Accounts, Budget, Buf, Held, Reclaimer, Room, Signal};
use crate::sync::{lock, Arc, Mutex};
use crate::telemetry::{Buffers, Class, Stage};

/// A partition's bytes.
const BYTES: u64 = 10;

struct Pipeline {
    accounts: Accounts,
    dispatch: Arc<Signal>,
    handed: Signal,
    scheduler: Mutex<Scheduler<Held<Memory>>>,
    gauge: Arc<Gauge>,
}

fn accounts(total: u64, dispatch: &Arc<Signal>) -> Accounts {
    Accounts {
        budget: Arc::new(Budget::new(total, 0, dispatch.clone())),
        buffers: Arc::new(Buffers::default()),
        reclaimer: Arc::new(Reclaimer::default()),
    }
}

/// Nothing is taken, counted or waits to be freed.
fn assert_all_is_back(accounts: &Accounts) {
    assert_eq!((accounts.budget.used(), accounts.reclaimer.waiting(), accounts.reclaimer.places()), (0, 0, 0));
    for class in Class::ALL {
        let all = accounts.buffers.stats(class, None);
        assert_eq!((all.count, all.bytes), (0, 0), "{}", class.name());
    }
}

impl Pipeline {
    fn synthesise(&self) {
        let Task { ticket, partition, urgent, permit } = loop {
            let seen = self.dispatch.seen();
            let turn = lock(&self.scheduler).turn(&self.accounts.budget);
            match turn {
                Turn::Synthesise(task) => break task,
                _ => self.dispatch.wait(seen, None),
            }
        };
        let charge = self.accounts.charge(Class::Witness, Stage::Synthesis, permit);
        let memory = Held::new(Memory::new(&self.gauge, BYTES), charge);
        let refused = lock(&self.scheduler).synthesised(ticket, partition, urgent, Some(memory));
        assert!(refused.is_none());
        self.handed.notify();
    }

    fn prove(&self) {
        let handed = loop {
            let seen = self.handed.seen();
            let taken = lock(&self.scheduler).take();
            match taken {
                Some(handed) => break handed,
                None => self.handed.wait(seen, None),
            }
        };
        // To the reclaimer, which frees it some time later.
        drop(handed.payload);
        lock(&self.scheduler).done(handed.ticket);
        self.dispatch.notify();
    }
}

/// Two partitions with a budget for one go from synthesis through the ready queue, the lane and the reclaimer. There is
/// never more memory than the budget has: the second one's synthesis waits until the first one's memory is gone, not
/// until it has been handed over, proved or pushed.
pub fn a_permit_lives_as_long_as_the_memory() {
    check(2, 3, || {
        let dispatch = Arc::new(Signal::default());
        let pipeline = Arc::new(Pipeline {
            accounts: accounts(BYTES, &dispatch),
            dispatch,
            handed: Signal::default(),
            scheduler: Mutex::new(scheduler(&[demand(1, 2, BYTES)])),
            gauge: Arc::default(),
        });
        let p = pipeline.clone();
        let synthesis = thread::spawn(move || (0..2).for_each(|_| p.synthesise()));
        let p = pipeline.clone();
        let reclaimer = thread::spawn(move || p.accounts.reclaimer.run(drop));
        (0..2).for_each(|_| pipeline.prove());
        synthesis.join().expect("synthesis ends");
        pipeline.accounts.reclaimer.close();
        reclaimer.join().expect("the reclaimer ends");
        assert_eq!((pipeline.gauge.most(), pipeline.gauge.now(), pipeline.gauge.pieces()), (BYTES, 0, (2, 2)));
        assert_eq!(pipeline.accounts.budget.peak(), BYTES);
        assert_all_is_back(&pipeline.accounts);
    });
}

/// A partition's real buffers take their shares of its room on one thread and are dropped on another while a third takes
/// what the room gave back.
pub fn a_room_s_buffers_share_its_permit() {
    check(3, 4, || {
        const PAGE: u64 = 4096;
        let dispatch = Arc::new(Signal::default());
        let accounts = accounts(4 * PAGE, &dispatch);
        let permit = accounts.budget.try_take(4 * PAGE, false).expect("nothing is taken");
        let mut room = Room::new(&accounts, permit, PAGE, Stage::Synthesis);
        let buf: Buf<u8> = room.buf("test", Class::Witness, PAGE as usize).expect("a page");
        let a = accounts.clone();
        let reclaimer = thread::spawn(move || a.reclaimer.run(drop));
        let budget = accounts.budget.clone();
        let other = thread::spawn(move || loop {
            let seen = dispatch.seen();
            if let Some(permit) = budget.try_take(3 * PAGE, false) {
                break permit.bytes();
            }
            dispatch.wait(seen, None);
        });
        room.enter(Stage::Device);
        room.close();
        let used = accounts.budget.used();
        let scratch = accounts.buffers.stats(Class::Device, Some(Stage::Device)).bytes;
        drop(buf);
        drop(room);
        assert_eq!(other.join().expect("it gets its bytes"), 3 * PAGE);
        accounts.reclaimer.close();
        reclaimer.join().expect("the reclaimer ends");
        // The buffer's page and the scratch space's: too much for the other one to have been served.
        assert_eq!((used, scratch), (2 * PAGE, PAGE));
        assert_all_is_back(&accounts);
    });
}

/// Two threads take from a budget that has room for one of them.
pub fn a_budget_is_never_exceeded() {
    check(4, 8, || {
        let budget = Arc::new(Budget::new(10, 0, Arc::default()));
        let gauge: Arc<Gauge> = Arc::default();
        let takers = [6, 7].map(|bytes| {
            let (budget, gauge) = (budget.clone(), gauge.clone());
            thread::spawn(move || {
                let permit = budget.try_take(bytes, false);
                let memory = permit.as_ref().map(|p| Memory::new(&gauge, p.bytes()));
                assert!(budget.used() <= budget.total());
                drop(memory);
                drop(permit);
            })
        });
        assert!(budget.used() <= budget.total());
        let _ = takers.map(|thread| thread.join().expect("it ends"));
        assert!(gauge.most() <= 10 && gauge.most() >= 6 && budget.peak() <= 10);
        assert_eq!(budget.used(), 0);
    });
}
