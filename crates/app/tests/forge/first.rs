//! A first review with nothing but a URL and a token.

use referee_testkit::server::ServerBuild;

use crate::on_each_server;
use crate::site::TestSite;

on_each_server! { a_review_needs_only_a_url_and_a_token }

/// A file with something that the embedded rules find.
const HOOKED: &str = "import os\n\ndef run(cmd):\n    os.system(cmd)\n    eval(cmd)\n";

// spec: PUB-1 @gitea @forgejo
// spec: PUB-2 @gitea @forgejo
fn a_review_needs_only_a_url_and_a_token(build: ServerBuild) {
    let site = TestSite::new(build, &[("README.md", "# shop\n")]);
    let pull = site.open("feature", &[("run.py", HOOKED)]);
    let first = site.on("review", pull, &[]);
    assert_eq!(first.code, 0, "{}\n{}", first.out, first.err);
    let reviews = site.at("alice", pull).list_reviews();
    assert_eq!(reviews.len(), 1, "{reviews:?}");
    assert_eq!(reviews[0]["user"]["login"], "referee");
    let wrote = site.proxy.write_count();
    assert!(wrote > 0);

    site.proxy.forget();
    let second = site.on("review", pull, &[]);
    assert_eq!(second.code, 0, "{}\n{}", second.out, second.err);
    assert_eq!(site.proxy.write_count(), 0, "{:?}", site.proxy.log());
    site.forget();
    site.on("review", pull, &[]);
    assert_eq!(site.proxy.write_count(), 0, "{:?}", site.proxy.log());
}
