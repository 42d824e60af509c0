//! `[journal] texts` holds for every command that stores a turn.

use serde_json::json;

use crate::answers::{GENEROUS, answer, fix, open, thread};
use crate::test_repo::{TestRepo, read_files};

const WORDS: &str = "only bob would put it like this";

#[test]
fn no_command_stores_texts_if_the_operator_forbids_it() {
    for (setting, is_stored) in [("on", true), ("off", false)] {
        for command in ["review", "fix-comments"] {
            let repo = TestRepo::with_config(GENEROUS);
            repo.write_operator_file(&format!("[journal]\ntexts = \"{setting}\"\n"));
            open(&repo);
            let thread = thread(&repo, "bob", "a.py:1", WORDS);
            let ran = match command {
                "review" => repo.run(&["review", "L1"]),
                _ => fix(&repo, &["--apply", "--detached"], &[answer(&repo, &thread, "valid", json!({}))]),
            };
            assert_eq!(ran.code, 0, "{command}: {}", ran.err);
            let replayed = repo.json(&["replay", "1"]);
            assert_eq!(replayed["same"], true, "{command}: a turn is decided again without texts: {replayed:#}");
            let files = read_files(&repo.dir().join(".git/referee"));
            let mut store = files.iter().filter(|(path, _)| path.to_string_lossy().contains("state.db"));
            let has_words = |bytes: &[u8]| bytes.windows(WORDS.len()).any(|part| part == WORDS.as_bytes());
            assert_eq!(store.any(|(_, bytes)| has_words(bytes)), is_stored, "{command}, texts {setting}");
        }
    }
}
