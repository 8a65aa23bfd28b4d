//! That the scenarios can fail: each on a pipeline with one thing broken (`mutations.txt`).

use splitprove_loom::mutants;

macro_rules! notices {
    ($($mutant:ident: $module:ident::$scenario:ident, $how:literal;)*) => { $(
        #[test]
        #[should_panic(expected = $how)]
        fn $mutant() {
            mutants::$mutant::scenarios::$module::$scenario();
        }
    )* };
}

// A mutant, the scenario that notices, and how.
notices! {
    signal_without_its_counter: wake_up::bytes_come_back_while_the_dispatcher_looks, "deadlock";
    budget_tells_too_early: wake_up::bytes_come_back_while_the_dispatcher_looks, "deadlock";
    dispatcher_looks_first: wake_up::bytes_come_back_while_the_dispatcher_looks, "deadlock";
    budget_without_compare: hand_over::a_budget_is_never_exceeded, "assertion";
    permit_ends_at_the_push: hand_over::a_permit_lives_as_long_as_the_memory, "left: (20";
    bytes_before_memory: hand_over::a_permit_lives_as_long_as_the_memory, "left: (20";
    permit_ends_with_synthesis: hand_over::a_permit_lives_as_long_as_the_memory, "left: (20";
    room_gives_back_all: hand_over::a_room_s_buffers_share_its_permit, "assertion";
    stop_leaves_the_ready_in_flight: cancel::cancel_against_finish, "deadlock";
    over_with_partitions_left: cancel::a_job_that_is_left_alone_ends_well, "assertion";
    refused_is_forgotten: cancel::cancel_against_finish, "deadlock";
    cancel_ends_at_once: cancel::cancel_against_finish, "assertion";
    over_without_taking_it: cancel::cancel_against_failure, "left: (2";
    door_without_the_lock: drain::drain_against_start, "ends";
    ending_is_not_counted: drain::drain_against_start, "ends";
    end_is_told_first: drain::drain_against_start, "deadlock";
    shutdown_forgets_the_arrived: drain::drain_and_shutdown_against_start, "deadlock";
    push_into_a_closed_queue: reclaim::push_against_close, "assertion";
    reclaimer_leaves_things: reclaim::push_against_close, "assertion";
    push_in_silence: reclaim::push_wakes_the_reclaimer, "deadlock";
    small_ones_go_first: order::a_large_partition_is_not_starved, "left: [2, 1]";
    parameters_at_the_pick_up: evict::an_eviction_leaves_a_task_its_parameters, "assertion";
    parameters_kept_by_a_job: evict::a_job_under_way_makes_room_for_a_more_urgent_one, "deadlock";
    moved_twice: counters::moves_against_readers, "overflow";
    total_is_forgotten: counters::moves_against_readers, "assertion";
    count_without_read_modify_write: counters::moves_against_readers, "assertion";
}
