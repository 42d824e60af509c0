//! Rule 11: the next issue, if no pull is open and no worker is active.

use referee_testkit::server::{ServerBuild, ServerPerson};
use serde_json::{Value, json};

use super::{Project, until};
use crate::on_each_server;

on_each_server! { the_next_issue_is_a_bug_then_the_lowest_number_and_only_if_no_worker_is_active }

// spec: DSP-11, DSP-12, DSP-17 @gitea @forgejo
fn the_next_issue_is_a_bug_then_the_lowest_number_and_only_if_no_worker_is_active(build: ServerBuild) {
    let project = Project::new(build);
    let alice = project.site.repo.as_("alice");
    let labels: Vec<Value> = alice.send("GET", "/labels?page=1&limit=50", None).json().expect("labels");
    let bug = &labels.iter().find(|label| label["name"] == "bug").expect("a label")["id"];
    let open = |body: Value| -> u64 {
        let issue: Value = alice.send("POST", "/issues", Some(&body)).json().expect("an issue");
        issue["number"].as_u64().unwrap_or_else(|| panic!("{issue}"))
    };
    let taken = open(json!({"title": "taken", "assignees": ["ruth"]}));
    let [low, high] = ["low", "high"].map(|title| open(json!({"title": title})));
    let urgent = open(json!({"title": "urgent", "labels": [bug]}));
    let why = |file: &str| project.json(file)["issue"]["facts"][0].as_str().unwrap_or_default().to_owned();

    // S7: no issue is started while a pull is open, whether or not the project selects that pull.
    let [it] = project.pulls(["topic"]);
    project.site.at("referee", it.pull).label("wip");
    assert_eq!(project.lines(&[]), [""; 0]);
    let own = project.write_project_file("own", "pulls: own\n");
    assert_eq!((project.lines_for(&own, &[]), why(&own).as_str()), (vec![], "pulls are open"));
    project.site.at("alice", it.pull).close();

    assert_eq!(why(&project.file), format!("#{urgent} is next"));
    assert_eq!(project.lines(&[]), [format!("SPAWN:impl:{urgent}:")]);
    assert_eq!(assignee(&alice, urgent), "referee");
    // A record is work under way, also where the assignment is taken away and this machine has forgotten everything.
    project.site.forget();
    alice.send("PATCH", &format!("/issues/{urgent}"), Some(&json!({"assignees": []})));
    assert_eq!(project.lines(&[]), [""; 0]);
    assert_eq!(why(&project.file), format!("work is under way on #{urgent}"));

    // A lost worker is restarted once, then the next issue is taken; a person's comment resets the count.
    let later = project.write_project_file("later", "wip_max_age: 1s\n");
    for number in [urgent, low, low, high, high] {
        let lines = until(|| Some(project.lines_for(&later, &[])).filter(|lines| !lines.is_empty()));
        assert_eq!(lines, [format!("SPAWN:impl:{number}:")]);
    }
    until(|| Some(why(&later)).filter(|why| why == "no issue is available"));
    alice.send("POST", &format!("/issues/{low}/comments"), Some(&json!({"body": "try it like this"})));
    assert_eq!(project.lines_for(&later, &[]), [format!("SPAWN:impl:{low}:")]);
    assert_eq!(assignee(&alice, taken), "ruth");
    project.assert_harmless();
}

fn assignee(person: &ServerPerson, number: u64) -> String {
    let issue: Value = person.send("GET", &format!("/issues/{number}"), None).json().expect("the issue");
    issue["assignee"]["login"].as_str().unwrap_or_default().to_owned()
}
