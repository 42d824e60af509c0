//! A reviewer program whose report a test sets. It records every start.

use serde_json::{Value, json};

use crate::test_pull::TestPull;

/// The reviewer of one role, configured in the operator file.
pub(crate) struct Reviewer<'a> {
    test_pull: &'a TestPull,
    role: &'static str,
}

impl<'a> Reviewer<'a> {
    /// Installs the program and writes the operator file.
    pub(crate) fn install(test_pull: &'a TestPull, role: &'static str) -> Self {
        let folder = test_pull.site.path(".config/referee");
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = |end: &str| test_pull.site.path(&format!("{role}.{end}")).display().to_string();
        // The script records a start by appending its brief to a file.
        let script = format!(
            "cat >>'{0}'; echo >>'{0}'\n. '{1}'\nsed \"s/@HEAD@/$(git rev-parse HEAD)/\" '{2}'\n",
            file("starts"),
            file("does"),
            file("json")
        );
        std::fs::write(file("sh"), script).expect("a script");
        let entry = format!("[commands.{role}]\nargv = [\"sh\", \"{}\"]\n", file("sh"));
        std::fs::write(folder.join("operator.toml"), entry).expect("a file");
        let reviewer = Self { test_pull, role };
        reviewer.set_script(":");
        reviewer
    }

    /// Sets the report it prints from now on, for every head.
    pub(crate) fn set_report(&self, report: Value) {
        let mut full = report;
        full["head"] = json!("@HEAD@");
        let path = self.test_pull.site.full_report(self.test_pull.pull, self.role, full);
        std::fs::copy(path, self.file("json")).expect("a file");
    }

    /// Sets the shell commands it runs before it prints its report.
    pub(crate) fn set_script(&self, script: &str) {
        std::fs::write(self.file("does"), script).expect("a file");
    }

    /// Returns the briefs of its starts so far.
    pub(crate) fn briefs(&self) -> Vec<Value> {
        let notes = std::fs::read_to_string(self.file("starts")).unwrap_or_default();
        notes.lines().map(|line| serde_json::from_str(line).expect("a brief")).collect()
    }

    pub(crate) fn start_count(&self) -> usize {
        self.briefs().len()
    }

    fn file(&self, end: &str) -> std::path::PathBuf {
        self.test_pull.site.path(&format!("{}.{end}", self.role))
    }
}
