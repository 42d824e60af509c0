//! A reviewer program whose report a test sets. It records every start.

use serde_json::{Value, json};

use crate::pull_view::string;
use crate::test_repo::TestRepo;

/// The reviewer of one role, configured in the operator file.
pub(crate) struct Reviewer<'a> {
    repo: &'a TestRepo,
    role: &'static str,
}

impl<'a> Reviewer<'a> {
    /// Installs a program for each role and writes the operator file.
    pub(crate) fn install<const N: usize>(repo: &'a TestRepo, roles: [&'static str; N]) -> [Self; N] {
        let folder = repo.path_outside("home/.config/referee");
        std::fs::create_dir_all(&folder).expect("a folder");
        let entry = |role: &&str| {
            let script = repo.path_outside(&format!("{role}.sh"));
            // The script records a start by appending its brief to a file.
            let starts = repo.path_outside(&format!("{role}.starts"));
            let script_text = format!(
                "cat >>'{0}'; echo >>'{0}'\n. '{1}.does'\nsed \"s/@HEAD@/$(git rev-parse HEAD)/\" '{1}.json'\n",
                starts.display(),
                repo.path_outside(role).display()
            );
            std::fs::write(&script, script_text).expect("a script");
            format!("[commands.{role}]\nargv = [\"sh\", \"{}\"]\n", script.display())
        };
        std::fs::write(folder.join("operator.toml"), roles.iter().map(entry).collect::<String>()).expect("a file");
        roles.map(|role| {
            let reviewer = Self { repo, role };
            reviewer.set_script(":");
            reviewer
        })
    }

    /// Sets the report it prints from now on, for every head.
    pub(crate) fn set_report(&self, report: Value) {
        let mut full = self.repo.full_report(self.role, report);
        full["head"] = json!("@HEAD@");
        self.repo.write_outside(&format!("{}.json", self.role), full.to_string());
    }

    /// Sets the shell commands it runs before it prints its report.
    pub(crate) fn set_script(&self, script: &str) {
        self.repo.write_outside(&format!("{}.does", self.role), script);
    }

    /// Makes it fail from now on.
    pub(crate) fn set_failing(&self) {
        self.set_script("echo 'no more memory' >&2; exit 3");
    }

    /// Returns the briefs of its starts so far.
    pub(crate) fn briefs(&self) -> Vec<Value> {
        let notes =
            std::fs::read_to_string(self.repo.path_outside(&format!("{}.starts", self.role))).unwrap_or_default();
        notes.lines().map(|line| serde_json::from_str(line).expect("a brief")).collect()
    }

    pub(crate) fn start_count(&self) -> usize {
        self.briefs().len()
    }
}

/// Returns the refusals of a run with their reasons.
pub(crate) fn refusals(turn: &Value) -> Vec<String> {
    let all = turn["refused"].as_array().expect("refused").iter();
    all.map(|it| format!("{}: {}", string(&it["what"]), string(&it["why"]))).collect()
}
