//! Which changes may be delivered: a rebase over any base, and nothing that touches protected files.

use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use super::{WorkerProject, until};
use crate::on_each_server;

on_each_server! { a_rebase_over_changed_ci_files_is_delivered protected_files_are_not_pushed }

// spec: DSP-15 @gitea @forgejo
fn a_rebase_over_changed_ci_files_is_delivered(build: ServerBuild) {
    let project = WorkerProject::with(build, &[("README.md", "# shop\n"), ("notes.txt", "one\n")], "good.sh");
    let pull = project.site.open("torn", &[("notes.txt", "two\n")]);
    let alice = project.site.at("alice", pull);
    let before = alice.head();
    alice.push_base(".gitea/workflows/ci.yml", |_| "on: push\n".to_owned());
    let base = alice.push_base("notes.txt", |_| "three\n".to_owned());
    let worker = project.assert_done("rebase");
    let after = alice.head();
    assert_eq!(worker["pushed"], after.as_str(), "{worker:#}");
    assert_ne!(after, before);
    // A server looks at what was pushed when it has time.
    let merges = |look: &Value| look["merge_base"] == base.as_str() && look["mergeable"] == true;
    until(|| Some(alice.fetch_pull()).filter(merges));
    let files = alice.send("GET", &format!("/pulls/{}/files?page=1&limit=50", pull.0), None);
    let files: Vec<Value> = files.json().expect("files");
    let names: Vec<&Value> = files.iter().map(|file| &file["filename"]).collect();
    assert_eq!(names, ["notes.txt"]);
    project.assert_harmless();
}

// spec: DSP-15, DSP-16 @gitea @forgejo
fn protected_files_are_not_pushed(build: ServerBuild) {
    let project = WorkerProject::new(build, "good.sh");
    for (branch, path) in [("ci", ".gitea/workflows/x.yml"), ("owners", "CODEOWNERS"), ("lock", "web/yarn.lock")] {
        let pull = project.red(branch);
        let before = project.site.at("alice", pull).head();
        project.set_worker(&format!("wrong.sh touches {path}"), "5m");
        project.site.proxy.forget();
        let worker = project.worker(12);
        assert_eq!((&worker["outcome"], &worker["pushed"]), (&json!("needs_human"), &json!(null)), "{worker:#}");
        assert!(worker["refused"].to_string().contains(&format!("`{path}` is protected")), "{worker:#}");
        let pushes = project.site.proxy.log().iter().filter(|seen| seen.path.ends_with("git-receive-pack")).count();
        assert_eq!((pushes, project.site.at("alice", pull).head()), (0, before));
        project.assert_person_asked(pull);
        project.assert_harmless();
        project.site.at("alice", pull).close();
    }
}
