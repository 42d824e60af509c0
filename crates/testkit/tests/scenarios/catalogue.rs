use referee_testkit::scenario::NAMED_SCENARIOS;

#[test]
fn every_named_scenario_runs_deterministically_and_renders_the_final_texts() {
    for scenario in NAMED_SCENARIOS {
        let text = scenario.render();
        assert!(text.starts_with(scenario.about), "{}", scenario.name);
        assert!(
            text.contains("\nturn 2\n") && text.contains("--- review by referee-bot"),
            "{}:\n{text}",
            scenario.name
        );
        assert_eq!(text, scenario.render(), "{} renders the same twice", scenario.name);
    }
}

#[test]
fn the_endless_reviewer_ends_at_the_round_limit() {
    let scenario =
        NAMED_SCENARIOS.iter().find(|scenario| scenario.name == "endless-reviewer").expect("the scenario exists");
    let text = scenario.render();
    assert!(text.contains("next     blocked: the rounds are used up, a person decides"), "{text}");
    assert!(text.contains("@carol, this pull needs your decision"), "{text}");
}
