//! `referee init`: what it writes, and what it never overwrites.

use serde_json::Value;

use crate::test_repo::TestRepo;

const WORKFLOWS: [(&str, &str, &str); 2] = [
    ("gitea", ".gitea/workflows/referee.yml", "runs-on: ubuntu-latest\n"),
    ("forgejo", ".forgejo/workflows/referee.yml", "runs-on: docker\n"),
];

fn read(repo: &TestRepo, path: &str) -> String {
    std::fs::read_to_string(repo.dir().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn did<'a>(document: &'a Value, path: &str) -> &'a str {
    let files = document["files"].as_array().expect("files");
    files.iter().find(|it| it["file"] == path).and_then(|it| it["did"].as_str()).unwrap_or("nothing")
}

#[test]
fn a_workflow_is_written_once_and_never_overwritten() {
    for (ci, path, runner) in WORKFLOWS {
        let repo = TestRepo::new();
        let would = repo.run(&["init", "--ci", ci, "--check"]);
        assert!(would.out.contains(&format!("would write {path}")), "{}", would.out);
        assert!(!repo.dir().join(path).exists());

        let document = repo.json(&["init", "--ci", ci]);
        assert_eq!((did(&document, path), did(&document, "referee.toml")), ("wrote", "wrote"), "{document:#}");
        let missing = document["missing"].to_string();
        assert!(missing.contains("REFEREE_TOKEN") && missing.contains("write:issue"), "{missing}");
        let text = read(&repo, path);
        assert!(text.contains(runner) && text.contains("- run: referee review\n"), "{text}");
        assert_eq!(did(&repo.json(&["init", "--ci", ci]), path), "has");

        repo.write(path, "name: mine\n");
        assert_eq!(did(&repo.json(&["init", "--ci", ci]), path), "kept");
        assert_eq!(read(&repo, path), "name: mine\n");
    }
}

#[test]
fn a_workflow_gives_forks_no_secret_and_only_one_step_the_token() {
    for (ci, path, _) in WORKFLOWS {
        let repo = TestRepo::new();
        repo.json(&["init", "--ci", ci]);
        let text = read(&repo, path);
        assert!(text.contains("if: ${{ github.event.pull_request.head.repo.full_name == github.repository"), "{text}");
        assert_eq!(text.matches("secrets.REFEREE_TOKEN").count(), 1, "{text}");
        assert!(!text.contains("pull_request_target") && text.contains("persist-credentials: false"), "{text}");
        // What people write must not become a command of the shell.
        let runs: Vec<&str> = text.lines().filter(|line| line.contains("run:")).collect();
        assert!(runs.iter().all(|line| !line.contains("${{")), "{runs:?}");
    }
}

#[test]
fn a_matrix_has_a_job_for_each_role() {
    let repo = TestRepo::with_config(
        "version = 1\n[[role]]\nname = \"static\"\nbuiltin = true\n[[role]]\nname = \"docs\"\nbuiltin = true\n",
    );
    repo.json(&["init", "--ci", "gitea", "--matrix"]);
    let text = read(&repo, ".gitea/workflows/referee.yml");
    assert!(text.contains("        role: [\"static\", \"docs\"]\n    steps:\n"), "{text}");
    assert!(text.contains("- run: referee review --role \"$ROLE\"\n"), "{text}");
    assert!(text.contains("          ROLE: ${{ matrix.role }}\n          REFEREE_TOKEN: "), "{text}");
}

#[test]
fn an_impossible_matrix_writes_nothing() {
    let repo = TestRepo::new();
    for (args, words) in [
        (["--ci", "gitlab", "--matrix"].as_slice(), "`--matrix` works only with `--ci gitea`"),
        (&["--matrix"], "--ci"),
    ] {
        let ran = repo.run_expecting(2, &[&["init"], args].concat());
        assert!(ran.err.contains(words), "{}", ran.err);
    }
    repo.write("referee.toml", "[[role]]\nname = 3\n");
    let ran = repo.run_expecting(2, &["init", "--ci", "gitea", "--matrix"]);
    assert!(ran.err.contains("nothing was written") && ran.err.contains("invalid type"), "{}", ran.err);
    assert!(!repo.dir().join(".gitea").exists());
}
