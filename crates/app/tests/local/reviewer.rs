//! A program that reviews for a role: it notes each start, and prints what the test wants it to.

use serde_json::{Value, json};

use crate::shop::Shop;
use crate::talk::word;

/// The reviewer of one role, run by referee as an operator sets it up.
pub(crate) struct Reviewer<'a> {
    shop: &'a Shop,
    role: &'static str,
}

impl<'a> Reviewer<'a> {
    /// Sets the programs of these roles up, in the user's own operator file.
    pub(crate) fn of<const N: usize>(shop: &'a Shop, roles: [&'static str; N]) -> [Self; N] {
        let folder = shop.outside("home/.config/referee");
        std::fs::create_dir_all(&folder).expect("a folder");
        let entry = |role: &&str| {
            let script = shop.outside(&format!("{role}.sh"));
            // The brief that a start is given is the note of it.
            let notes = shop.outside(&format!("{role}.starts"));
            let words = format!(
                "cat >>'{0}'; echo >>'{0}'\n. '{1}.does'\nsed \"s/@HEAD@/$(git rev-parse HEAD)/\" '{1}.json'\n",
                notes.display(),
                shop.outside(role).display()
            );
            std::fs::write(&script, words).expect("a script");
            format!("[commands.{role}]\nargv = [\"sh\", \"{}\"]\n", script.display())
        };
        std::fs::write(folder.join("operator.toml"), roles.iter().map(entry).collect::<String>()).expect("a file");
        roles.map(|role| {
            let reviewer = Self { shop, role };
            reviewer.does(":");
            reviewer
        })
    }

    /// What it hands in from now on, whatever the head.
    pub(crate) fn says(&self, report: Value) {
        let mut full = self.shop.full_report(self.role, report);
        full["head"] = json!("@HEAD@");
        self.shop.file(&format!("{}.json", self.role), full.to_string());
    }

    /// What it does before it answers, in the shell's words.
    pub(crate) fn does(&self, words: &str) {
        self.shop.file(&format!("{}.does", self.role), words);
    }

    /// It breaks down from now on.
    pub(crate) fn breaks(&self) {
        self.does("echo 'no more memory' >&2; exit 3");
    }

    /// The briefs of its starts so far.
    pub(crate) fn briefs(&self) -> Vec<Value> {
        let notes = std::fs::read_to_string(self.shop.outside(&format!("{}.starts", self.role))).unwrap_or_default();
        notes.lines().map(|line| serde_json::from_str(line).expect("a brief")).collect()
    }

    /// How often it was started.
    pub(crate) fn starts(&self) -> usize {
        self.briefs().len()
    }
}

/// What was refused in a run, in words.
pub(crate) fn refused(turn: &Value) -> Vec<String> {
    let all = turn["refused"].as_array().expect("refused").iter();
    all.map(|it| format!("{}: {}", word(&it["what"]), word(&it["why"]))).collect()
}
