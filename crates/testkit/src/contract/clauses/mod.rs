mod faults;
mod metadata;
mod reading;
mod reviews;
mod threads;

use super::context::{ClauseContext, ClauseStop};
use super::setup::ContractSetup;
use super::{Clause, ClauseOutcome};

macro_rules! run {
    ($context:ident, $results:ident; $($module:ident::$clause:ident)+) => {$(
        let outcome = match $module::$clause($context).await {
            Ok(()) => ClauseOutcome::Kept,
            Err(ClauseStop::Broken(actual)) => ClauseOutcome::Broken(actual),
            Err(ClauseStop::Skipped(reason)) => ClauseOutcome::Skipped(reason),
        };
        $results.push(Clause { name: stringify!($clause), outcome });
    )+};
}

/// Runs every clause in order. The clause about secrets comes last because it reads the errors of all the others.
pub(super) async fn run_all<S: ContractSetup>(context: &ClauseContext<'_, S>, clauses: &mut Vec<Clause>) {
    run! { context, clauses;
        reading::head_agrees_with_fetch
        reading::the_board_lists_the_pull
        reading::more_than_one_page_is_complete
        reading::a_limited_read_is_reported_as_truncated
        reviews::a_posted_review_is_read_back
        reviews::verdicts_count
        reviews::a_review_posted_twice_is_one
        reviews::the_edited_text_is_what_fetch_reads
        reviews::a_superseded_text_is_what_fetch_reads
        reviews::threads_opened_later_add_no_review
        reviews::a_partial_post_is_completed_not_duplicated
        reviews::a_moved_head_is_reported
        reviews::a_concurrent_edit_is_reported
        threads::a_reply_is_the_last_note_and_not_duplicated
        threads::resolving_twice_is_already_so
        threads::a_thread_of_others_is_resolved_or_left_alone
        metadata::a_comment_is_written_once_and_edited_in_place
        metadata::a_label_is_added_and_removed_once
        metadata::an_assignment_is_made_once
        metadata::a_status_is_written_once_and_is_not_a_check
        metadata::the_latest_status_counts
        metadata::a_claim_is_exclusive_and_can_be_released
        metadata::capabilities_match_behaviour
        faults::texts_of_others_are_never_edited
        faults::missing_objects_are_not_found
        faults::a_bad_token_is_unauthenticated
        faults::an_outsider_is_not_permitted
        faults::forged_marks_are_not_marks
        faults::errors_contain_no_secret_and_no_text
    }
}
