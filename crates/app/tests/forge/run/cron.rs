//! A crontab entry and an existing project file, used unchanged.

use std::fs;
use std::path::Path;
use std::process::Command;

use referee_core::model::PullNumber;
use referee_testkit::server::{OWNER, ServerBuild};
use serde_json::{Value, json};

use crate::on_each_server;
use crate::site::{RunOutput, TestSite};

on_each_server! { a_cron_line_works_with_referee_in_place_of_its_script }

const LINE: &str = r#"referee dispatch api | while IFS=: read -r what type number sha; do
    case $what in
    SPAWN) referee worker-prompt "$type" "$number" --project api --head "$sha" >"$type-$number" ;;
    HANDOFF) echo "$type" >>handed ;;
    esac
done"#;

// spec: DSP-2, DSP-3 @gitea @forgejo
fn a_cron_line_works_with_referee_in_place_of_its_script(build: ServerBuild) {
    let site = TestSite::new(build, &[("README.md", "# shop\n")]);
    let labels = ["wip", "ready"].map(|name| {
        let body = json!({ "name": name, "color": "#ee0701" });
        let label: Value = site.repo.as_(OWNER).send("POST", "/labels", Some(&body)).json().expect("a label");
        label["id"].as_u64().expect("an id")
    });
    let folder = site.path(".config/referee/projects");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(site.path("token"), site.repo.server().token("referee")).expect("a file");
    let project = format!(
        "# memory/projects/api.yaml\nrepo: {} # <owner>/<repo>\napi_base: {}/api/v1 # API base URL\n\
         token_path: ~/token # path to bearer token\nuser: referee # bot username\nlabels:\n  wip: {}\n  ready: {}\n\
         review_bots: # sentinel names in review bodies\n  - sonnet\n  - gpt\n",
        site.repo.full_name(),
        site.proxy.url(),
        labels[0],
        labels[1],
    );
    fs::write(folder.join("api.yaml"), project).expect("a file");
    let red = site.open("red", &[("red.rs", "fn a() {}\n")]);
    site.at("alice", red).report_check("ci", "failure");
    let done = site.open("done", &[("done.rs", "fn a() {}\n")]);
    settle(&site, done);

    site.proxy.forget();
    let dry = line(&site, &format!("export DRY_RUN=1; {LINE}"));
    assert_eq!((dry.code, site.proxy.write_count()), (0, 0), "{}", dry.err);
    let (prompt, handed) = (site.path(&format!("ci-fix-{}", red.0)), site.path("handed"));
    assert!(prompt.exists() && handed.exists(), "{}", dry.err);
    for file in [&prompt, &handed] {
        fs::remove_file(file).expect("a file");
    }

    let ran = line(&site, LINE);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    let prompt_text = fs::read_to_string(&prompt).unwrap_or_else(|error| panic!("{error}: {}", ran.err));
    assert!(
        prompt_text.contains("NEVER merge a PR.") && prompt_text.contains(site.at("alice", red).head().as_str()),
        "{prompt_text}"
    );
    let again = line(&site, LINE);
    assert_eq!(again.code, 0, "{}", again.err);
    assert_eq!(fs::read_to_string(&handed).expect("a file"), format!("{}\n", done.0), "once: {}", again.err);
    for (pull, name) in [(red, "wip"), (done, "ready")] {
        assert_eq!(site.at("alice", pull).fetch_pull()["labels"][0]["name"], name);
    }
}

/// Everybody is content.
fn settle(site: &TestSite, pull: PullNumber) {
    let head = site.at("alice", pull).head();
    site.at("alice", pull).report_check("ci", "success");
    for bot in ["sonnet", "gpt"] {
        let text = format!("# Review\n\n<!-- review-bot:{bot} -->\n\nEvaluated against {}\n", &head.as_str()[..8]);
        site.at("sec", pull).review_without_verdict(&text);
    }
    site.at("referee", pull).comment(&format!("Self-review against {head}\n\nAssessment: ✅ Clean\n"));
}

/// Runs it as cron does.
fn line(site: &TestSite, words: &str) -> RunOutput {
    let like = site.referee(&[]);
    let programs = Path::new(env!("CARGO_BIN_EXE_referee")).parent().expect("a folder").display().to_string();
    let path = format!("{programs}:{}", std::env::var("PATH").expect("a PATH"));
    let mut shell = Command::new("sh");
    shell.args(["-c", words]).env_clear().envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.env("PATH", path).env_remove("REFEREE_TOKEN").current_dir(site.path(""));
    RunOutput::from_output(shell.output().expect("a shell"))
}
