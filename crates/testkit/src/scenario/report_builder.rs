//! Builders of reports: `report("security").finds(critical("the token is logged").at("src/a.rs", 3))`.

use referee_core::model::{
    Coverage, FindingId, Position, RoleName, RunCost, Severity, Sha, SkippedFile, Submission, SubmittedFinding,
    SubmittedOutcome, SubmittedPosition,
};
use referee_core::track::Side;

/// Builds a critical finding, which blocks on its own.
pub fn critical(title: &str) -> FindingBuilder {
    FindingBuilder::new(title, Severity::Critical)
}

/// Builds a warning; several of them block together.
pub fn warning(title: &str) -> FindingBuilder {
    FindingBuilder::new(title, Severity::Warning)
}

/// Builds a suggestion, which never blocks.
pub fn suggestion(title: &str) -> FindingBuilder {
    FindingBuilder::new(title, Severity::Suggestion)
}

/// Builds a report of a role: complete and clean unless more is added.
pub fn report(role: &str) -> ReportBuilder {
    ReportBuilder {
        role: RoleName::from(role),
        read: ReadCoverage::Everything,
        failed: None,
        findings: Vec::new(),
        positions: Vec::new(),
        deterministic: false,
        summary: String::new(),
        micro_usd: 0,
    }
}

/// A builder of a finding.
#[derive(Clone, Debug)]
pub struct FindingBuilder(SubmittedFinding);

/// A builder of a report.
#[derive(Clone, Debug)]
pub struct ReportBuilder {
    pub(super) role: RoleName,
    read: ReadCoverage,
    failed: Option<String>,
    findings: Vec<SubmittedFinding>,
    positions: Vec<SubmittedPosition>,
    deterministic: bool,
    summary: String,
    micro_usd: u64,
}

#[derive(Clone, Debug)]
enum ReadCoverage {
    Everything,
    Nothing,
    AllBut(String),
}

impl FindingBuilder {
    fn new(title: &str, severity: Severity) -> Self {
        Self(SubmittedFinding {
            title: title.to_owned(),
            body: "It breaks when it runs.".to_owned(),
            severity,
            path: "src/a.rs".to_owned(),
            line: None,
            end_line: None,
            column: None,
            help: None,
            side: Side::New,
            rule: None,
            suggestion: None,
        })
    }

    /// Sets the file and line.
    #[must_use]
    pub fn at(mut self, path: &str, line: u32) -> Self {
        path.clone_into(&mut self.0.path);
        self.0.line = Some(line);
        self
    }

    /// Sets the rule that found it.
    #[must_use]
    pub fn rule(mut self, rule: &str) -> Self {
        self.0.rule = Some(rule.to_owned());
        self
    }

    /// Sets the explanation.
    #[must_use]
    pub fn because(mut self, body: &str) -> Self {
        body.clone_into(&mut self.0.body);
        self
    }
}

impl ReportBuilder {
    /// Adds a finding.
    #[must_use]
    pub fn finds(mut self, finding: FindingBuilder) -> Self {
        self.findings.push(finding.0);
        self
    }

    /// States that a prior finding is fixed.
    #[must_use]
    pub fn fixed(self, finding: u64) -> Self {
        self.add_position(finding, Position::Fixed, "", "")
    }

    /// States that a prior finding is fixed, with evidence.
    #[must_use]
    pub fn fixed_by(self, finding: u64, evidence: &str) -> Self {
        self.add_position(finding, Position::Fixed, evidence, "")
    }

    /// States that a prior finding is still there.
    #[must_use]
    pub fn still_there(self, finding: u64) -> Self {
        self.add_position(finding, Position::StillThere, "", "")
    }

    /// States that a prior finding got worse, with evidence.
    #[must_use]
    pub fn worsened(self, finding: u64, evidence: &str) -> Self {
        self.add_position(finding, Position::Worsened, evidence, "")
    }

    /// Concedes a disputed finding.
    #[must_use]
    pub fn concedes(self, finding: u64) -> Self {
        self.add_position(finding, Position::Conceded, "", "")
    }

    /// Insists on a disputed finding, with a reply.
    #[must_use]
    pub fn stands(self, finding: u64, reply: &str) -> Self {
        self.add_position(finding, Position::Stands, "", reply)
    }

    /// Makes the review fail.
    #[must_use]
    pub fn fails(mut self, reason: &str) -> Self {
        self.failed = Some(reason.to_owned());
        self
    }

    /// Omits the coverage.
    #[must_use]
    pub fn without_proof(mut self) -> Self {
        self.read = ReadCoverage::Nothing;
        self
    }

    /// Reports one file as not read.
    #[must_use]
    pub fn skips(mut self, path: &str) -> Self {
        self.read = ReadCoverage::AllBut(path.to_owned());
        self
    }

    /// Marks the report as written by a deterministic program.
    #[must_use]
    pub fn deterministic(mut self) -> Self {
        self.deterministic = true;
        self
    }

    /// Sets the cost, in millionths of a dollar.
    #[must_use]
    pub fn costs(mut self, micro_usd: u64) -> Self {
        self.micro_usd = micro_usd;
        self
    }

    fn add_position(mut self, finding: u64, position: Position, evidence: &str, reply: &str) -> Self {
        self.positions.push(SubmittedPosition {
            finding: FindingId(finding),
            position,
            evidence: evidence.to_owned(),
            reply: reply.to_owned(),
        });
        self
    }

    /// Describes the report in one line for the transcript.
    pub(super) fn describe(&self) -> String {
        let mut parts: Vec<String> =
            self.findings.iter().map(|finding| format!("{} `{}`", finding.severity, finding.title)).collect();
        parts.extend(
            self.positions.iter().map(|stated| format!("{} {}", stated.finding, describe_position(stated.position))),
        );
        let what = match (&self.failed, parts.is_empty()) {
            (Some(reason), _) => format!("fails: {reason}"),
            (None, true) => "finds nothing".to_owned(),
            (None, false) => format!("says {}", parts.join(", ")),
        };
        let proof = match &self.read {
            ReadCoverage::Everything => String::new(),
            ReadCoverage::Nothing => ", without proof of what it read".to_owned(),
            ReadCoverage::AllBut(path) => format!(", without reading {path}"),
        };
        format!("{} {what}{proof}", self.role)
    }

    /// Builds the submission for that head and those files.
    pub(super) fn to_submission(&self, head: &Sha, files: Vec<String>, run: String) -> Submission {
        let coverage = match &self.read {
            ReadCoverage::Everything => Some(Coverage { read: files, skipped: Vec::new() }),
            ReadCoverage::Nothing => None,
            ReadCoverage::AllBut(path) => Some(Coverage {
                read: files.into_iter().filter(|file| file != path).collect(),
                skipped: vec![SkippedFile { path: path.clone(), why: "too long".to_owned() }],
            }),
        };
        let outcome = match (&self.failed, self.findings.is_empty()) {
            (Some(_), _) => SubmittedOutcome::Failed,
            (None, true) => SubmittedOutcome::Clean,
            (None, false) => SubmittedOutcome::Findings,
        };
        Submission {
            schema: "referee/report-1".to_owned(),
            role: self.role.clone(),
            head: head.clone(),
            outcome,
            reason: self.failed.clone().unwrap_or_default(),
            coverage: coverage.filter(|_| self.failed.is_none()),
            summary: self.summary.clone(),
            findings: self.findings.clone(),
            positions: self.positions.clone(),
            deterministic: self.deterministic,
            run,
            left_out: Default::default(),
            tool: None,
            figures: RunCost { tokens: 1_000, micro_usd: self.micro_usd, seconds: 5, runs: 1 },
        }
    }
}

fn describe_position(position: Position) -> &'static str {
    match position {
        Position::Fixed => "is fixed",
        Position::StillThere => "is still there",
        Position::Worsened => "is worse",
        Position::Conceded => "was no defect",
        Position::Stands => "stands",
    }
}
