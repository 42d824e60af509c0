//! The handoff of a ready pull: its line, and its label that people may take away.

use referee_testkit::server::ServerBuild;

use super::{OpenedPull, Project, RunOutput};
use crate::on_each_server;

on_each_server! {
    a_dry_pass_prints_the_lines_in_the_order_of_a_real_one
    a_ready_label_that_a_person_removed_stays_removed_at_that_change
}

// spec: DSP-1, DSP-3 @gitea @forgejo
fn a_dry_pass_prints_the_lines_in_the_order_of_a_real_one(build: ServerBuild) {
    let project = Project::new(build);
    let [failing, ready] = project.pulls(["failing", "ready"]);
    project.site.at("alice", failing.pull).report_check("ci", "failure");
    project.settle(&ready);
    let dry = project.ran(&["--dry-run"]);
    assert_eq!(dry.out, format!("HANDOFF:{}\n{}\n", ready.pull.0, failing.spawn("ci-fix")), "{}", dry.err);
    assert_eq!(project.ran(&[]).out, dry.out);
    // The project file gives the label by its id; the prompt names it (DSP-13).
    let number = failing.pull.0.to_string();
    let args = ["worker-prompt", "ci-fix", &number, "--project", &project.file];
    let prompt = RunOutput::from_output(project.site.referee(&args).output().expect("referee runs"));
    assert!(prompt.out.contains(&format!("remove the label `wip` from #{number}")), "{prompt:?}");
}

// spec: DSP-10 @gitea @forgejo
// D35
fn a_ready_label_that_a_person_removed_stays_removed_at_that_change(build: ServerBuild) {
    let project = Project::new(build);
    let [it] = project.pulls(["ready"]);
    project.settle(&it);
    let handoff = format!("HANDOFF:{}", it.pull.0);
    assert_eq!(project.lines(&[]), [handoff.as_str()]);
    let labels = project.labels(it.pull);
    let [label] = labels.as_slice() else { panic!("{labels:?}") };
    project.site.at("ruth", it.pull).unlabel(label);
    for _ in 0..2 {
        assert_eq!(project.lines(&[]), [""; 0]);
        assert_eq!(project.labels(it.pull), [""; 0], "a person took the label away");
    }
    let head = project.site.at("alice", it.pull).push("src/ready.rs", |_| "fn other() {}\n".to_owned());
    project.settle(&OpenedPull { pull: it.pull, head });
    assert_eq!(project.lines(&[]), [handoff.as_str()]);
    assert_eq!(project.labels(it.pull), [label.as_str()], "another change is handed over again");
}
