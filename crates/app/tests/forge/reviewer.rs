//! A program that reviews for a role: it notes each start, and prints what the test wants it to.

use serde_json::{Value, json};

use crate::play::Play;

/// The reviewer of one role, run by referee as an operator sets it up.
pub(crate) struct Reviewer<'a> {
    play: &'a Play,
    role: &'static str,
}

impl<'a> Reviewer<'a> {
    /// Sets the program up, in the user's own operator file.
    pub(crate) fn of(play: &'a Play, role: &'static str) -> Self {
        let folder = play.site.path(".config/referee");
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = |end: &str| play.site.path(&format!("{role}.{end}")).display().to_string();
        // The brief that a start is given is the note of it.
        let words = format!(
            "cat >>'{0}'; echo >>'{0}'\n. '{1}'\nsed \"s/@HEAD@/$(git rev-parse HEAD)/\" '{2}'\n",
            file("starts"),
            file("does"),
            file("json")
        );
        std::fs::write(file("sh"), words).expect("a script");
        let entry = format!("[commands.{role}]\nargv = [\"sh\", \"{}\"]\n", file("sh"));
        std::fs::write(folder.join("operator.toml"), entry).expect("a file");
        let reviewer = Self { play, role };
        reviewer.does(":");
        reviewer
    }

    /// What it hands in from now on, whatever the head.
    pub(crate) fn says(&self, report: Value) {
        let mut full = report;
        full["head"] = json!("@HEAD@");
        let path = self.play.site.full_report(self.play.pull, self.role, full);
        std::fs::copy(path, self.file("json")).expect("a file");
    }

    /// What it does before it answers, in the shell's words.
    pub(crate) fn does(&self, words: &str) {
        std::fs::write(self.file("does"), words).expect("a file");
    }

    /// The briefs of its starts so far.
    pub(crate) fn briefs(&self) -> Vec<Value> {
        let notes = std::fs::read_to_string(self.file("starts")).unwrap_or_default();
        notes.lines().map(|line| serde_json::from_str(line).expect("a brief")).collect()
    }

    /// How often it was started.
    pub(crate) fn starts(&self) -> usize {
        self.briefs().len()
    }

    fn file(&self, end: &str) -> std::path::PathBuf {
        self.play.site.path(&format!("{}.{end}", self.role))
    }
}
