//! The ten safety invariants of dispatch, and what holds each:
//!
//! | | invariant | held by |
//! |---|---|---|
//! | S1, S9 | nothing merges, nothing closes | here, and by every suite beside this one; no such route exists (`tidy/routes`) |
//! | S2, S3 | a request for changes goes before checks and before ready | here and in `blocks`; core's rules |
//! | S4 | no model has a say | `tidy/purity` |
//! | S5 | an error ends a pass without partial actions | `crashes`, at every request |
//! | S6 | work on one pull holds up no other | here and in `lost` |
//! | S7 | no issue is begun while somebody works | here and in `issues` |
//! | S8, S10 | no worker is told to merge or close, each is told not to | `local/project`, for every type |

use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use super::{Opened, Project};
use crate::on_each_server;

on_each_server! { s1_s2_s3_s6_s7_s9_hold_over_a_whole_life }

// spec: DSP-10, DSP-17 @gitea @forgejo
fn s1_s2_s3_s6_s7_s9_hold_over_a_whole_life(build: ServerBuild) {
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
    let handoff = |it: &Opened| format!("HANDOFF:{}", it.pull.0);
    assert_eq!(project.lines(&[]), [handoff(&ready), blocked.spawn("findings")]);
    // S3: whatever else is well, a block keeps a pull from being ready; and ready ends when somebody blocks.
    let head = alice.on(blocked.pull).push("src/blocked.rs", |_| "fn b() {}\n".to_owned());
    project.settle(&Opened { pull: blocked.pull, head });
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
    project.harmless();
}
