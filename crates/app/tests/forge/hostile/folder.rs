//! A worker that leaves traps in its copy's git folder.

use referee_testkit::server::ServerBuild;

use super::{APART, Den, SEALED, share};
use crate::on_each_server;

on_each_server! {
    a_git_folder_that_leads_elsewhere_is_not_read
    what_waits_for_git_to_run_it_is_not_run
}

// spec: DSP-15 @gitea
// spec: DSP-15 @forgejo
fn a_git_folder_that_leads_elsewhere_is_not_read(build: ServerBuild) {
    let den = Den::new(build);
    let cache = den.site.path(".cache").display().to_string();
    let folders = [
        (&["alternates", cache.as_str()][..], "`.git/objects/info/alternates` leads elsewhere"),
        (&["object-link"], "`passwd` is neither a file nor a folder"),
        (&["moved-folder"], "its git folder is no folder"),
        (&["no-folder"], "the work copy cannot be read"),
    ];
    for (words, why) in share(build, folders) {
        den.send(SEALED, words).refused("failed", why);
    }
}

// spec: DSP-15 @gitea
// spec: DSP-15 @forgejo
fn what_waits_for_git_to_run_it_is_not_run(build: ServerBuild) {
    let den = Den::new(build);
    for entry in share(build, [APART, SEALED, SEALED]) {
        let fate = den.send(entry, &["traps"]);
        fate.pushed();
        assert!(fate.folder.join("job/result.json").is_file());
        let trapped = fate.folder.join("job/trapped");
        assert!(!trapped.exists(), "{:?}", std::fs::read_to_string(trapped));
    }
}
