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
use crate::sanitise::{Page, SafeText};
use crate::triage::{check_word, claims_resolution};

/// The longest reply, in bytes.
const REPLY: usize = 4_000;
/// How many checks a reply names.
const CHECKS: usize = 5;
/// How much of a command it names, in characters.
const COMMAND: usize = 120;
/// How the line begins that says in an own root that its thread is settled.
const SETTLED: &str = "**Settled** · ";

/// What a reply is made from.
#[derive(Clone, Copy, Debug)]
pub struct Reply<'a> {
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
pub struct Worded {
    /// The words.
    pub words: SafeText,
    /// Why the template was not used.
    pub broken: Option<String>,
}

/// A reply in words, by the table above.
pub fn reply(reply: &Reply<'_>, template: Option<&str>, max_text: usize) -> Worded {
    let max = REPLY.min(max_text);
    if let Some(words) = reply.reply_body {
        return Worded { words: SafeText::block(words, max), broken: None };
    }
    let Some(template) = template.filter(|template| !template.trim().is_empty()) else {
        return Worded { words: built_in(reply, max), broken: None };
    };
    let broken = match rendered(reply, template).map(|text| SafeText::block(&text, max)) {
        Ok(words) if words.as_str().trim().is_empty() => "it says nothing".to_owned(),
        Ok(words) if claims_resolution(words.as_str()) => "it says that the thread is resolved".to_owned(),
        Ok(words) => return Worded { words, broken: None },
        Err(error) => error.to_string(),
    };
    Worded { words: built_in(reply, max), broken: Some(broken) }
}

/// An own root with a last line that says that its thread is settled (FIX-12). An earlier such line goes.
pub fn settled(root: &str, class: Class, commit: Option<&Sha>, max_text: usize) -> SafeText {
    let root = mark::visible(root);
    let root = root.trim_end();
    let body = match root.rsplit_once('\n') {
        Some((before, last)) if last.starts_with(SETTLED) => before.trim_end(),
        _ => root,
    };
    let mut page = Page::new();
    page.safe(&SafeText::block(body, max_text)).blank_line().lit(SETTLED);
    match (class, commit) {
        (Class::Valid, Some(commit)) => page.lit("fixed in ").code(commit.short()),
        (Class::Valid, None) => page.lit("fixed"),
        (Class::AlreadyFixed, _) => page.lit("the code has it already"),
        (Class::Stale, _) => page.lit("it no longer applies"),
        (Class::Invalid, _) => page.lit("left as it is"),
        (Class::NeedsHuman, _) => page.lit("a person decides"),
    };
    page.finish()
}

fn rendered(reply: &Reply<'_>, template: &str) -> Result<String, minijinja::Error> {
    let mut engine = Environment::new();
    engine.set_undefined_behavior(UndefinedBehavior::Strict);
    let checks = reply.verification.iter().map(|line| {
        context! {
            command => line.command.as_str(),
            status => check_word(line.status),
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

fn built_in(reply: &Reply<'_>, max: usize) -> SafeText {
    let mut page = Page::new();
    match (reply.class, reply.commit) {
        (Class::Valid, Some(commit)) => page.lit("**Fixed** in ").code(commit.short()),
        (Class::Valid, None) => page.lit("**Changed**"),
        (Class::AlreadyFixed, _) => page.lit("**Already so**"),
        (Class::Stale, _) => page.lit("**No longer applies**"),
        (Class::Invalid, _) => page.lit("**Left as it is**"),
        (Class::NeedsHuman, _) => page.lit("**A person decides**"),
    };
    // A quarter each: neither pushes out the other, nor the checks.
    for part in [reply.fix_summary, reply.evidence].into_iter().flatten() {
        page.blank_line().safe(&SafeText::block(part, max / 4));
    }
    checks(&mut page, reply.verification);
    page.finish()
}

fn checks(page: &mut Page, lines: &[Verification]) {
    if lines.is_empty() {
        return;
    }
    let told = checked(lines, |page, command| page.code(command));
    // A command is anybody's words, too: one that says what only the forge may say is not quoted (FIX-4).
    let claims = claims_resolution(told.as_str());
    let told = if claims { checked(lines, |page, _| page.lit("a command")) } else { told };
    page.blank_line().safe(&told);
}

fn checked(lines: &[Verification], name: impl for<'p> Fn(&'p mut Page, &str) -> &'p mut Page) -> SafeText {
    let mut page = Page::new();
    page.lit("Checked: ");
    for (at, line) in lines.iter().take(CHECKS).enumerate() {
        if at > 0 {
            page.lit(", ");
        }
        let command: String = line.command.chars().take(COMMAND).collect();
        name(&mut page, &command);
        page.lit(" ").lit(check_word(line.status)).lit(" at ").code(line.head_sha.short());
    }
    let more = lines.len().saturating_sub(CHECKS);
    if more > 0 {
        page.lit(" and ").num(more).lit(" more");
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
