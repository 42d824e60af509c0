//! `referee init`: what it writes, and what it leaves alone.

use serde_json::Value;

use crate::shop::Shop;

const WORKFLOWS: [(&str, &str, &str); 2] = [
    ("gitea", ".gitea/workflows/referee.yml", "runs-on: ubuntu-latest\n"),
    ("forgejo", ".forgejo/workflows/referee.yml", "runs-on: docker\n"),
];

fn read(shop: &Shop, path: &str) -> String {
    std::fs::read_to_string(shop.dir().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn did<'a>(told: &'a Value, path: &str) -> &'a str {
    let files = told["files"].as_array().expect("files");
    files.iter().find(|it| it["file"] == path).and_then(|it| it["did"].as_str()).unwrap_or("nothing")
}

#[test]
fn a_workflow_is_written_once_and_kept() {
    for (ci, path, runner) in WORKFLOWS {
        let shop = Shop::new();
        let would = shop.run(&["init", "--ci", ci, "--check"]);
        assert!(would.out.contains(&format!("would write {path}")), "{}", would.out);
        assert!(!shop.dir().join(path).exists());

        let told = shop.json(&["init", "--ci", ci]);
        assert_eq!((did(&told, path), did(&told, "referee.toml")), ("wrote", "wrote"), "{told:#}");
        let missing = told["missing"].to_string();
        assert!(missing.contains("REFEREE_TOKEN") && missing.contains("write:issue"), "{missing}");
        let text = read(&shop, path);
        assert!(text.contains(runner) && text.contains("- run: referee review\n"), "{text}");
        assert_eq!(did(&shop.json(&["init", "--ci", ci]), path), "has");

        shop.write(path, "name: mine\n");
        assert_eq!(did(&shop.json(&["init", "--ci", ci]), path), "kept");
        assert_eq!(read(&shop, path), "name: mine\n");
    }
}

#[test]
fn a_workflow_gives_a_fork_no_secret_and_the_token_to_one_step_alone() {
    for (ci, path, _) in WORKFLOWS {
        let shop = Shop::new();
        shop.json(&["init", "--ci", ci]);
        let text = read(&shop, path);
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
    let shop = Shop::with_config(
        "version = 1\n[[role]]\nname = \"static\"\nbuiltin = true\n[[role]]\nname = \"docs\"\nbuiltin = true\n",
    );
    shop.json(&["init", "--ci", "gitea", "--matrix"]);
    let text = read(&shop, ".gitea/workflows/referee.yml");
    assert!(text.contains("        role: [\"static\", \"docs\"]\n    steps:\n"), "{text}");
    assert!(text.contains("- run: referee review --role \"$ROLE\"\n"), "{text}");
    assert!(text.contains("          ROLE: ${{ matrix.role }}\n          REFEREE_TOKEN: "), "{text}");
}

#[test]
fn a_matrix_that_cannot_be_made_writes_nothing() {
    let shop = Shop::new();
    for (args, words) in
        [(["--ci", "gitlab", "--matrix"].as_slice(), "`--matrix` is for `--ci gitea`"), (&["--matrix"], "--ci")]
    {
        let ran = shop.ends(2, &[&["init"], args].concat());
        assert!(ran.err.contains(words), "{}", ran.err);
    }
    shop.write("referee.toml", "[[role]]\nname = 3\n");
    let ran = shop.ends(2, &["init", "--ci", "gitea", "--matrix"]);
    assert!(ran.err.contains("nothing was written") && ran.err.contains("invalid type"), "{}", ran.err);
    assert!(!shop.dir().join(".gitea").exists());
}
