use proptest::prelude::*;
use referee_core::track::{
    AnchorHash, CodeLocation, Fingerprint, ObservedFinding, PriorFinding, Track, match_findings, match_tool_findings,
};

fn seen(rule: Option<&str>, title: &str, line: u32, code: &str) -> ObservedFinding {
    ObservedFinding {
        role: "quality".to_owned(),
        rule: rule.map(str::to_owned),
        title: title.to_owned(),
        location: CodeLocation::new("a.rs", line, line),
        fingerprint: Fingerprint::from_finding("quality", rule, title, code),
        anchor: Some(AnchorHash::from_code(code)),
    }
}

fn prior(seen: ObservedFinding, track: fn(CodeLocation) -> Track, line: u32) -> PriorFinding {
    PriorFinding { track: Some(track(CodeLocation::new("a.rs", line, line))), observed: seen }
}

const LEAK: &str = "Refresh token is written to the log";
const LEAK_CLOSE: &str = "Refresh token written to debug log";
const LEAK_REWORDED: &str = "Credentials leak through tracing output";
const SLOW: &str = "One query per item in the loop";

// spec: INC-9 @core
#[test]
fn another_wording_on_the_same_code_is_the_same_finding() {
    let priors = [prior(seen(None, LEAK, 10, "log(token)"), Track::Same, 14)];
    assert_eq!(match_findings(&priors, &[seen(None, LEAK_REWORDED, 14, "log(token)")]), [Some(0)]);
    assert_eq!(
        match_findings(&priors, &[seen(None, LEAK_REWORDED, 10, "log(token)")]),
        [None],
        "line numbers alone say nothing"
    );
}

// spec: INC-9, INC-10 @core
#[test]
fn a_moved_and_reworded_finding_is_the_same() {
    let moved = PriorFinding {
        observed: seen(None, LEAK, 10, "log(token)"),
        track: Some(Track::Moved(CodeLocation::new("b/c.rs", 90, 90))),
    };
    let mut raised = seen(None, LEAK_REWORDED, 90, "log(token)");
    raised.location.path = "b/c.rs".to_owned();
    assert_eq!(match_findings(&[moved], &[raised]), [Some(0)]);
}

#[test]
fn other_rules_and_other_roles_are_other_findings() {
    let priors = [prior(seen(Some("secret-log"), LEAK, 10, "log(token)"), Track::Same, 10)];
    assert_eq!(match_findings(&priors, &[seen(Some("slow"), LEAK, 10, "log(token)")]), [None]);
    assert_eq!(match_findings(&priors, &[seen(Some("secret-log"), LEAK_REWORDED, 10, "log(token)")]), [Some(0)]);
    assert_eq!(
        match_findings(&priors, &[seen(None, LEAK_REWORDED, 10, "log(token)")]),
        [Some(0)],
        "no rule contradicts none"
    );
    let other_role =
        ObservedFinding { role: "security".to_owned(), ..seen(Some("secret-log"), LEAK, 10, "log(token)") };
    assert_eq!(match_findings(&priors, &[other_role]), [None]);
}

#[test]
fn two_concerns_on_one_line_keep_apart_by_their_titles() {
    let priors = [
        prior(seen(None, SLOW, 10, "log(token)"), Track::Same, 12),
        prior(seen(None, LEAK, 10, "log(token)"), Track::Same, 12),
    ];
    let raised = [seen(None, LEAK_CLOSE, 12, "log(token)"), seen(None, SLOW, 12, "log(token)")];
    assert_eq!(match_findings(&priors, &raised), [Some(1), Some(0)]);
}

// spec: INC-9 @core
#[test]
fn duplicated_code_is_two_findings() {
    let priors = [
        prior(seen(Some("x"), LEAK, 10, "log(token)"), Track::Same, 12),
        prior(seen(Some("x"), LEAK, 30, "log(token)"), Track::Same, 32),
    ];
    let raised = [seen(Some("x"), LEAK, 32, "log(token)"), seen(Some("x"), LEAK, 12, "log(token)")];
    assert_eq!(match_findings(&priors, &raised), [Some(1), Some(0)]);
    assert_eq!(match_findings(&priors[..1], &raised), [None, Some(0)], "the second is new");
    assert_eq!(match_findings(&priors[..1], &raised[..1]), [None], "also when the first is not raised again");
    let beside = [seen(Some("x"), LEAK, 13, "log(token)")];
    assert_eq!(match_findings(&priors[..1], &beside), [None], "also on the next line");
}

#[test]
fn a_reviewer_may_point_a_line_or_two_off() {
    let priors = [prior(seen(None, LEAK, 10, "log(token)"), Track::Same, 10)];
    assert_eq!(match_findings(&priors, &[seen(None, LEAK_CLOSE, 12, "}")]), [Some(0)]);
    assert_eq!(match_findings(&priors, &[seen(None, LEAK_CLOSE, 14, "}")]), [None]);
    assert_eq!(match_findings(&priors, &[seen(None, SLOW, 12, "}")]), [None]);
}

#[test]
fn edited_code_needs_an_equal_title() {
    let priors = [prior(seen(None, LEAK, 10, "log(token)"), Track::Changed, 10)];
    assert_eq!(match_findings(&priors, &[seen(None, LEAK_CLOSE, 10, "log(masked(token))")]), [Some(0)]);
    assert_eq!(
        match_findings(&priors, &[seen(None, SLOW, 10, "log(masked(token))")]),
        [None],
        "the fix has its own problem"
    );
    assert_eq!(
        match_findings(&priors, &[seen(None, LEAK_REWORDED, 10, "log(token)")]),
        [Some(0)],
        "only the depth changed"
    );
    let ruled = [prior(seen(Some("x"), LEAK, 10, "log(token)"), Track::Changed, 10)];
    assert_eq!(match_findings(&ruled, &[seen(Some("x"), LEAK_REWORDED, 10, "log(masked(token))")]), [Some(0)]);
}

// spec: INC-10 @core
#[test]
fn without_the_earlier_head_the_fingerprint_decides() {
    let lost = |track| PriorFinding {
        observed: ObservedFinding { anchor: None, ..seen(None, LEAK, 10, "log(token)") },
        track,
    };
    for track in [None, Some(Track::Gone)] {
        assert_eq!(match_findings(&[lost(track.clone())], &[seen(None, LEAK, 80, "  log( token )")]), [Some(0)]);
        assert_eq!(match_findings(&[lost(track.clone())], &[seen(None, LEAK_REWORDED, 80, "log(token)")]), [None]);
        assert_eq!(match_findings(&[lost(track)], &[seen(None, LEAK, 10, "other()")]), [None]);
    }
}

#[test]
fn a_file_finding_is_matched_as_a_whole() {
    let whole =
        |title| ObservedFinding { location: CodeLocation::whole_file("a.rs"), ..seen(None, title, 0, "all of it") };
    let priors =
        [PriorFinding { observed: whole(LEAK), track: Some(Track::Changed(CodeLocation::whole_file("a.rs"))) }];
    assert_eq!(match_findings(&priors, &[whole(LEAK_CLOSE)]), [Some(0)]);
}

fn sighting() -> impl Strategy<Value = ObservedFinding> {
    let rule = prop::option::of(prop::sample::select(vec!["x", "y"]));
    let title = prop::sample::select(vec![LEAK, LEAK_CLOSE, LEAK_REWORDED, SLOW, ""]);
    let code = prop::sample::select(vec!["log(token)", "}", "other()"]);
    let path = prop::sample::select(vec!["a.rs", "b.rs"]);
    (rule, title, 0..12_u32, 0..3_u32, code, path).prop_map(|(rule, title, line, span, code, path)| ObservedFinding {
        location: CodeLocation::new(path, line, line + span),
        ..seen(rule, title, line, code)
    })
}

fn tracked() -> impl Strategy<Value = PriorFinding> {
    (sighting(), 0..5_usize, 0..4_u32).prop_map(|(seen, kind, shift)| {
        let location =
            CodeLocation::new(&seen.location.path, seen.location.line + shift, seen.location.end_line + shift);
        let track = [
            Some(Track::Same(location.clone())),
            Some(Track::Moved(location.clone())),
            Some(Track::Changed(location)),
            Some(Track::Gone),
            None,
        ];
        PriorFinding { track: track[kind].clone(), observed: seen }
    })
}

proptest! {
    #[test]
    fn no_prior_finding_is_taken_twice(
        priors in prop::collection::vec(tracked(), 0..8), raised in prop::collection::vec(sighting(), 0..8),
    ) {
        let assigned = match_findings(&priors, &raised);
        prop_assert_eq!(assigned.len(), raised.len());
        let mut taken: Vec<usize> = assigned.into_iter().flatten().collect();
        taken.sort_unstable();
        let count = taken.len();
        taken.dedup();
        prop_assert_eq!(taken.len(), count);
        prop_assert!(taken.iter().all(|prior| *prior < priors.len()));
    }

    /// The matching is stable: no two prefer each other to their partners. The preference is computed by `assign`
    /// itself, with no other candidates.
    #[test]
    fn the_assignment_is_stable(
        priors in prop::collection::vec(tracked(), 0..7), raised in prop::collection::vec(sighting(), 0..7),
    ) {
        let assigned = match_findings(&priors, &raised);
        for (p, prior) in priors.iter().enumerate() {
            for (r, new) in raised.iter().enumerate() {
                if assigned[r] == Some(p) || match_findings(std::slice::from_ref(prior), std::slice::from_ref(new)) == [None] {
                    continue;
                }
                let mine = assigned.iter().position(|assigned| *assigned == Some(p));
                let raised_prefers = match assigned[r] {
                    Some(other) => match_findings(&[priors[other].clone(), prior.clone()], std::slice::from_ref(new)) == [Some(1)],
                    None => true,
                };
                let prior_prefers = match mine {
                    Some(other) => match_findings(std::slice::from_ref(prior), &[raised[other].clone(), new.clone()]) == [None, Some(0)],
                    None => true,
                };
                prop_assert!(!(raised_prefers && prior_prefers), "{:?} and {:?} would leave", prior, new);
            }
        }
    }

    #[test]
    fn the_order_of_the_findings_does_not_matter(
        (priors, shuffled_priors) in shuffled(tracked()), (raised, shuffled_raised) in shuffled(sighting()),
    ) {
        // Equal findings cannot be distinguished, so the test compares what was matched, not which of them.
        let matches = |priors: &[PriorFinding], raised: &[ObservedFinding]| {
            let assigned = match_findings(priors, raised);
            let mut pairs: Vec<String> = raised.iter().zip(assigned)
                .map(|(raised, prior)| format!("{raised:?} {:?}", prior.map(|prior| &priors[prior])))
                .collect();
            pairs.sort();
            pairs
        };
        prop_assert_eq!(matches(&priors, &raised), matches(&shuffled_priors, &shuffled_raised));
    }
}

fn shuffled<T: Clone + std::fmt::Debug>(of: impl Strategy<Value = T>) -> impl Strategy<Value = (Vec<T>, Vec<T>)> {
    prop::collection::vec(of, 0..7).prop_flat_map(|items| (Just(items.clone()), Just(items).prop_shuffle()))
}

// spec: INC-9 @core
// D38: after "unused variable `y`" is fixed, F2 does not become "unused variable `z`".
#[test]
fn a_tool_names_another_variable_in_another_finding() {
    let unused = |name: &str, line| seen(Some("F841"), &format!("Local variable `{name}` is never used"), line, "x");
    for track in [Track::Same, Track::Moved, Track::Changed] {
        let priors = [prior(unused("y", 3), track, 3)];
        assert_eq!(match_tool_findings(&priors, &[unused("z", 3)]), [None], "{track:?}");
        assert_eq!(match_tool_findings(&priors, &[unused("z", 3), unused("y", 3)]), [None, Some(0)], "{track:?}");
        assert_eq!(match_findings(&priors, &[unused("z", 3)]), [Some(0)], "a model rewords its titles");
    }
    let complex = |number| seen(Some("C901"), &format!("`main` is too complex ({number} > 10)"), 3, "x");
    let priors = [prior(complex(12), Track::Changed, 3)];
    assert_eq!(match_tool_findings(&priors, &[complex(13)]), [Some(0)], "a measured value is no name");
    let reworded = seen(Some("C901"), "Cyclomatic complexity of this function exceeds a limit", 3, "x");
    let priors = [prior(complex(12), Track::Same, 3)];
    assert_eq!(match_tool_findings(&priors, std::slice::from_ref(&reworded)), [Some(0)], "a new version");
    let priors = [prior(complex(12), Track::Changed, 3)];
    assert_eq!(match_tool_findings(&priors, &[reworded]), [None], "another message at changed code");
}
