//! Every scenario of `src/engine/README.md`, on the pipeline as it is.

use splitprove_loom::scenarios::*;

macro_rules! holds {
    ($($module:ident::$scenario:ident,)*) => { $(
        #[test]
        fn $scenario() {
            $module::$scenario();
        }
    )* };
}

holds! {
    wake_up::bytes_come_back_while_the_dispatcher_looks,
    hand_over::a_permit_lives_as_long_as_the_memory,
    hand_over::a_room_s_buffers_share_its_permit,
    hand_over::a_budget_is_never_exceeded,
    cancel::cancel_against_finish,
    cancel::cancel_against_failure,
    cancel::a_job_that_is_left_alone_ends_well,
    drain::drain_against_start,
    drain::drain_and_shutdown_against_start,
    reclaim::push_against_close,
    reclaim::push_wakes_the_reclaimer,
    order::a_large_partition_is_not_starved,
    evict::an_eviction_leaves_a_task_its_parameters,
    evict::a_job_under_way_makes_room_for_a_more_urgent_one,
    counters::moves_against_readers,
    counters::a_total_does_not_see_moves,
}

/// The comment at `Counted::enter` says so.
#[test]
#[should_panic(expected = "left: 0")]
fn a_sum_over_stages_may_miss_a_buffer() {
    counters::a_sum_over_stages_may_miss_a_buffer();
}
