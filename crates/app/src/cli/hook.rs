//! `referee hook pre-push`: judges what git is about to push, and writes nothing.
//!
//! Git tells the hook on stdin, one line per ref: `<local ref> <local id> <remote ref> <remote id>`. Each is compared with
//! what the remote has:
//!
//! | ref | compared with |
//! |---|---|
//! | deleted, or not a commit | nothing: it brings no change |
//! | a tag of a commit that the remote has | nothing |
//! | the default branch | the remote's commit |
//! | any other | the default branch; the remote's default branch where the local one has commits that the remote lacks |
//! | shares no history with any of these, such as the first push to an empty remote | the empty tree: every file is read |
//!
//! Fails closed: a push that cannot be judged is refused, with the reason.

use std::io::Read;

use clap::{Args, Subcommand};
use referee_core::model::Sha;
use referee_forge::ForgeKind;
use referee_git::Git;

use super::review::ReviewArgs;
use crate::console::Console;
use crate::failure::{CliOutcome, Failure, FailureKind};
use crate::session::Options;

/// Run as a git hook
#[derive(Debug, Args)]
pub(super) struct HookArgs {
    #[command(subcommand)]
    hook: Hook,
}

#[derive(Debug, Subcommand)]
enum Hook {
    /// Judge the refs on stdin that git is about to push, and refuse the push if a finding blocks
    PrePush {
        /// The remote's name, as git passes it
        remote: String,
        /// The remote's URL, as git passes it
        remote_url: Option<String>,
    },
}

/// A ref that is about to be pushed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PushedRef {
    local_ref: String,
    local_id: Sha,
    remote_ref: String,
    remote_id: Sha,
}

/// What a pushed ref is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Comparison {
    /// It brings nothing that the remote lacks.
    Nothing,
    /// `A..B`.
    Range { base: String, head: String },
    /// Every file is new.
    Everything { head: String },
}

const BRANCH_PREFIX: &str = "refs/heads/";
const TAG_PREFIX: &str = "refs/tags/";
/// Limit of stdin: a push of ten thousand refs fits.
const MAX_INPUT_BYTES: u64 = 8 << 20;

impl HookArgs {
    pub(super) async fn run(self, options: &Options, out: &Console) -> Result<CliOutcome, Failure> {
        let Hook::PrePush { remote, remote_url: _ } = self.hook;
        let judged = judge_push(&remote, options, out).await;
        let way_round = "fix it, or push without a review: `git push --no-verify`";
        match judged {
            Ok(CliOutcome::Done) => Ok(CliOutcome::Done),
            Ok(refused) => {
                out.print_always(&format!("error: nothing was pushed: the review refuses it\n\nhint: {way_round}\n"));
                Ok(refused)
            }
            Err(failure) => {
                out.print_always("nothing was pushed, because it cannot be reviewed:\n");
                Err(failure.with_hint(way_round))
            }
        }
    }
}

/// Judges every ref, and returns the first outcome that refuses the push.
async fn judge_push(remote: &str, options: &Options, out: &Console) -> Result<CliOutcome, Failure> {
    let pushed = read_pushed_refs()?;
    let git = Git::discover(&options.dir)?;
    let mut options = options.clone();
    // A local review: the commits are not on the forge yet.
    options.forge.kind = Some(ForgeKind::Local);
    let mut refused = CliOutcome::Done;
    for pushed_ref in &pushed {
        let (base, head) = match compare(&git, remote, pushed_ref)? {
            Comparison::Nothing => continue,
            Comparison::Range { base, head } => {
                out.print_line(&format!("`{}`: reviewing {base}..{head}", pushed_ref.remote_ref));
                (base, head)
            }
            Comparison::Everything { head } => {
                let reason = "the remote has no history to compare with";
                out.print_line(&format!("`{}`: {reason}, reviewing every file of {head}", pushed_ref.remote_ref));
                (git.empty_tree_id()?.to_string(), head)
            }
        };
        let outcome = match ReviewArgs::preview(format!("{base}..{head}")).run(&options, out).await {
            Ok(outcome) => outcome,
            Err(failure) if failure.kind() == FailureKind::NothingToReview => CliOutcome::Done,
            Err(failure) => return Err(failure),
        };
        if refused == CliOutcome::Done {
            refused = outcome;
        }
    }
    Ok(refused)
}

fn read_pushed_refs() -> Result<Vec<PushedRef>, Failure> {
    let mut input = String::new();
    let read = std::io::stdin().lock().take(MAX_INPUT_BYTES + 1).read_to_string(&mut input);
    read.map_err(|error| Failure::failed(format!("stdin cannot be read: {error}")))?;
    if input.len() as u64 > MAX_INPUT_BYTES {
        return Err(Failure::failed("the list of refs is too long"));
    }
    parse_pushed_refs(&input)
}

fn parse_pushed_refs(input: &str) -> Result<Vec<PushedRef>, Failure> {
    let parse = |line: &str| {
        let fields: Vec<&str> = line.split(' ').collect();
        let [local_ref, local_id, remote_ref, remote_id] = fields.as_slice() else {
            return Err(Failure::usage("stdin is not what git passes to a pre-push hook")
                .with_hint("expected lines of `<local ref> <local id> <remote ref> <remote id>`"));
        };
        Ok(PushedRef {
            local_ref: (*local_ref).to_owned(),
            local_id: Sha::from(*local_id),
            remote_ref: (*remote_ref).to_owned(),
            remote_id: Sha::from(*remote_id),
        })
    };
    input.lines().filter(|line| !line.is_empty()).map(parse).collect()
}

fn compare(git: &Git, remote: &str, pushed: &PushedRef) -> Result<Comparison, Failure> {
    if is_zero(&pushed.local_id) {
        return Ok(Comparison::Nothing);
    }
    let Some(commit) = git.resolve(pushed.local_id.as_str())? else { return Ok(Comparison::Nothing) };
    let tracked = git.list_tracking_branches(remote)?;
    if pushed.remote_ref.starts_with(TAG_PREFIX) && is_on_remote(git, &tracked, &commit)? {
        return Ok(Comparison::Nothing);
    }
    let base = choose_base(git, remote, pushed, &commit, &tracked)?;
    // By its name a branch finds the local pull in which people answered findings.
    let branch = pushed.local_ref.strip_prefix(BRANCH_PREFIX);
    let named = branch.filter(|name| git.resolve(name).is_ok_and(|tip| tip.as_ref() == Some(&commit)));
    let head = named.unwrap_or(commit.as_str()).to_owned();
    Ok(match base {
        Some(base) => Comparison::Range { base, head },
        None => Comparison::Everything { head },
    })
}

/// Chooses what a commit is compared with; `None` where nothing shares its history. Fails if the remote's commit of that ref
/// is not in this repository: the push would replace commits that nobody here has seen.
fn choose_base(
    git: &Git,
    remote: &str,
    pushed: &PushedRef,
    commit: &Sha,
    tracked: &[(String, Sha)],
) -> Result<Option<String>, Failure> {
    let default = git.default_branch()?;
    let is_default = default.as_ref().is_some_and(|name| pushed.remote_ref == format!("{BRANCH_PREFIX}{name}"));
    let tracking = default.as_ref().map(|name| format!("{remote}/{name}"));
    let remote_commit = (!is_zero(&pushed.remote_id)).then(|| pushed.remote_id.to_string());
    let candidates =
        if is_default { [remote_commit, tracking, None] } else { [default.clone(), tracking, remote_commit] };
    for base in candidates.into_iter().flatten() {
        let Some(base_commit) = git.resolve(&base)? else { continue };
        let Some(merge_base) = git.merge_base(&base_commit, commit)? else { continue };
        // Commits of the default branch that the remote lacks are pushed too.
        if Some(&base) == default.as_ref() && !tracked.is_empty() && !is_on_remote(git, tracked, &merge_base)? {
            continue;
        }
        return Ok(Some(base));
    }
    if !is_zero(&pushed.remote_id) && !git.has_commit(&pushed.remote_id)? {
        let failure = Failure::failed(format!("the remote's commit of `{}` is not here", pushed.remote_ref));
        return Err(failure.with_hint(format!("fetch it to compare with: `git fetch {remote}`")));
    }
    Ok(None)
}

fn is_on_remote(git: &Git, tracked: &[(String, Sha)], commit: &Sha) -> Result<bool, Failure> {
    for (_, tip) in tracked {
        if git.is_ancestor(commit, tip)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_zero(id: &Sha) -> bool {
    id.as_str().bytes().all(|byte| byte == b'0')
}

#[cfg(test)]
mod tests {
    use super::parse_pushed_refs;

    #[test]
    fn lines_that_git_does_not_write_are_refused() {
        let zero = "0".repeat(40);
        let line = format!("refs/heads/a {zero} refs/heads/b {zero}\n");
        assert_eq!(parse_pushed_refs(&line.repeat(2)).map(|refs| refs.len()).ok(), Some(2));
        assert_eq!(parse_pushed_refs("").map(|refs| refs.len()).ok(), Some(0));
        for bad in ["refs/heads/a", "a b c", "a b c d e"] {
            assert!(parse_pushed_refs(bad).is_err(), "{bad}");
        }
    }
}
