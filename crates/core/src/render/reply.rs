//! What referee says in a thread when the fixing side answers. No word in here, and none that passes
//! through, says that a thread is resolved: the forge says so once it is (FIX-4).
//!
//! | words | from |
//! |---|---|
//! | the answer's own | `replyBody` |
//! | the repository's | the policy's template; where it breaks or says nothing, the built-in ones, and that is said |
//! | built in | one line by class, what was done or why, how it was checked |

use minijinja::{Environment, UndefinedBehavior, Value, context};

use crate::mark;
use crate::model::{Class, Sha, Verification};
use crate::sanitise::{MarkdownBuilder, SafeText};
use crate::triage::{claims_resolution, describe_outcome};

/// The longest reply, in bytes.
const MAX_REPLY_BYTES: usize = 4_000;
/// How many checks a reply names.
const MAX_NAMED_CHECKS: usize = 5;
/// How much of a command it names, in characters.
const MAX_COMMAND_CHARS: usize = 120;
/// How the line begins that says in an own root that its thread is settled.
const SETTLED_PREFIX: &str = "**Settled** · ";

/// What a reply is made from.
#[derive(Clone, Copy, Debug)]
pub struct FixReply<'a> {
    /// What the thread is.
    pub class: Class,
    /// What was done.
    pub fix_summary: Option<&'a str>,
    /// Why it is so.
    pub evidence: Option<&'a str>,
    /// The commit that did it, if the head has it.
    pub commit: Option<&'a Sha>,
    /// How it was checked.
    pub verification: &'a [Verification],
    /// Words of its own.
    pub reply_body: Option<&'a str>,
    /// The file.
    pub path: Option<&'a str>,
    /// The line.
    pub line: Option<u32>,
}

/// A reply's words, and why they are not the template's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedReply {
    /// The words.
    pub text: SafeText,
    /// Why the template was not used.
    pub template_error: Option<String>,
}

/// A reply in words, by the table above.
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

/// An own root with a last line that says that its thread is settled (FIX-12). An earlier such line goes.
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
    // A quarter each: neither pushes out the other, nor the checks.
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
    let told = render_checks(lines, |page, command| page.code_span(command));
    // A command is anybody's words, too: one that says what only the forge may say is not quoted (FIX-4).
    let claims = claims_resolution(told.as_str());
    let told = if claims { render_checks(lines, |page, _| page.literal("a command")) } else { told };
    page.blank_line().safe_text(&told);
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

/// A class as payloads spell it.
pub(crate) fn class_name(class: Class) -> &'static str {
    match class {
        Class::Valid => "valid",
        Class::Invalid => "invalid",
        Class::Stale => "stale",
        Class::AlreadyFixed => "already_fixed",
        Class::NeedsHuman => "needs_human",
    }
}
