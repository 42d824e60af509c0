mod faults;
mod metadata;
mod reading;
mod reviews;
mod threads;

use super::context::{ClauseContext, ClauseStop};
use super::setup::ContractSetup;
use super::{Clause, ClauseOutcome};

macro_rules! run {
    ($bench:ident, $into:ident; $($room:ident::$clause:ident)+) => {$(
        let outcome = match $room::$clause($bench).await {
            Ok(()) => ClauseOutcome::Kept,
            Err(ClauseStop::Broken(seen)) => ClauseOutcome::Broken(seen),
            Err(ClauseStop::Skipped(why)) => ClauseOutcome::Skipped(why),
        };
        $into.push(Clause { name: stringify!($clause), outcome });
    )+};
}

/// Every clause in order. The one about secrets is last: it reads the errors of all the others.
pub(super) async fn run_all<S: ContractSetup>(bench: &ClauseContext<'_, S>, clauses: &mut Vec<Clause>) {
    run! { bench, clauses;
        reading::head_agrees_with_fetch
        reading::the_board_lists_the_pull
        reading::more_than_one_page_is_complete
        reading::a_cut_off_read_is_truncated
        reviews::a_posted_review_is_read_back
        reviews::verdicts_are_rows_that_count
        reviews::a_review_posted_twice_is_one
        reviews::the_edited_text_is_what_fetch_reads
        reviews::a_superseded_text_is_what_fetch_reads
        reviews::threads_opened_later_are_no_review
        reviews::a_broken_post_is_completed_not_doubled
        reviews::a_moved_head_is_told
        reviews::a_text_written_meanwhile_is_told
        threads::a_reply_is_the_last_note_and_not_doubled
        threads::resolving_twice_is_already_so
        threads::a_foreign_thread_is_resolved_or_left_alone
        metadata::a_comment_is_written_once_and_edited_in_place
        metadata::a_label_is_put_on_and_taken_off_once
        metadata::somebody_is_assigned_once
        metadata::a_status_is_written_once_and_is_no_check
        metadata::the_latest_status_counts_whatever_was_said_before
        metadata::a_claim_is_held_once_and_given_back
        metadata::capabilities_tell_the_truth
        faults::foreign_words_are_never_edited
        faults::what_is_not_there_is_not_found
        faults::a_bad_token_is_told_apart
        faults::an_outsider_is_not_permitted
        faults::forged_marks_are_not_marks
        faults::no_error_holds_a_secret_or_a_text
    }
}
