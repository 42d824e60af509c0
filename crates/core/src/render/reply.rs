//! Renders the fixing side's replies in threads. No reply claims that a thread is resolved: the forge shows that
//! (FIX-4).
//!
//! | reply text | source |
//! |---|---|
//! | the answer's | `replyBody` |
//! | the repository's | the policy's template; if it fails or is empty, the built-in text, with a note |
//! | built-in | one line by class, what was done or why, how it was checked |

use minijinja::{Environment, UndefinedBehavior, Value, context};

use crate::mark;
use crate::model::{Class, Sha, Verification};
use crate::sanitise::{MarkdownBuilder, SafeText};
use crate::triage::{claims_resolution, describe_outcome};

const MAX_REPLY_BYTES: usize = 4_000;
const MAX_NAMED_CHECKS: usize = 5;
const MAX_COMMAND_CHARS: usize = 120;
/// The start of the line in a root note that says that its thread is settled.
const SETTLED_PREFIX: &str = "**Settled** · ";

/// The input of a reply.
#[derive(Clone, Copy, Debug)]
pub struct FixReply<'a> {
    pub class: Class,
    pub fix_summary: Option<&'a str>,
    pub evidence: Option<&'a str>,
    /// The commit with the fix, if the head contains it.
    pub commit: Option<&'a Sha>,
    pub verification: &'a [Verification],
    /// Replaces the rendered text.
    pub reply_body: Option<&'a str>,
    pub path: Option<&'a str>,
    pub line: Option<u32>,
}

/// The text of a reply, and why the template was not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedReply {
    pub text: SafeText,
    pub template_error: Option<String>,
}

/// Renders a reply by the table above.
pub fn render_reply(reply: &FixReply<'_>, template: Option<&str>, max_text: usize) -> RenderedReply {
    let max = MAX_REPLY_BYTES.min(max_text);
    if let Some(words) = reply.reply_body {
        return RenderedReply { text: SafeText::sanitise_block(words, max), template_error: None };
    }
    let Some(template) = template.filter(|template| !template.trim().is_empty()) else {
        return RenderedReply { text: render_builtin(reply, max), template_error: None };
    };
    let broken = match render_template(reply, template).map(|text| SafeText::sanitise_block(&text, max)) {
        Ok(words) if words.as_str().trim().is_empty() => "it says nothing".to_owned(),
        Ok(words) if claims_resolution(words.as_str()) => "it says that the thread is resolved".to_owned(),
        Ok(words) => return RenderedReply { text: words, template_error: None },
        Err(error) => error.to_string(),
    };
    RenderedReply { text: render_builtin(reply, max), template_error: Some(broken) }
}

/// Renders a root note whose last line says that the thread is settled (FIX-12). An older such line is replaced.
pub fn render_root_settled_by_class(root: &str, class: Class, commit: Option<&Sha>, max_text: usize) -> SafeText {
    let root = mark::strip_hidden_comments(root);
    let root = root.trim_end();
    let body = match root.rsplit_once('\n') {
        Some((before, last)) if last.starts_with(SETTLED_PREFIX) => before.trim_end(),
        _ => root,
    };
    let mut page = MarkdownBuilder::new();
    page.safe_text(&SafeText::sanitise_block(body, max_text)).blank_line().literal(SETTLED_PREFIX);
    match (class, commit) {
        (Class::Valid, Some(commit)) => page.literal("fixed in ").code_span(commit.short()),
        (Class::Valid, None) => page.literal("fixed"),
        (Class::AlreadyFixed, _) => page.literal("the code has it already"),
        (Class::Stale, _) => page.literal("it no longer applies"),
        (Class::Invalid, _) => page.literal("left as it is"),
        (Class::NeedsHuman, _) => page.literal("a person decides"),
    };
    page.finish()
}

fn render_template(reply: &FixReply<'_>, template: &str) -> Result<String, minijinja::Error> {
    let mut engine = Environment::new();
    engine.set_undefined_behavior(UndefinedBehavior::Strict);
    let checks = reply.verification.iter().map(|line| {
        context! {
            command => line.command.as_str(),
            status => describe_outcome(line.status),
            head => line.head_sha.as_str(),
        }
    });
    let words = context! {
        classification => class_name(reply.class),
        fix_summary => reply.fix_summary,
        evidence => reply.evidence,
        commit => reply.commit.map(Sha::as_str),
        verification => checks.collect::<Value>(),
        path => reply.path,
        line => reply.line,
    };
    engine.render_str(template, words)
}

fn render_builtin(reply: &FixReply<'_>, max: usize) -> SafeText {
    let mut page = MarkdownBuilder::new();
    match (reply.class, reply.commit) {
        (Class::Valid, Some(commit)) => page.literal("**Fixed** in ").code_span(commit.short()),
        (Class::Valid, None) => page.literal("**Changed**"),
        (Class::AlreadyFixed, _) => page.literal("**Already so**"),
        (Class::Stale, _) => page.literal("**No longer applies**"),
        (Class::Invalid, _) => page.literal("**Left as it is**"),
        (Class::NeedsHuman, _) => page.literal("**A person decides**"),
    };
    // A quarter each, so that neither displaces the other or the checks.
    for part in [reply.fix_summary, reply.evidence].into_iter().flatten() {
        page.blank_line().safe_text(&SafeText::sanitise_block(part, max / 4));
    }
    write_checks(&mut page, reply.verification);
    page.finish()
}

fn write_checks(page: &mut MarkdownBuilder, lines: &[Verification]) {
    if lines.is_empty() {
        return;
    }
    let text = render_checks(lines, |page, command| page.code_span(command));
    // A command is untrusted text too: one that claims a resolution is not quoted (FIX-4).
    let claims = claims_resolution(text.as_str());
    let text = if claims { render_checks(lines, |page, _| page.literal("a command")) } else { text };
    page.blank_line().safe_text(&text);
}

fn render_checks(
    lines: &[Verification],
    name: impl for<'p> Fn(&'p mut MarkdownBuilder, &str) -> &'p mut MarkdownBuilder,
) -> SafeText {
    let mut page = MarkdownBuilder::new();
    page.literal("Checked: ");
    for (at, line) in lines.iter().take(MAX_NAMED_CHECKS).enumerate() {
        if at > 0 {
            page.literal(", ");
        }
        let command: String = line.command.chars().take(MAX_COMMAND_CHARS).collect();
        name(&mut page, &command);
        page.literal(" ").literal(describe_outcome(line.status)).literal(" at ").code_span(line.head_sha.short());
    }
    let more = lines.len().saturating_sub(MAX_NAMED_CHECKS);
    if more > 0 {
        page.literal(" and ").number(more).literal(" more");
    }
    page.finish()
}

/// Returns the name of a class in payloads.
pub(crate) fn class_name(class: Class) -> &'static str {
    match class {
        Class::Valid => "valid",
        Class::Invalid => "invalid",
        Class::Stale => "stale",
        Class::AlreadyFixed => "already_fixed",
        Class::NeedsHuman => "needs_human",
    }
}
