use referee_testkit::scenario::NAMED_SCENARIOS;

#[test]
fn every_tale_can_be_told_and_says_what_stands_in_the_end() {
    for tale in NAMED_SCENARIOS {
        let told = tale.render();
        assert!(told.starts_with(tale.about), "{}", tale.name);
        assert!(told.contains("\nturn 2\n") && told.contains("--- review by referee-bot"), "{}:\n{told}", tale.name);
        assert_eq!(told, tale.render(), "{} is told the same twice", tale.name);
    }
}

#[test]
fn the_endless_reviewer_ends() {
    let tale = NAMED_SCENARIOS.iter().find(|tale| tale.name == "endless-reviewer").expect("it is on the shelf");
    let told = tale.render();
    assert!(told.contains("next     blocked: the rounds are used up, a person decides"), "{told}");
    assert!(told.contains("@carol, this pull needs your decision"), "{told}");
}
