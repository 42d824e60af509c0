//! A project's repository: connects to its forge, resolves its policy and runs passes over it.

use std::path::Path;
use std::sync::Arc;

use referee_core::decide::ProtocolLine;
use referee_core::mark::Keys;
use referee_core::model::{Login, RoleName, Sha, Span};
use referee_core::plan::Gate;
use referee_core::policy::{DispatchPolicy, Policy, PullFilter, Role};
use referee_forge::{Forge, ForgeError, ForgeKind, Gates, RequestedGates};
use referee_http::{RequestCounts, Token};
use referee_turn::{ClaimWaiter, PassOutcome, PublishMode, SpawnMode, TurnContext, TurnError, run_pass};

use super::field::{LabelRef, PullsField};
use super::journals::PullJournals;
use super::{LoadedProject, ProjectFile};
use crate::config::{ForgeEntry, SecretSource};
use crate::console::Console;
use crate::failure::{Failure, FailureKind};
use crate::session::Options;
use crate::session::claim_waiter::{PASS_CLAIM_WAIT, TerminalWaiter};
use crate::session::config_files::{self, env};
use crate::session::connect::{self, connect_identities, connect_server, open_remote_commits};
use crate::session::site::{RemoteSite, entry_url, project_site};
use crate::session::source::GitSource;
use crate::store::{Store, StoreAccess};
use crate::worker::WorkerRegistry;

/// A project's repository with everything that a pass needs.
#[derive(Debug)]
pub(crate) struct ProjectRepository {
    pub(super) site: RemoteSite,
    /// The token that pushes workers' commits and opens their pull requests.
    pub(super) author_token: Token,
    pub(super) forge: Arc<dyn Forge>,
    store: Store,
    pub(super) source: GitSource,
    pub(super) policy: Policy,
    keys: Keys,
    /// The tip of the default branch, where config and guidance are read.
    pub(super) default_tip: Sha,
    /// Paths of the roles' guidance files.
    pub(super) guidance_paths: Vec<String>,
    pub(super) workers: WorkerRegistry,
}

/// What a pass is allowed to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DispatchMode {
    /// Print the lines without writing anything.
    DryRun,
    /// Write labels and records, and print the lines.
    Print,
    /// Also run the worker and deliver its work.
    Run,
}

impl ProjectRepository {
    /// Connects to the project's forge and loads the config at the tip of the default branch (SAF-2).
    pub(crate) async fn open(
        options: &Options,
        project: &LoadedProject,
        access: StoreAccess,
        out: &Console,
    ) -> Result<Self, Failure> {
        let file = &project.file;
        let (site, author_token) = resolve_site(options, project)?;
        let unreadable = |error: ForgeError| connect::read_failure(error, &site.repo.to_string());
        let (forge, mut store) = connect_server(&site, access).await?;
        let tip = forge.fetch_default_branch().await.map_err(unreadable)?;
        let commits = open_remote_commits(&site, &*forge)?;
        commits.fetch_with_retry(&[&tip.commit])?;
        let source = GitSource::from_remote(commits).with_change_cache();
        let mut config = config_files::load(options, &source, Some(&tip), None, out)?;
        store.keep_texts(config.journal_texts);
        let forge = connect_identities(&forge, &site.server, &mut config, author_token.clone()).await?;
        let info = forge.info();
        config.warnings.iter().for_each(|warning| out.print_line(&format!("warning: {warning}")));
        let work = resolve_dispatch_policy(file, &*forge).await?;
        if !info.held_logins.contains(&work.user) {
            let owner = &info.login;
            return Err(Failure::usage(format!(
                "dispatch cannot act as `{}`: the token belongs to {owner}",
                work.user
            ))
            .with_hint("set `user` to the owner of the token, or of the forge's `author_token` in the operator file"));
        }
        if work.review_users.is_empty() && !work.review_bots.is_empty() {
            out.print_info(
                "warning: `review_users` is not set: everyone with write access except the author can write reviews that count as the bots'",
            );
        }
        for role in list_left_out(&config.policy, &work) {
            let login = role.identity_or(&info.login);
            out.print_line(&format!(
                "warning: role `{}` is left out: it posts as `{login}`, which `review_users` does not list",
                role.name
            ));
        }
        let keys = config.keys()?;
        let author_token = author_token.filter(|_| info.login != work.user).unwrap_or_else(|| site.token.clone());
        let workers = WorkerRegistry::from_setup(&config);
        let guidance_paths = config.roles.iter().flat_map(|role| role.rules.clone()).collect();
        let policy = merge_policy(file, config.policy, work);
        Ok(Self {
            site,
            author_token,
            forge,
            store,
            source,
            policy,
            keys,
            default_tip: tip.commit,
            guidance_paths,
            workers,
        })
    }

    /// Runs one pass. Calls `print_line` with each line as soon as it is true.
    pub(crate) async fn run_pass(
        &self,
        mode: DispatchMode,
        print_line: impl FnMut(&ProtocolLine) + Send,
        out: &Console,
    ) -> Result<PassOutcome, Failure> {
        let (journals, gates) = (self.journals(), self.gates(mode));
        let waiter = TerminalWaiter::new(out, PASS_CLAIM_WAIT);
        let spawn_mode = if mode == DispatchMode::Run { SpawnMode::Run } else { SpawnMode::Print };
        let outcome = run_pass(&self.turn_context(&journals, &gates, &waiter), spawn_mode, print_line)
            .await
            .map_err(read_failure);
        self.source.save_change_cache();
        outcome
    }

    /// Returns the gates of a pass. Only a pass that runs workers requests the gates for their commits and replies.
    pub(super) fn gates(&self, mode: DispatchMode) -> Gates {
        let requested = match mode {
            DispatchMode::DryRun => return Gates::dry_run(),
            DispatchMode::Print => RequestedGates::from([Gate::Label]),
            DispatchMode::Run => RequestedGates::from([Gate::Label, Gate::Work, Gate::Reply]),
        };
        Gates::new(self.policy.gates.clone(), requested, self.policy.approve)
    }

    pub(super) fn journals(&self) -> PullJournals<'_> {
        PullJournals { store: &self.store, site: &self.site, policy: &self.policy }
    }

    pub(super) fn turn_context<'a>(
        &'a self,
        journal: &'a PullJournals<'a>,
        gates: &'a Gates,
        waiter: &'a dyn ClaimWaiter,
    ) -> TurnContext<'a> {
        let Self { forge, source, policy, keys, .. } = self;
        let publish_mode = PublishMode::Claimed(waiter);
        TurnContext { forge: &**forge, source, journal, policy, gates, keys, publish_mode }
    }

    /// Returns the number of requests sent to the forge so far.
    pub(crate) fn calls(&self) -> RequestCounts {
        self.forge.request_counts()
    }

    /// Returns the login that workers push as.
    pub(super) fn user(&self) -> &Login {
        static NOBODY: Login = Login(String::new());
        self.policy.work.as_ref().map_or(&NOBODY, |work| &work.user)
    }

    /// Returns the repository's name, such as `acme/api`.
    pub(crate) fn name(&self) -> String {
        self.site.repo.to_string()
    }
}

/// Applies a project's settings to the policy of a single pull request.
pub(crate) async fn apply_project_policy(
    file: &ProjectFile,
    policy: Policy,
    forge: &dyn Forge,
) -> Result<Policy, Failure> {
    let info = forge.info();
    if info.kind == ForgeKind::Local {
        return Err(Failure::usage("`--project` does not apply to a local pull request: projects are on a forge"));
    }
    Ok(merge_policy(file, policy, resolve_dispatch_policy(file, forge).await?))
}

/// Converts a failed read. Nothing is decided from it; the next pass reads again (DSP-1).
fn read_failure(error: TurnError) -> Failure {
    let message = format!("nothing was decided, nothing was written: {error}");
    match error {
        TurnError::Forge(
            error @ (ForgeError::Unauthenticated | ForgeError::Forbidden(_) | ForgeError::Unsupported(_)),
        ) => Failure::from_forge_error(&error, &message),
        _ => Failure::new(FailureKind::TryLater, message).with_hint("run the command again later"),
    }
}

/// Resolves the site of the repository, and the token of the author identity if it has its own.
fn resolve_site(options: &Options, project: &LoadedProject) -> Result<(RemoteSite, Option<Token>), Failure> {
    let file = &project.file;
    let forges = config_files::load_forges(options)?;
    let entry: Option<&ForgeEntry> = match &file.forge {
        None => None,
        Some(name) => Some(forges.get(name).ok_or_else(|| {
            let failure = Failure::usage(format!("there is no `[forge.{name}]` in the operator file"));
            match referee_core::say::find_nearest_word(name, forges.keys().map(String::as_str)) {
                Some(nearest) => failure.with_hint(format!("did you mean `{nearest}`?")),
                None => {
                    failure.with_hint("set the server in the project file: `api_base: https://git.example.org/api/v1`")
                }
            }
        })?),
    };
    let Some(server) = file.api_base.as_ref().map(|base| base.0.clone()).or_else(|| entry_url(entry?)) else {
        return Err(Failure::usage("the project's forge has no URL"));
    };
    let token = file.token_path.as_ref().map(|path| read_token(path, &project.path)).transpose()?;
    let author_token = entry.and_then(|entry| entry.author_token.as_ref());
    let author_token = author_token.map(|secret| secret.read(&env)).transpose();
    let author_token =
        author_token.map_err(|error| Failure::usage(format!("dispatch cannot act as `{}`: {error}", file.user)))?;
    let author_token = author_token.map(|text| Token::new(text.expose()));
    Ok((project_site(server, file.repo.0.clone(), token, &forges, &env)?, author_token))
}

/// Reads a token from a file. A relative path starts at the directory of the project file.
fn read_token(path: &str, project: &Path) -> Result<Token, Failure> {
    let beside = project.parent().unwrap_or(Path::new("")).join(path);
    let path = if path.starts_with("~/") { path.to_owned() } else { beside.display().to_string() };
    let text = SecretSource::File(path).read(&env);
    let text = text.map_err(|error| Failure::usage(format!("the forge cannot be read: `token_path`: {error}")))?;
    Ok(Token::new(text.expose()))
}

async fn resolve_dispatch_policy(file: &ProjectFile, forge: &dyn Forge) -> Result<DispatchPolicy, Failure> {
    let labels = [&file.labels.wip, &file.labels.ready, &file.labels.bug];
    let has_ids = labels.iter().any(|label| matches!(label, Some(LabelRef::Id(_))));
    let names_by_id = if has_ids {
        forge.fetch_labels().await.map_err(|error| connect::read_failure(error, &file.repo.0.to_string()))?
    } else {
        Default::default()
    };
    let resolve = |label: &Option<LabelRef>, default: &str| match label {
        None => Ok(default.to_owned()),
        Some(LabelRef::Name(name)) => Ok(name.clone()),
        Some(LabelRef::Id(id)) => names_by_id.get(id).cloned().ok_or_else(|| {
            Failure::usage(format!("`labels.{default}`: `{}` has no label with the id {id}", file.repo.0))
                .with_hint("use the name of the label instead of its id")
        }),
    };
    Ok(DispatchPolicy {
        user: Login::from(file.user.as_str()),
        wip: resolve(&file.labels.wip, "wip")?,
        ready: resolve(&file.labels.ready, "ready")?,
        bug: resolve(&file.labels.bug, "bug")?,
        assign: file.assign.as_deref().map(Login::from),
        wip_max_age: file.wip_max_age.map_or(Span::from_hours(1), |age| age.0),
        review_bots: file.review_bots.clone(),
        review_users: file.review_users.iter().map(|login| Login::from(login.as_str())).collect(),
        workers: file.workers.keys().copied().collect(),
        max_jobs: 12,
        pulls: file.pulls.as_ref().map_or(PullFilter::All, |PullsField(filter)| filter.clone()),
    })
}

/// Returns the name of a label that the project file gives by its id.
pub(crate) async fn resolve_label(options: &Options, project: &LoadedProject, id: u64) -> Result<String, Failure> {
    let (site, _) = resolve_site(options, project)?;
    let name = site.repo.to_string();
    let unreadable = |error: ForgeError| {
        connect::read_failure(error, &name).with_hint("use the name of the label instead of its id")
    };
    let (forge, _) = connect_server(&site, StoreAccess::Read).await?;
    let labels = forge.fetch_labels().await.map_err(unreadable)?;
    labels.get(&id).cloned().ok_or_else(|| {
        Failure::usage(format!("`{name}` has no label with the id {id}"))
            .with_hint("use the name of the label instead of its id")
    })
}

/// Returns the roles that the project lists in `review_bots`, but whose `identity` it does not list in `review_users`.
/// Any of `review_users` may post for a role without one (PUB-12).
fn list_left_out<'a>(policy: &'a Policy, work: &DispatchPolicy) -> Vec<&'a Role> {
    let is_unknown = |login: &Login| !work.review_users.is_empty() && !work.review_users.contains(login);
    let is_left_out = |role: &&Role| is_review_bot(role, work) && role.identity.as_ref().is_some_and(is_unknown);
    policy.roles.iter().filter(is_left_out).collect()
}

fn is_review_bot(role: &Role, work: &DispatchPolicy) -> bool {
    work.review_bots.iter().any(|name| name == role.name.as_str())
}

/// Merges the project's settings into the repository's policy. Keeps the roles that the project lists in `review_bots`,
/// except those left out; reviews of other bots are recognised by their sentinels.
fn merge_policy(file: &ProjectFile, mut policy: Policy, work: DispatchPolicy) -> Policy {
    let left_out: Vec<RoleName> = list_left_out(&policy, &work).iter().map(|role| role.name.clone()).collect();
    policy.roles.retain(|role| is_review_bot(role, &work) && !left_out.contains(&role.name));
    policy.ci_required = file.ci_required.unwrap_or(policy.ci_required);
    policy.rounds = file.rounds.unwrap_or(policy.rounds);
    policy.operator = policy.operator.or_else(|| work.assign.clone());
    policy.work = Some(work);
    policy
}

#[cfg(test)]
mod tests {
    use referee_core::model::{Login, Span};
    use referee_core::policy::{DispatchPolicy, Policy, PullFilter, Role};

    use super::list_left_out;

    // PUB-12
    #[test]
    fn a_role_whose_login_the_project_does_not_list_is_named() {
        let role = |name: &str, identity: Option<&str>| Role { identity: identity.map(Login::from), ..Role::new(name) };
        let policy = Policy {
            roles: vec![role("static", None), role("security", Some("sec-bot")), role("docs", Some("docs-bot"))],
            ..Policy::default()
        };
        let mut work = DispatchPolicy {
            user: Login::from("rodin"),
            wip: "wip".to_owned(),
            ready: "ready".to_owned(),
            bug: "bug".to_owned(),
            assign: None,
            wip_max_age: Span::from_hours(1),
            review_bots: vec!["static".to_owned(), "security".to_owned()],
            review_users: [Login::from("gpt-bot")].into(),
            workers: Default::default(),
            max_jobs: 12,
            pulls: PullFilter::All,
        };
        let left_out = |work: &DispatchPolicy| -> Vec<String> {
            let roles = list_left_out(&policy, work);
            roles.iter().map(|role| role.name.to_string()).collect()
        };
        assert_eq!(left_out(&work), ["security"], "`docs` is not asked for, any listed account posts for `static`");
        work.review_users.insert(Login::from("sec-bot"));
        assert_eq!(left_out(&work), [""; 0]);
        work.review_users.clear();
        assert_eq!(left_out(&work), [""; 0], "without a list everybody's reviews count");
    }
}
