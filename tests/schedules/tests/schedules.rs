//! Shared state under many schedules: as shipped it keeps its rules, and each planted mistake breaks one.

use schedules::{
    answer_metrics, answers, assert_caught, breaker, briefly, counts, current_link, delivered, demand, explore,
    explore_all, forgeries, kept_each, lanes_seen, limiter, line_cache, made, missed, once_per_span, pacer, read_limit,
    refreshed, sold_out_mark, together, turns, waking_clock, watched,
};

#[test]
fn a_value_is_served_while_one_task_reads_it_again() {
    use refreshed::as_it_is::scenario::*;
    explore(one_reading_serves_all_who_wait);
    explore(one_task_reads_it_again);
    explore(a_reading_outlives_its_caller);
    explore(it_never_goes_back_and_nobody_is_stuck);
    assert_caught(refreshed::read_without_the_lock::scenario::one_reading_serves_all_who_wait, "one task reads");
    assert_caught(refreshed::not_looked_again::scenario::one_reading_serves_all_who_wait, "one reading serves all");
    assert_caught(refreshed::beside_not_looked_again::scenario::one_task_reads_it_again, "one task reads it again");
    assert_caught(refreshed::lock_released_early::scenario::one_task_reads_it_again, "one task reads");
    let given_up = refreshed::reading_ends_with_its_caller::scenario::a_reading_outlives_its_caller;
    assert_caught(given_up, "a reading outlives its caller");
}

#[test]
fn one_call_tries_a_part_that_is_left_alone() {
    explore(breaker::as_it_is::scenario::one_call_tries);
    assert_caught(breaker::several_try::scenario::one_call_tries, "one call tries");
    assert_caught(breaker::calls_from_before_count::scenario::one_call_tries, "one call tries");
    assert_caught(breaker::a_try_that_is_given_up_stays::scenario::one_call_tries, "it is asked again");
}

#[test]
fn one_link_is_made_and_the_first_who_finds_it_silent_replaces_it() {
    use current_link::as_it_is::scenario::*;
    explore(one_makes_a_link_for_all);
    explore(the_first_replaces_it);
    explore(old_credentials_do_not_come_back);
    explore(one_connects_and_leaves_it_to_others_after);
    assert_caught(current_link::not_looked_again::scenario::one_makes_a_link_for_all, "one makes a link for all");
    assert_caught(current_link::stored_not_swapped::scenario::the_first_replaces_it, "the first replaces it");
    let old = current_link::stored_not_swapped::scenario::old_credentials_do_not_come_back;
    assert_caught(old, "old credentials do not come back");
    assert_caught(current_link::permit_dropped::scenario::one_connects_and_leaves_it_to_others_after, "one connects");
}

#[test]
fn one_request_searches_the_lanes() {
    use lanes_seen::as_it_is::scenario::*;
    explore(one_request_searches);
    explore(what_is_found_later_holds);
    explore(all_see_the_same_round);
    assert_caught(lanes_seen::lock_dropped::scenario::one_request_searches, "one request searches");
    assert_caught(lanes_seen::looked_up_then_kept::scenario::all_see_the_same_round, "all see the same round");
}

#[test]
fn the_sold_out_mark_never_covers_a_winner() {
    use sold_out_mark::as_it_is::scenario::*;
    explore(no_winner_hears_that_all_is_sold);
    explore(one_task_reads_the_names);
    let any_win = sold_out_mark::names_as_of_any_win::scenario::no_winner_hears_that_all_is_sold;
    assert_caught(any_win, "no winner hears that all is sold");
    assert_caught(sold_out_mark::reading_not_held::scenario::one_task_reads_the_names, "one task reads the names");
}

#[test]
fn no_more_turns_are_taken_than_were_leased() {
    use turns::as_it_is::scenario::*;
    explore(no_more_turns_than_were_leased);
    explore(a_turn_that_is_given_back_is_there);
    explore(a_silent_redis_is_asked_once_a_second);
    assert_caught(turns::lock_dropped::scenario::no_more_turns_than_were_leased, "one request asks Redis for all");
    assert_caught(turns::loaded_then_stored::scenario::a_turn_that_is_given_back_is_there, "is given back is there");
    assert_caught(turns::no_pause::scenario::a_silent_redis_is_asked_once_a_second, "is asked once a second");
}

#[test]
fn each_answer_is_flushed_once() {
    explore(answers::as_it_is::scenario::each_answer_is_flushed_once);
    let deaf = answers::done_before_it_may_be_asked_for::scenario::each_answer_is_flushed_once;
    assert_caught(deaf, "each answer is flushed once");
    assert_caught(answers::copied_then_cleared::scenario::each_answer_is_flushed_once, "each answer is flushed once");
}

#[test]
fn each_hears_what_became_of_its_message() {
    use together::as_it_is::scenario::*;
    explore(each_hears_of_its_own_message);
    explore(a_full_batch_goes_at_once);
    assert_caught(together::not_sent_again::scenario::each_hears_of_its_own_message, "each hears of its own message");
    assert_caught(together::grows::scenario::a_full_batch_goes_at_once, "a batch is not too large");
    assert_caught(together::mixed_up::scenario::each_hears_of_its_own_message, "each hears of its own message");
}

#[test]
fn each_request_is_counted_as_demand_once() {
    explore_all(demand::as_it_is::scenario::each_request_is_reported_once);
    assert_caught(demand::loaded_then_stored::scenario::each_request_is_reported_once, "reported once");
}

#[test]
fn a_change_of_a_list_holds_for_all_in_time() {
    use kept_each::as_it_is::scenario::*;
    explore(a_change_holds_for_all_in_time);
    explore(what_began_later_stays);
    let late = kept_each::counted_from_the_end::scenario::a_change_holds_for_all_in_time;
    assert_caught(late, "a change holds for all in time");
    let frozen = kept_each::counted_by_the_cache::scenario::a_change_holds_for_all_in_time;
    assert_caught(frozen, "a change holds for all in time");
    assert_caught(kept_each::the_last_one_is_kept::scenario::what_began_later_stays, "what began later stays");
    explore(what_is_old_makes_room);
    assert_caught(kept_each::an_old_one_is_kept::scenario::what_is_old_makes_room, "what is old makes room");
}

#[test]
fn one_reads_a_watched_round_for_all_and_the_ledger_rests() {
    use watched::as_it_is::scenario::*;
    explore(one_reads_a_round_for_all);
    explore(what_is_final_is_not_read_again);
    explore(the_ledger_rests_after_each_read);
    assert_caught(watched::looked_up_then_kept::scenario::one_reads_a_round_for_all, "one reads a round for all");
    assert_caught(watched::not_looked_again::scenario::one_reads_a_round_for_all, "one reads a round for all");
    let at_once = watched::no_rest_when_given_up::scenario::the_ledger_rests_after_each_read;
    assert_caught(at_once, "the ledger rests after each read");
    let lost = watched::taken_out_while_it_is_read::scenario::what_is_final_is_not_read_again;
    assert_caught(lost, "what is final is not read again");
    let frozen = watched::counted_while_it_runs::scenario::the_ledger_rests_after_each_read;
    assert_caught(frozen, "it is read again");
}

#[test]
fn forgeries_are_reported_no_more_often_than_block_a_user() {
    use forgeries::as_it_is::scenario::*;
    explore_all(no_more_are_reported_than_block_a_user);
    explore_all(a_blocked_user_is_not_reported);
    use forgeries::looked_up_then_kept::scenario as mistaken;
    assert_caught(mistaken::no_more_are_reported_than_block_a_user, "no more are reported");
    assert_caught(mistaken::a_blocked_user_is_not_reported, "a blocked user is not reported");
}

#[test]
fn no_more_than_a_burst_passes_at_once() {
    explore(limiter::as_it_is::scenario::no_more_than_a_burst_at_once);
    assert_caught(limiter::looked_up_then_kept::scenario::no_more_than_a_burst_at_once, "no more than a burst");
}

#[test]
fn the_clock_of_the_rates_never_goes_back() {
    explore_all(waking_clock::as_it_is::scenario::it_never_goes_back);
    explore_all(waking_clock::as_it_is::scenario::it_does_not_stand_still);
    let latest = waking_clock::the_latest_is_shown::scenario::it_does_not_stand_still;
    assert_caught(latest, "it does not stand still");
    assert_caught(waking_clock::loaded_then_stored::scenario::it_never_goes_back, "it never goes back");
}

#[test]
fn all_share_a_dependency_that_two_made() {
    explore_all(made::as_it_is::scenario::all_share_one);
    assert_caught(made::the_last_one_is_kept::scenario::all_share_one, "all share one");
}

#[test]
fn a_span_of_time_is_taken_once() {
    explore(once_per_span::as_it_is::scenario::a_span_is_taken_once);
    assert_caught(once_per_span::loaded_then_stored::scenario::a_span_is_taken_once, "a span is taken once");
}

#[test]
fn all_that_counts_is_called_for_whoever_publishes() {
    explore(counts::as_it_is::scenario::all_counts_are_called_for_each);
    assert_caught(counts::taken_out_while_called::scenario::all_counts_are_called_for_each, "are called for each");
}

#[test]
fn each_answer_is_reported_once() {
    explore(answer_metrics::as_it_is::scenario::each_answer_is_reported_once);
    assert_caught(answer_metrics::loaded_then_stored::scenario::each_answer_is_reported_once, "reported once");
}

#[test]
fn each_turn_of_the_pacer_has_a_moment_of_its_own() {
    explore(pacer::as_it_is::scenario::each_has_a_moment_of_its_own);
    assert_caught(pacer::looked_up_then_kept::scenario::each_has_a_moment_of_its_own, "a moment of its own");
}

#[test]
fn each_user_whom_redis_missed_is_told_of_once() {
    explore(missed::as_it_is::scenario::each_user_is_told_of_once);
    assert_caught(missed::not_noted_again::scenario::each_user_is_told_of_once, "each user is told of once");
    assert_caught(missed::looked_up_then_taken::scenario::each_user_is_told_of_once, "each user is told of once");
}

#[test]
fn one_looks_at_a_line_for_all_and_it_never_moves_back() {
    use line_cache::as_it_is::scenario::*;
    explore(one_looks_for_all);
    explore(the_watermark_never_moves_back);
    explore(what_was_seen_before_a_freeze_is_not_shown_after_it);
    assert_caught(line_cache::looked_up_then_kept::scenario::one_looks_for_all, "one looks for all");
    assert_caught(line_cache::lock_released_early::scenario::one_looks_for_all, "one looks for all");
    let lost = line_cache::taken_out_during_a_look::scenario::the_watermark_never_moves_back;
    assert_caught(lost, "the watermark never moves back");
    let old = line_cache::a_look_may_be_old::scenario::what_was_seen_before_a_freeze_is_not_shown_after_it;
    assert_caught(old, "what was seen before a freeze is not shown after it");
}

#[test]
fn what_is_shown_is_read_by_one_for_all_and_not_from_before_a_freeze() {
    use briefly::as_it_is::scenario::*;
    explore(one_reads_for_all);
    explore(what_was_read_before_a_freeze_is_not_shown_after_it);
    explore(one_reads_again_for_all);
    explore(a_failure_from_before_a_freeze_is_nobodys_after_it);
    let failed = briefly::a_failure_may_be_old::scenario::a_failure_from_before_a_freeze_is_nobodys_after_it;
    assert_caught(failed, "a failure from before a freeze is nobody's after it");
    assert_caught(briefly::each_reads::scenario::one_reads_for_all, "one reads for all");
    let again = briefly::removed_although_read_again::scenario::one_reads_again_for_all;
    assert_caught(again, "one reads again for all");
    let joined = briefly::a_joined_read_may_be_old::scenario::what_was_read_before_a_freeze_is_not_shown_after_it;
    assert_caught(joined, "what was read before a freeze is not shown after it");
    let late = briefly::counted_from_the_end::scenario::what_was_read_before_a_freeze_is_not_shown_after_it;
    assert_caught(late, "what was read before a freeze is not shown after it");
}

#[test]
fn a_few_draws_are_looked_up_at_once() {
    explore(read_limit::as_it_is::scenario::a_few_at_once_and_a_dropped_one_makes_room);
    let crowded = read_limit::room_left_at_once::scenario::a_few_at_once_and_a_dropped_one_makes_room;
    assert_caught(crowded, "a few look up draws at once");
    let stuck = read_limit::room_kept_when_dropped::scenario::a_few_at_once_and_a_dropped_one_makes_room;
    assert_caught(stuck, "a dropped one makes room");
}

#[test]
fn whoever_was_told_of_a_change_is_known() {
    explore_all(delivered::as_it_is::scenario::whoever_was_told_is_known);
    assert_caught(delivered::looked_up_then_kept::scenario::whoever_was_told_is_known, "whoever was told is known");
}
