//! Faults planted into the output of the program, each of which the checks must see.

use serde_json::{Value, json};

use crate::run_output::RunOutput;

/// A defect of referee, imitated by changing what it prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Planted {
    DropFinding,
    ListTwice,
    KeepFixedFinding,
    BlankTitle,
    ForgetRule,
    ApproveEarly,
    ForgetRound,
    WrongExitCode,
    WriteAgain,
    FailureReadsClean,
    WrongWords,
    Miscount,
}

/// The kind of run whose output is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// The run that hands in a report.
    Review,
    /// A repeated run on an unchanged pull.
    Repeat,
    /// A run without `--json`.
    Words,
    /// A run whose linter failed.
    Failure,
}

impl Planted {
    pub(crate) const ALL: [Self; 12] = [
        Self::DropFinding,
        Self::ListTwice,
        Self::KeepFixedFinding,
        Self::BlankTitle,
        Self::ForgetRule,
        Self::ApproveEarly,
        Self::ForgetRound,
        Self::WrongExitCode,
        Self::WriteAgain,
        Self::FailureReadsClean,
        Self::WrongWords,
        Self::Miscount,
    ];

    pub(crate) fn tamper(self, moment: Moment, ran: &mut RunOutput) {
        match (self, moment) {
            (Self::FailureReadsClean, Moment::Failure) => {
                (ran.code, ran.err) = (0, "verdict: no findings, nothing blocking".to_owned());
            }
            (Self::WrongWords, Moment::Words) => ran.err = ran.err.replace("changes requested", "nothing blocking"),
            (Self::WrongExitCode, Moment::Review) if ran.code == 20 => ran.code = 0,
            (_, Moment::Review) => ran.edit(|document| self.tamper_review(document)),
            (_, Moment::Repeat) => ran.edit(|document| self.tamper_repeat(document)),
            _ => {}
        }
    }

    fn tamper_review(self, document: &mut Value) {
        let Some(findings) = document["findings"].as_array_mut() else { return };
        let open = findings.iter().position(|finding| finding["state"] == "open" || finding["state"] == "new");
        match self {
            Self::DropFinding => drop(open.map(|nth| findings.remove(nth))),
            Self::ListTwice => findings.extend(open.map(|nth| findings[nth].clone())),
            Self::KeepFixedFinding => {
                findings.push(
                    json!({ "id": "F999", "title": "D99999 leaks the secret", "severity": "warning", "state": "open" }),
                );
            }
            Self::ApproveEarly => {
                for role in document["roles"].as_array_mut().into_iter().flatten() {
                    role["own"] = json!("approve");
                }
            }
            Self::ForgetRound => {
                let round = document["pull"]["round"].as_u64().unwrap_or_default();
                document["pull"]["round"] = json!(round.saturating_sub(1));
            }
            Self::Miscount => {
                for role in document["accounting"].as_array_mut().into_iter().flatten() {
                    role["known"] = json!(role["known"].as_u64().unwrap_or_default() + 1);
                }
            }
            _ => {}
        }
    }

    fn tamper_repeat(self, document: &mut Value) {
        let standing = document["findings"].as_array_mut().into_iter().flatten();
        let finding = standing.into_iter().find(|finding| finding["state"] == "open");
        match (self, finding) {
            (Self::BlankTitle, Some(finding)) => finding["title"] = json!(""),
            (Self::ForgetRule, Some(finding)) => finding["rule"] = json!("lint"),
            (Self::WriteAgain, _) => document["calls"]["writes"] = json!(1),
            _ => {}
        }
    }
}
