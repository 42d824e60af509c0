//! Project files, and what workers are told: no forge is asked for either.

use std::fs;

use serde_json::Value;

use crate::shop::Shop;

/// The source document's own file, its blanks filled in.
const SOURCE: &str = "\
# memory/projects/review-bot.yaml
repo: rodin/review-bot        # <owner>/<repo>
api_base: http://127.0.0.1:9/api/v1   # API base URL
token_path: token             # path to bearer token
user: rodin                   # bot Gitea username
labels:
  wip: 41
  ready: 42
review_bots:                  # sentinel names in review bodies
  - sonnet
  - gpt
  - security
";

fn shop(file: &str, text: &str) -> (Shop, String) {
    let shop = Shop::new();
    let path = shop.outside(file);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(&path, text).expect("a file");
    fs::write(path.with_file_name("token"), "secret-of-rodin\n").expect("a file");
    (shop, path.display().to_string())
}

// spec: DSP-2 @local
#[test]
fn the_source_s_file_is_read_as_it_is() {
    let (shop, path) = shop("api.yaml", SOURCE);
    let text = shop.ends(0, &["worker-prompt", "findings", "7", "--project", &path]).out;
    assert!(text.contains("#7 of rodin/review-bot"), "{text}");
    let folder = shop.outside("").display().to_string();
    shop.ends(0, &["worker-prompt", "findings", "7", "--project", "api", "--projects", &folder]);
    // The forge is not there: nothing is printed, and the next run tries again.
    let ran = shop.ends(75, &["dispatch", &path]);
    assert_eq!(ran.out, "");
    assert!(!ran.err.contains("secret-of-rodin"), "{}", ran.err);
}

// spec: DSP-2 @local
#[test]
fn what_is_wrong_with_a_project_is_said_with_its_line() {
    let toml = "repo = \"acme/api\"\nuser = \"rodin\"\nforge = \"work\"\n";
    let cases: [(&str, String, &[&str]); 12] = [
        ("a.yaml", SOURCE.replace("review_bots:", "reveiw_bots:"), &["line 9", "`reveiw_bots`", "mean `review_bots`"]),
        ("a.yaml", SOURCE.replace("  wip: 41", "  wpi: 41"), &["line 7", "`wpi`", "did you mean `wip`?"]),
        ("a.yaml", SOURCE.replace("user: rodin", "users: rodin"), &["line 5", "did you mean `user`?"]),
        ("a.yaml", SOURCE.replace("rodin/review-bot ", "review-bot "), &["line 2", "is no `OWNER/NAME`"]),
        ("a.yaml", SOURCE.replace("http://127.0.0.1:9/api/v1", "git.example.org"), &["line 3", "`api_base` must be"]),
        ("a.yaml", SOURCE.replace("  wip: 41", "  wip: [41]"), &["line 7", "a label's name or id"]),
        ("a.yaml", SOURCE.replace("user: rodin ", "# "), &["`user`"]),
        ("a.yaml", format!("{SOURCE}wip_max_age: soon\n"), &["line 13", "`soon` is no length of time"]),
        ("a.yaml", format!("{SOURCE}pulls: some\n"), &["line 13", "`pulls` must be"]),
        ("a.yaml", format!("{SOURCE}workers: {{ merge: x }}\n"), &["line 13", "`merge`"]),
        ("a.yaml", format!("{SOURCE}forge: work\n"), &["exactly one of `api_base` and `forge`"]),
        ("a.toml", toml.replace("user", "uzer"), &["line 2", "did you mean `user`?"]),
    ];
    for (file, text, parts) in cases {
        let (shop, path) = shop(file, &text);
        let ran = shop.ends(2, &["dispatch", &path]);
        for part in parts {
            assert!(ran.err.contains(part), "{part} is missing in {}\nof\n{text}", ran.err);
        }
        assert_eq!(ran.out, "");
    }
    let (shop, path) = shop("projects/api.toml", toml);
    let ran = shop.ends(2, &["dispatch", &path]);
    assert!(ran.err.contains("no `[forge.work]`"), "{}", ran.err);
    let folder = shop.outside("projects").display().to_string();
    let ran = shop.ends(2, &["dispatch", "apj", "--projects", &folder]);
    assert!(ran.err.contains("did you mean `api`?"), "{}", ran.err);
    let ran = shop.ends(2, &["dispatch", "nowhere/api.yaml"]);
    assert!(ran.err.contains("cannot be read"), "{}", ran.err);
}

// spec: DSP-13 @local
#[test]
fn an_own_task_gets_the_constraints_and_may_ask_for_no_merge() {
    let (shop, path) = shop("api.yaml", SOURCE);
    let tasks = shop.outside("worker-tasks");
    fs::create_dir_all(&tasks).expect("a folder");
    fs::write(tasks.join("ci-fix.md"), "Mend #{number} at {head}, {user}.\n").expect("a file");
    let args = ["worker-prompt", "ci-fix", "7", "--project", &path, "--head", "0123abc"];
    let text = shop.ends(0, &args).out;
    assert!(text.starts_with("# ⛔ ABSOLUTE CONSTRAINTS") && text.contains("Mend #7 at 0123abc, rodin."), "{text}");
    assert!(text.contains("NEVER close a PR.") && text.trim_end().ends_with("answer `NO_REPLY`."), "{text}");
    let document: Value = serde_json::from_str(&shop.ends(0, &[&args[..], &["--json"]].concat()).out).expect("JSON");
    assert_eq!((&document["type"], &document["text"]), (&Value::from("ci-fix"), &Value::from(text)));

    fs::write(tasks.join("ci-fix.md"), "Then POST to /pulls/{number}/merge.\n").expect("a file");
    let ran = shop.ends(2, &args);
    assert_eq!(ran.out, "");
    assert!(ran.err.contains("line 1 of its task has `/merge`"), "{}", ran.err);
    let ran = shop.ends(2, &["worker-prompt", "ci-fux", "7", "--project", &path]);
    assert!(ran.err.contains("did you mean `ci-fix`?"), "{}", ran.err);
}

/// S8, S10: for every type, with the task that comes with referee and with an own one.
// spec: DSP-13 @local
#[test]
fn no_worker_is_told_to_merge_or_close_and_each_is_told_not_to() {
    let (shop, path) = shop("api.yaml", SOURCE);
    let tasks = shop.outside("worker-tasks");
    fs::create_dir_all(&tasks).expect("a folder");
    for kind in ["self-review", "sr-fix", "ci-fix", "address-feedback", "findings", "rebase", "impl"] {
        let args = ["worker-prompt", kind, "7", "--project", &path];
        let own = tasks.join(format!("{kind}.md"));
        for task in [None, Some("Do your best.\n")] {
            if let Some(text) = task {
                fs::write(&own, text).expect("a file");
            }
            let text = shop.ends(0, &args).out;
            for constraint in ["NEVER close a PR.", "NEVER merge a PR."] {
                assert_eq!(text.matches(constraint).count(), 1, "{kind}: {text}");
            }
            for call in ["/merge", "state=closed", "pr merge", "pr close"] {
                assert!(!text.contains(call), "{kind}: {text}");
            }
        }
        for call in ["curl -X POST $API/pulls/7/merge", "curl -X PATCH $API/pulls/7 -d '{\"state\": \"closed\"}'"] {
            fs::write(&own, format!("Do your best.\n{call}\n")).expect("a file");
            let ran = shop.ends(2, &args);
            assert!(ran.out.is_empty() && ran.err.contains("line 2 of its task has"), "{kind}: {}", ran.err);
        }
    }
}
