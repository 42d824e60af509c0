//! A worker that plants traps in the git folder of its work copy.

use referee_testkit::server::ServerBuild;

use super::{HostileProject, TIER_1, TIER_2, share};
use crate::on_each_server;

on_each_server! {
    a_git_folder_that_points_elsewhere_is_not_read
    hooks_and_filters_planted_by_a_worker_do_not_run
}

// spec: DSP-15 @gitea
// spec: DSP-15 @forgejo
fn a_git_folder_that_points_elsewhere_is_not_read(build: ServerBuild) {
    let project = HostileProject::new(build);
    let cache = project.site.path(".cache").display().to_string();
    let folders = [
        (&["alternates", cache.as_str()][..], "`.git/objects/info/alternates` is not allowed"),
        (&["object-link"], "`passwd` is neither a file nor a directory"),
        (&["moved-folder"], "`.git` is not a directory"),
        (&["no-folder"], "the work copy cannot be read"),
    ];
    for (words, why) in share(build, folders) {
        project.run_worker(TIER_2, words).assert_refused("failed", why);
    }
}

// spec: DSP-15 @gitea
// spec: DSP-15 @forgejo
fn hooks_and_filters_planted_by_a_worker_do_not_run(build: ServerBuild) {
    let project = HostileProject::new(build);
    for entry in share(build, [TIER_1, TIER_2, TIER_2]) {
        let attempt = project.run_worker(entry, &["traps"]);
        attempt.assert_pushed();
        assert!(attempt.folder.join("job/result.json").is_file());
        let trapped = attempt.folder.join("job/trapped");
        assert!(!trapped.exists(), "{:?}", std::fs::read_to_string(trapped));
    }
}
