//! The ten safety invariants of dispatch, and where each is tested:
//!
//! | | invariant | tested in |
//! |---|---|---|
//! | S1, S9 | nothing merges, nothing closes | here and in every suite beside this one; no such route exists (`tidy/routes`) |
//! | S2, S3 | a request for changes comes before checks and before ready | here and in `blocks`; core's rules |
//! | S4 | no model takes part in a decision | `tidy/purity` |
//! | S5 | an error ends a pass without partial actions | `crashes`, at every request |
//! | S6 | work on one pull does not delay another | here and in `lost` |
//! | S7 | no issue is started while a worker is active | here and in `issues` |
//! | S8, S10 | every prompt forbids merging and closing | `local/project`, for every kind of job |

use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use super::{OpenedPull, Project};
use crate::on_each_server;

on_each_server! { s1_s2_s3_s6_s7_s9_hold_over_the_whole_life_of_a_pull }

// spec: DSP-10, DSP-17 @gitea @forgejo
fn s1_s2_s3_s6_s7_s9_hold_over_the_whole_life_of_a_pull(build: ServerBuild) {
    let project = Project::new(build);
    let alice = project.site.repo.as_("alice");
    let issue: Value = alice.send("POST", "/issues", Some(&json!({"title": "Do it"}))).json().expect("an issue");
    let [busy, blocked, ready] = project.pulls(["busy", "blocked", "ready"]);
    let all = [busy.pull, blocked.pull, ready.pull];
    project.site.at("referee", busy.pull).label("wip");
    for it in [&busy, &blocked] {
        project.site.at("alice", it.pull).report_check("ci", "failure");
    }
    project.site.at("ruth", blocked.pull).block("not like this");
    project.site.proxy.forget();

    // S6: the first is being worked on, and yet the others get their turn. S7: the issue does not. S2: not `ci-fix`.
    let handoff = |it: &OpenedPull| format!("HANDOFF:{}", it.pull.0);
    assert_eq!(project.lines(&[]), [handoff(&ready), blocked.spawn("findings")]);
    // S3: a block keeps a pull from being ready whatever else passes, and a new block ends ready.
    let head = alice.on(blocked.pull).push("src/blocked.rs", |_| "fn b() {}\n".to_owned());
    project.settle(&OpenedPull { pull: blocked.pull, head });
    alice.on(blocked.pull).unlabel("wip");
    project.site.at("ruth", ready.pull).block("not like this either");
    assert_eq!(project.lines(&[]), [ready.spawn("findings")]);
    assert_eq!((project.labels(blocked.pull), project.labels(ready.pull)), (vec![], vec!["wip".to_owned()]));
    project.site.at("ruth", blocked.pull).approve("now it is");
    assert_eq!(project.lines(&[]), [handoff(&blocked)]);

    // S1, S9: all of them are as open as they were; people close and merge.
    for pull in all {
        let look = alice.on(pull).fetch_pull();
        assert_eq!((&look["state"], &look["merged"]), (&json!("open"), &json!(false)), "{pull}");
    }
    all.iter().for_each(|pull| alice.on(*pull).close());
    assert_eq!(project.lines(&[]), [format!("SPAWN:impl:{}:", issue["number"])]);
    let now: Value = alice.send("GET", &format!("/issues/{}", issue["number"]), None).json().expect("the issue");
    assert_eq!(now["state"], "open");
    assert!(project.site.proxy.write_count() > 10, "{:#?}", project.site.proxy.log());
    project.assert_harmless();
}
