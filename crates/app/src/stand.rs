//! What a rule answers to somebody who disagrees: that it still hits, where, and why that matters. Said once (D11);
//! a person settles what is left.

use referee_core::model::{FindingState, Position, Submission, SubmittedPosition};
use referee_core::plan::Plan;
use referee_core::render::render_title;

/// Adds the rules' own word on findings that are disputed and still there.
pub(crate) fn stand_by(report: &mut Submission, plan: &Plan) {
    let disputed = plan
        .findings
        .iter()
        .filter(|line| line.role == report.role.as_str() && line.counts && line.state == FindingState::Disputed);
    for line in disputed {
        let same = |found: &&referee_core::model::SubmittedFinding| {
            found.path == line.path && render_title(&found.title).as_str() == line.title
        };
        let Some(found) = report.findings.iter().find(same) else { continue };
        let place = found.line.map_or_else(|| found.path.clone(), |line| format!("{}:{line}", found.path));
        let rule = found.rule.as_deref().unwrap_or("the rule");
        report.positions.push(SubmittedPosition {
            finding: line.id,
            position: Position::Stands,
            evidence: place.clone(),
            reply: format!("`{rule}` still hits at `{place}`. {}", found.body.trim()),
        });
    }
}
