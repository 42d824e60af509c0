//! Project files and the prompts of workers. Neither needs a forge.

use std::fs;

use serde_json::Value;

use crate::test_repo::TestRepo;

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

fn repo_with_project(file: &str, text: &str) -> (TestRepo, String) {
    let repo = TestRepo::new();
    let path = repo.path_outside(file);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(&path, text).expect("a file");
    fs::write(path.with_file_name("token"), "secret-of-rodin\n").expect("a file");
    (repo, path.display().to_string())
}

// spec: DSP-2 @local
#[test]
fn an_existing_project_file_is_read_unchanged() {
    let (repo, path) = repo_with_project("api.yaml", SOURCE);
    let text = repo.run_expecting(0, &["worker-prompt", "findings", "7", "--project", &path]).out;
    assert!(text.contains("#7 of rodin/review-bot"), "{text}");
    // No forge answers here, so the label keeps its id.
    assert!(text.contains("remove the label `id 41` from #7"), "{text}");
    let folder = repo.path_outside("").display().to_string();
    repo.run_expecting(0, &["worker-prompt", "findings", "7", "--project", "api", "--projects", &folder]);
    // The forge is not there: nothing is printed, and the next run tries again.
    let ran = repo.run_expecting(75, &["dispatch", &path]);
    assert_eq!(ran.out, "");
    assert!(!ran.err.contains("secret-of-rodin"), "{}", ran.err);
}

// spec: DSP-2 @local
#[test]
fn errors_in_a_project_file_name_their_line() {
    let toml = "repo = \"acme/api\"\nuser = \"rodin\"\nforge = \"work\"\n";
    let cases: [(&str, String, &[&str]); 12] = [
        ("a.yaml", SOURCE.replace("review_bots:", "reveiw_bots:"), &["line 9", "`reveiw_bots`", "mean `review_bots`"]),
        ("a.yaml", SOURCE.replace("  wip: 41", "  wpi: 41"), &["line 7", "`wpi`", "did you mean `wip`?"]),
        ("a.yaml", SOURCE.replace("user: rodin", "users: rodin"), &["line 5", "did you mean `user`?"]),
        ("a.yaml", SOURCE.replace("rodin/review-bot ", "review-bot "), &["line 2", "is not of the form `OWNER/NAME`"]),
        ("a.yaml", SOURCE.replace("http://127.0.0.1:9/api/v1", "git.example.org"), &["line 3", "`api_base` must be"]),
        ("a.yaml", SOURCE.replace("  wip: 41", "  wip: [41]"), &["line 7", "a label's name or id"]),
        ("a.yaml", SOURCE.replace("user: rodin ", "# "), &["`user`"]),
        ("a.yaml", format!("{SOURCE}wip_max_age: soon\n"), &["line 13", "`soon` is not a duration"]),
        ("a.yaml", format!("{SOURCE}pulls: some\n"), &["line 13", "`pulls` must be"]),
        ("a.yaml", format!("{SOURCE}workers: {{ merge: x }}\n"), &["line 13", "`merge`"]),
        ("a.yaml", format!("{SOURCE}forge: work\n"), &["exactly one of `api_base` and `forge`"]),
        ("a.toml", toml.replace("user", "uzer"), &["line 2", "did you mean `user`?"]),
    ];
    for (file, text, parts) in cases {
        let (repo, path) = repo_with_project(file, &text);
        let ran = repo.run_expecting(2, &["dispatch", &path]);
        for part in parts {
            assert!(ran.err.contains(part), "{part} is missing in {}\nof\n{text}", ran.err);
        }
        assert_eq!(ran.out, "");
    }
    let (repo, path) = repo_with_project("projects/api.toml", toml);
    let ran = repo.run_expecting(2, &["dispatch", &path]);
    assert!(ran.err.contains("no `[forge.work]`"), "{}", ran.err);
    let folder = repo.path_outside("projects").display().to_string();
    let ran = repo.run_expecting(2, &["dispatch", "apj", "--projects", &folder]);
    assert!(ran.err.contains("did you mean `api`?"), "{}", ran.err);
    let ran = repo.run_expecting(2, &["dispatch", "nowhere/api.yaml"]);
    assert!(ran.err.contains("cannot be read"), "{}", ran.err);
}

// spec: DSP-13 @local
#[test]
fn a_custom_task_gets_the_constraints_and_may_not_ask_for_a_merge() {
    let (repo, path) = repo_with_project("api.yaml", &SOURCE.replace("wip: 41", "wip: busy"));
    let tasks = repo.path_outside("worker-tasks");
    fs::create_dir_all(&tasks).expect("a folder");
    fs::write(tasks.join("ci-fix.md"), "Mend #{number} at {head}, {user}.\n").expect("a file");
    let args = ["worker-prompt", "ci-fix", "7", "--project", &path, "--head", "0123abc"];
    let text = repo.run_expecting(0, &args).out;
    assert!(text.starts_with("# ⛔ ABSOLUTE CONSTRAINTS") && text.contains("Mend #7 at 0123abc, rodin."), "{text}");
    assert!(text.contains("NEVER close a PR.") && text.trim_end().ends_with("answer `NO_REPLY`."), "{text}");
    let document: Value =
        serde_json::from_str(&repo.run_expecting(0, &[&args[..], &["--json"]].concat()).out).expect("JSON");
    assert_eq!((&document["type"], &document["text"]), (&Value::from("ci-fix"), &Value::from(text)));

    // The source's constraints quote the calls that they forbid; quoting is allowed, calling is not.
    let source = "- **NEVER close a PR.** Never call `PATCH /pulls/{id}` with `state=closed`.\n\
                  - **NEVER merge a PR.** Never call the merge API.\n\n\
                  Solve the PR merge conflicts in src/merge.rs, and look at the PR closely.\n";
    fs::write(tasks.join("ci-fix.md"), source).expect("a file");
    let text = repo.run_expecting(0, &args).out;
    assert!(text.contains("with `state=closed`") && text.contains("src/merge.rs"), "{text}");

    fs::write(tasks.join("ci-fix.md"), "Then POST to /pulls/{number}/merge.\n").expect("a file");
    let ran = repo.run_expecting(2, &args);
    assert_eq!(ran.out, "");
    assert!(ran.err.contains("line 1 contains `/merge`"), "{}", ran.err);
    let ran = repo.run_expecting(2, &["worker-prompt", "ci-fux", "7", "--project", &path]);
    assert!(ran.err.contains("did you mean `ci-fix`?"), "{}", ran.err);
}

/// S8, S10: for every kind of job, with the built-in and with a custom task.
// spec: DSP-13 @local
#[test]
fn every_prompt_forbids_merging_and_closing() {
    let (repo, path) = repo_with_project("api.yaml", &SOURCE.replace("wip: 41", "wip: busy"));
    let tasks = repo.path_outside("worker-tasks");
    fs::create_dir_all(&tasks).expect("a folder");
    for kind in ["self-review", "sr-fix", "ci-fix", "address-feedback", "findings", "rebase", "impl"] {
        let args = ["worker-prompt", kind, "7", "--project", &path];
        let own = tasks.join(format!("{kind}.md"));
        for task in [None, Some("Do your best.\n")] {
            if let Some(text) = task {
                fs::write(&own, text).expect("a file");
            }
            let text = repo.run_expecting(0, &args).out;
            for constraint in ["NEVER close a PR.", "NEVER merge a PR."] {
                assert_eq!(text.matches(constraint).count(), 1, "{kind}: {text}");
            }
            for call in ["/merge", "state=closed", "pr merge", "pr close"] {
                assert!(!text.contains(call), "{kind}: {text}");
            }
        }
        for call in ["curl -X POST $API/pulls/7/merge", "curl -X PATCH $API/pulls/7 -d '{\"state\": \"closed\"}'"] {
            fs::write(&own, format!("Do your best.\n{call}\n")).expect("a file");
            let ran = repo.run_expecting(2, &args);
            assert!(ran.out.is_empty() && ran.err.contains("line 2 contains"), "{kind}: {}", ran.err);
        }
    }
}
