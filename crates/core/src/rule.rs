//! Every rule of `decide`, named once. The tables in doc comments and in `docs/dispatch.md`, `explain` and the tests
//! use these names. They are in the order of the code, stage by stage.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Defines the enum and the properties of each rule: name, number in the dispatch source, condition, explanation.
macro_rules! rules {
    ($($stage:ident { $($rule:ident $name:literal $($number:literal)?: $when:literal, $explanation:literal;)* })*) => {
        /// A rule of `decide`: a row of one of its tables.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "the table below describes each rule")]
        pub enum Rule { $($($rule,)*)* }

        impl Rule {
            /// All rules, in the order of the code.
            pub const ALL: &[Self] = &[$($(Self::$rule,)*)*];

            /// Returns the stage that applies this rule.
            pub fn stage(self) -> RuleStage {
                match self { $($(Self::$rule => RuleStage::$stage,)*)* }
            }

            /// Returns the stable name, as `explain`, `--json` and the journal write it.
            pub fn name(self) -> &'static str {
                match self { $($(Self::$rule => $name,)*)* }
            }

            /// Returns the rule's number in the dispatch source, if it has one.
            pub fn number(self) -> Option<u8> {
                match self { $($(Self::$rule => [$($number,)?].first().copied(),)*)* }
            }

            /// Returns the condition, as in the tables.
            pub fn when(self) -> &'static str {
                match self { $($(Self::$rule => $when,)*)* }
            }

            /// Returns the sentence that `explain` prints.
            pub fn explanation(self) -> &'static str {
                match self { $($(Self::$rule => $explanation,)*)* }
            }
        }
    };
}

/// The stage of `decide` that applies a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuleStage {
    /// Whether anything may be decided.
    Guard,
    /// Findings that were raised before.
    Threads,
    /// The reviews of each identity.
    Publish,
    /// Answers to threads.
    Answers,
    /// A worker's result.
    Delivery,
    /// Reviews of this head that are due.
    Review,
    /// What the pull waits for.
    Turn,
    /// Replies to people's commands.
    Commands,
    /// The budget of texts.
    Budget,
    /// Limits across a repository.
    Schedule,
    /// The phase of a pull's threads.
    Phase,
}

rules! {
    Guard {
        Incomplete "incomplete": "a part of the pull could not be read whole", "Part of the pull could not be read, so nothing is decided.";
        NewerMark "newer-mark": "a newer version of referee wrote a Mark on the pull", "A newer version of referee wrote here. This one changes nothing.";
        Closed "closed": "the pull is not open", "The pull is closed or merged. There is nothing to do.";
        ForgedMark "forged-mark": "a text looks like a Mark, and its MAC is invalid", "A copied, edited or forged Mark is ignored.";
    }
    Threads {
        Dismissed "dismissed": "a person who may gave the command `dismiss`", "The finding was dismissed. It counts as accepted.";
        BrokenAgain "broken-again": "it was fixed, and the report raises it again", "A fixed finding is back. It is open again, in a new thread.";
        WorseAgain "worse-again": "it was settled, and is more severe now", "A settled finding got worse. It is open again, in a new thread.";
        Settled "settled": "it was settled", "The finding stays settled.";
        Resolved "resolved": "somebody else who may accept it resolved the thread", "Resolving the thread accepted the finding.";
        Accepted "accepted": "somebody who may accept it answered \"won't fix\"; for a critical finding `won't fix:` or `accepted risk:` and a reason (D39)", "The finding was accepted. Its thread is resolved.";
        Fixed "fixed": "a complete report says fixed, and the code changed", "The finding is fixed. Its thread gets the commit and is resolved.";
        Conceded "conceded": "the reviewer withdraws it after a dispute by somebody who may accept it", "The reviewer withdrew the finding. The thread is resolved.";
        Worsened "worsened": "the reviewer reports it as worse", "The finding got worse. One reply says so.";
        AcceptanceHint "acceptance-hint": "somebody who may accept it used words of acceptance that do not count (D39, D40)", "The words do not accept the finding. One reply per thread says which do.";
        Rebuttal "rebuttal": "the reviewer upholds it, and a person disputes it and wrote last", "The reviewer answers the dispute, once per head.";
        RuleStands "rule-stands": "a linter or the built-in rules uphold it, and the pull's author or a person with write access disputes or questions it", "The rule still matches at this head. One reply says why.";
        Contest "contest": "a person says that it is fixed, and the reviewer still reports it", "The reviewer still reports the finding. One reply says so.";
        Unfixed "unfixed": "otherwise", "The finding stays open. Nothing is written.";
        MaxResolve "max-resolve": "more than `max_resolve` threads would be resolved", "Too many threads would be resolved at once. A person decides.";
        Double "double": "two processes opened a thread for it at the same moment (D42)", "The finding was posted twice. The thread that nobody answered is resolved.";
    }
    Publish {
        Silent "silent": "the role has no verdict yet", "The role has no verdict yet.";
        Glass "glass": "break-glass is active at this change (D25)", "Break-glass lifts the block at this change.";
        OwnBlock "own-block": "the role's own verdict requests changes", "The role's own findings request changes.";
        Escalated "escalated": "a sibling's own verdict blocks, and this role may block (PUB-7, D3)", "Another role of this identity blocks, so this one does too.";
        HeldDown "held-down": "a sibling's own verdict blocks, and this role may not block", "Another role of this identity blocks, so this one does not approve.";
        UnreadApproval "unread": "an approval of the role counts at a change that was not read (PUB-6, PUB-15)", "An approval counts at a change that was not read. It is revoked.";
        Approves "approves": "the role's own verdict approves, and nothing is awaited", "The role has no objections.";
        BlockStays "block-stays": "the role's block still stands, and no sibling lifts it (PUB-6, D19)", "The block stays until a complete verdict lifts it.";
        Waiting "waiting": "an approval waits for a role or a person (D19)", "The approval waits for others.";
        Comments "comments": "none of these", "The verdict is posted as a comment.";
        Lifts "lifts": "a role approves, and the forge still counts a block of the identity (PUB-21)", "An approval lifts the block that the forge still counts.";
        Answers "answers": "the identity's review is requested, and every verdict is current (PUB-20)", "The verdict is posted again to answer a review request.";
        NewFindings "new-findings": "a kept review has new findings (PUB-4)", "New findings get threads beside the standing review.";
        NotEditable "not-editable": "the forge reports no id for editing the review", "The forge cannot edit this review.";
        Status "status": "the commit status differs from the verdict (PUB-19)", "The commit status follows the verdict.";
        ApproveOff "approve-off": "an earlier verdict still counts, and `approve` is off (D27)", "A verdict from another setting still counts. referee does not lift it.";
        Notice "notice": "an edit changed the set of blocking findings (PUB-18)", "Edits notify nobody, so one comment says what changed.";
    }
    Answers {
        ThreadsDisabled "disabled": "`threads.enabled` is false", "Answering threads is switched off.";
        OtherPull "other_pull": "the payload is for another pull", "The answers are for another pull.";
        NoTriage "no_triage": "no triage is stored", "Answers need a stored triage.";
        TriageOfOtherPull "triage_of_other_pull": "the stored triage is of another pull", "The stored triage is of another pull.";
        TriageFailed "triage_failed": "the stored triage failed", "The stored triage failed.";
        TriageIncomplete "triage_incomplete": "the stored triage is incomplete", "The stored triage is incomplete.";
        NamedTwice "named_twice": "two answers name one thread", "Two answers name the same thread.";
        NoSuchThread "no_such_thread": "the pull has no such thread", "The thread does not exist.";
        NotTriaged "not_triaged": "the stored triage does not name the thread", "The thread was not triaged.";
        Template "template": "the reply template is broken", "The built-in reply is used.";
        Claims "claims": "the reply says that the thread is resolved", "The answer's `replyBody` is not used.";
        MassResolve "mass_resolve": "more resolutions than `threads.max_resolve` (FIX-7)", "Too many threads would be resolved at once. A person decides.";
        EmptyThread "empty_thread": "the thread has no notes", "There is nothing to reply to.";
        ReplyNeeds "reply_needs": "what the class needs for a reply is missing", "The reply lacks what its class needs.";
        CannotReply "cannot_reply": "the forge or token cannot reply", "This token cannot reply here.";
        Reply "reply": "none of these", "The reply is sent.";
        HumanDecision "human_decision": "a stored triage asks a person (D26)", "The triage asks a person to decide.";
        AnswerNeedsHuman "needs_human": "the class is `needs_human`", "A person decides.";
        PersonsThread "persons_thread": "the class is `invalid`, and a person opened the thread", "A person's thread is not resolved as invalid.";
        UnseenNote "unseen_note": "somebody wrote after the triage", "A note was written after the triage.";
        ResolveNeeds "resolve_needs": "what the class needs for a resolution is missing", "The resolution lacks what its class needs.";
        AnswerChecks "checks": "checks are missing (FIX-6)", "A resolution needs passed checks.";
        Resolve "resolve": "the forge can resolve, or referee's root note can be marked", "The thread is resolved.";
        CannotResolve "cannot_resolve": "the forge or token cannot resolve", "This forge or token cannot resolve the thread.";
        LastWord "last_word": "somebody else wrote last, and no reply is planned", "A mark in the root note is valid only while referee wrote last.";
    }
    Delivery {
        Deliver "deliver": "this turn has a worker's result", "A worker's result is checked, pushed and recorded.";
    }
    Review {
        ReviewAsked "review-asked": "`--full`, or a command newer than the verdict and the last attempt", "Somebody asked for another review of this head.";
        SameHead "same-head": "a complete verdict for this change", "The role has read this change.";
        ReviewFailed "review-failed": "three attempts at this change, and no `retry` since the last", "The reviewer failed at every attempt.";
        ReviewBackoff "review-backoff": "less than 5 minutes after the first failed attempt, or 10 after the second, without `retry`", "The reviewer failed and is tried again later.";
        ReviewDue "review-due": "none of these", "The role has not read this change.";
        ReviewBudget "review-budget": "it would be due, and the budget is used up", "The budget for reviews is used up.";
    }
    Turn {
        Lease "lease" 0: "a worker holds the lease, or a `wip` label is recent", "A worker is running: no other starts, and nothing is handed off.";
        Paused "paused": "a person said `pause`", "A person paused referee here. `resume` ends it.";
        BreakGlass "break-glass": "break-glass is active at this change (D25)", "A person used break-glass at this change.";
        NeedsHuman "needs-human": "only a person can settle a finding that counts", "A finding needs a person's decision.";
        ChangesRequested "changes-requested" 2: "a role, a person or another bot requests changes", "A request for changes stands. It is answered before anything else.";
        Conflict "conflict" 3: "it does not merge, and is not a draft", "The branch does not merge into its base. It is rebased first.";
        ChecksFailed "checks-failed" 4: "a check failed", "A check failed. It is fixed before the reviews count.";
        ReviewsMissing "reviews-missing" 5: "a role or another bot has not read this change", "A review of this head is missing.";
        ChecksPending "checks-pending" 6: "a check is not done, or none has reported and one is required", "The checks have not finished.";
        SelfReview "self-review" 7: "the self-review for this head is missing, or needs attention", "The fixing side reviews its own change before a person does.";
        FindingsUnanswered "findings-unanswered" 8: "findings that do not block are unanswered", "Findings that do not block have no answer yet.";
        ThreadsUnanswered "threads-unanswered" 9: "threads are unresolved and unanswered", "Threads have no answer yet.";
        Draft "draft": "it is a draft", "The pull is a draft. Its author marks it as ready.";
        Ready "ready" 10: "none of the above", "Nothing is open. A person can take over the pull.";
    }
    Commands {
        Said "said": "a person's command has no answer yet", "A command gets one answer.";
    }
    Budget {
        Writes "writes": "the pull has as many texts of referee as the budget allows", "The budget of texts is used up.";
    }
    Schedule {
        LeftAside "left-aside": "the project ignores the pull", "The project's `pulls` leaves this pull out.";
        Issue "issue" 11: "no pull is open, and no job runs", "The next issue may start.";
    }
    Phase {
        ValidThreads "valid": "a thread is triaged as valid", "Valid threads are to be fixed.";
        UnresolvedThreads "unresolved": "threads are unresolved", "Threads are to be triaged.";
        Verified "verified": "no thread is open, and the checks passed", "Every thread is closed and the checks passed.";
        Unverified "unverified": "no thread is open, and the checks have not passed", "Every thread is closed. The checks have not passed.";
        SettleFailed "failed": "answering threads failed", "Answering threads failed.";
    }
}

impl Rule {
    /// Returns the rule of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|rule| rule.name() == name)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl PartialEq<str> for Rule {
    fn eq(&self, name: &str) -> bool {
        self.name() == name
    }
}

impl PartialEq<&str> for Rule {
    fn eq(&self, name: &&str) -> bool {
        self.name() == *name
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::from_name(&name).ok_or_else(|| de::Error::custom(format_args!("there is no rule `{name}`")))
    }
}
