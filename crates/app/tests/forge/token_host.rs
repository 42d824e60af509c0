//! Where a token goes: only to a server that somebody named (D45).

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use referee_testkit::server::ServerBuild;

use crate::on_each_server;
use crate::site::{RunOutput, TestSite};
use crate::test_pull::{config, lines};

on_each_server! { a_checkout_decides_neither_the_server_nor_who_gets_the_token }

fn git(dir: &Path, args: &[&str]) {
    let ran = Command::new("git").args(args).current_dir(dir).output().expect("git runs");
    assert!(ran.status.success(), "{args:?}: {ran:?}");
}

// spec: D45, SAF-4 @gitea @forgejo
fn a_checkout_decides_neither_the_server_nor_who_gets_the_token(build: ServerBuild) {
    let site = TestSite::new(build, &[("README.md", "# shop\n"), ("referee.toml", &config(&["alpha"], ""))]);
    let clone = site.clone_of("main");
    let pull = site.open("topic", &[("a.txt", &lines(40, &[]))]);
    let run = |args: &[&str], server: Option<&str>| {
        let mut command = site.referee(args);
        command.current_dir(&clone).envs(server.map(|url| ("REFEREE_FORGE_URL", url)));
        site.proxy.forget();
        RunOutput::from_output(command.output().expect("referee runs"))
    };
    let number = pull.0.to_string();
    // Only the remote names the server: it is asked for its version, without a token, and nothing else.
    for args in [&["review", number.as_str()][..], &["comments", &number], &["status"], &["explain", &number]] {
        let ran = run(args, None);
        assert!(ran.code == 4 && ran.err.contains("REFEREE_FORGE_URL="), "{args:?}: {} {}", ran.code, ran.err);
        let log = site.proxy.log();
        assert!(log.len() == 1 && log[0].path == "/api/v1/version", "{args:?}: {log:#?}");
    }
    assert_eq!(run(&["explain", &number], Some(site.proxy.url())).code, 0);

    // The config of the checkout sends git elsewhere. The cache that fetches the change does not read it.
    let elsewhere = TcpListener::bind("127.0.0.1:0").expect("a port");
    elsewhere.set_nonblocking(true).expect("a port");
    let target = format!("http://{}/", elsewhere.local_addr().expect("an address"));
    let trap = site.path("trap");
    let helper = format!("!touch '{}'", trap.display());
    git(&clone, &["config", &format!("url.{target}.insteadOf"), &format!("{}/", site.proxy.url())]);
    git(&clone, &["config", "credential.helper", &helper]);
    git(&clone, &["config", "http.proxy", &target]);
    site.forget();
    let ran = run(&["explain", &site.page(pull)], None);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(site.proxy.log().iter().any(|seen| seen.path.ends_with("/git-upload-pack")), "{:#?}", site.proxy.log());
    let ran = run(&["explain", &format!("{}#{number}", site.repo.full_name())], None);
    assert!(ran.code == 4 && ran.err.contains(&format!("REFEREE_FORGE_URL={target}")), "{}", ran.err);
    assert!(elsewhere.accept().is_err(), "nothing is sent to the rewritten remote");
    assert!(!trap.exists(), "no credential helper of the checkout is asked");
}
