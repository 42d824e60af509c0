//! A project's repository: who asks there, by which rules, and one pass over it.

use std::path::Path;
use std::sync::Arc;

use referee_core::decide::ProtocolLine;
use referee_core::mark::Keys;
use referee_core::model::{Login, Sha, Span};
use referee_core::plan::Gate;
use referee_core::policy::{DispatchPolicy, Policy, PullFilter};
use referee_forge::{Forge, ForgeError, ForgeKind, Gates, RequestedGates};
use referee_http::{RequestCounts, Token};
use referee_turn::{PassOutcome, PublishMode, SpawnMode, TurnContext, TurnError, run_pass};

use super::field::{LabelRef, PullsField};
use super::journals::PullJournals;
use super::{LoadedProject, ProjectFile};
use crate::config::{ForgeEntry, SecretSource};
use crate::console::Console;
use crate::failure::{Failure, FailureKind};
use crate::session::Options;
use crate::session::config_files::{self, env};
use crate::session::connect::{self, connect_identities, connect_server, open_remote_commits};
use crate::session::site::{RemoteSite, entry_url, project_site};
use crate::session::source::GitSource;
use crate::store::{Store, StoreAccess};
use crate::worker::WorkerRegistry;

/// A project's repository, with all that a pass takes.
#[derive(Debug)]
pub(crate) struct ProjectRepository {
    pub(super) site: RemoteSite,
    /// Who pushes for workers and opens their pulls.
    pub(super) author_token: Token,
    pub(super) forge: Arc<dyn Forge>,
    store: Store,
    pub(super) texts: GitSource,
    pub(super) policy: Policy,
    keys: Keys,
    /// The tip of the default branch: whose word counts.
    pub(super) default_tip: Sha,
    /// Files with guidance for reviewers, read there.
    pub(super) guidance_paths: Vec<String>,
    pub(super) workers: WorkerRegistry,
}

/// What a pass may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DispatchMode {
    /// Print what would hold.
    DryRun,
    /// Write, and print what holds.
    Print,
    /// Also run the worker.
    Run,
}

impl ProjectRepository {
    /// Opens it. Its config is read at the tip of the default branch (SAF-2).
    pub(crate) async fn open(
        options: &Options,
        found: &LoadedProject,
        access: StoreAccess,
        out: &Console,
    ) -> Result<Self, Failure> {
        let file = &found.file;
        let (site, author) = resolve_site(options, found)?;
        let told = |error: ForgeError| connect::read_failure(error, &site.repo.to_string());
        let Some((forge, store)) = connect_server(&site, access).await? else {
            return Err(connect::read_failure(
                ForgeError::Unsupported("be asked for pulls".to_owned()),
                site.server.as_str(),
            ));
        };
        let tip = forge.fetch_default_branch().await.map_err(told)?;
        let commits = open_remote_commits(&site, &*forge)?;
        commits.fetch_with_retry(&[&tip.commit])?;
        let texts = GitSource::from_remote(commits).with_change_cache();
        let mut setup = config_files::load(options, &texts, Some(&tip), None, out)?;
        let forge = connect_identities(&forge, &mut setup, author.clone()).await?;
        let info = forge.info();
        setup.warnings.iter().for_each(|warning| out.print_info(&format!("warning: {warning}")));
        let work = resolve_work(file, &*forge).await?;
        if !info.held_logins.contains(&work.user) {
            let who = &info.login;
            return Err(Failure::usage(format!("nobody can work as `{}`: the token is {who}'s", work.user))
                .with_hint("`user` is whom the token belongs to, or the forge's `author_token` in the operator file"));
        }
        if work.review_users.is_empty() && !work.review_bots.is_empty() {
            out.print_info(
                "warning: `review_users` is not set: whoever may write speaks for the bots, but a pull's author",
            );
        }
        let keys = setup.keys()?;
        let author = author.filter(|_| info.login != work.user).unwrap_or_else(|| site.token.clone());
        let crew = WorkerRegistry::from_setup(&setup);
        let rules = setup.roles.iter().flat_map(|role| role.rules.clone()).collect();
        let policy = merge_policy(file, setup.policy, work, &info.login);
        Ok(Self {
            site,
            author_token: author,
            forge,
            store,
            texts,
            policy,
            keys,
            default_tip: tip.commit,
            guidance_paths: rules,
            workers: crew,
        })
    }

    /// One pass. Each line is said as soon as it holds.
    pub(crate) async fn run_pass(
        &self,
        mode: DispatchMode,
        say: impl FnMut(&ProtocolLine) + Send,
    ) -> Result<PassOutcome, Failure> {
        let (books, gates) = (self.journals(), self.gates(mode));
        let then = if mode == DispatchMode::Run { SpawnMode::Run } else { SpawnMode::Print };
        let passed = run_pass(&self.turn_context(&books, &gates), then, say).await.map_err(read_failure);
        self.texts.save_change_cache();
        passed
    }

    /// What a worker leaves is written through gates that nothing else of a pass asks for.
    pub(super) fn gates(&self, mode: DispatchMode) -> Gates {
        let asked = match mode {
            DispatchMode::DryRun => return Gates::dry_run(),
            DispatchMode::Print => RequestedGates::from([Gate::Label]),
            DispatchMode::Run => RequestedGates::from([Gate::Label, Gate::Work, Gate::Reply]),
        };
        Gates::new(self.policy.gates.clone(), asked, self.policy.approve)
    }

    pub(super) fn journals(&self) -> PullJournals<'_> {
        PullJournals { store: &self.store, site: &self.site, policy: &self.policy }
    }

    pub(super) fn turn_context<'a>(&'a self, journal: &'a PullJournals<'a>, gates: &'a Gates) -> TurnContext<'a> {
        let Self { forge, texts: source, policy, keys, .. } = self;
        TurnContext { forge: &**forge, source, journal, policy, gates, keys, publish_mode: PublishMode::SingleWriter }
    }

    /// What left for the forge so far.
    pub(crate) fn calls(&self) -> RequestCounts {
        self.forge.request_counts()
    }

    /// The fixing side.
    pub(super) fn user(&self) -> &Login {
        static NOBODY: Login = Login(String::new());
        self.policy.work.as_ref().map_or(&NOBODY, |work| &work.user)
    }

    /// Its name: `acme/api`.
    pub(crate) fn name(&self) -> String {
        self.site.repo.to_string()
    }
}

/// The rules of a project for a pull that is looked at alone.
pub(crate) async fn apply_project_policy(
    file: &ProjectFile,
    rules: Policy,
    forge: &dyn Forge,
) -> Result<Policy, Failure> {
    let info = forge.info();
    if info.kind == ForgeKind::Local {
        return Err(Failure::usage("a project is on a forge: a local pull has none"));
    }
    Ok(merge_policy(file, rules, resolve_work(file, forge).await?, &info.login))
}

/// A read that failed decides nothing: the next pass reads again (DSP-1).
fn read_failure(error: TurnError) -> Failure {
    let words = format!("nothing was decided, nothing was written: {error}");
    match error {
        TurnError::Forge(
            error @ (ForgeError::Unauthenticated | ForgeError::Forbidden(_) | ForgeError::Unsupported(_)),
        ) => Failure::from_forge_error(&error, &words),
        _ => Failure::new(FailureKind::TryLater, words).with_hint("run it again"),
    }
}

/// Where the repository is, who asks there, and the fixing side's own token.
fn resolve_site(options: &Options, found: &LoadedProject) -> Result<(RemoteSite, Option<Token>), Failure> {
    let file = &found.file;
    let forges = config_files::load_forges(options)?;
    let entry: Option<&ForgeEntry> = match &file.forge {
        None => None,
        Some(name) => Some(forges.get(name).ok_or_else(|| {
            let failure = Failure::usage(format!("there is no `[forge.{name}]` in the operator file"));
            match referee_core::say::find_nearest_word(name, forges.keys().map(String::as_str)) {
                Some(near) => failure.with_hint(format!("did you mean `{near}`?")),
                None => {
                    failure.with_hint("name its server in the project file: `api_base: https://git.example.org/api/v1`")
                }
            }
        })?),
    };
    let Some(server) = file.api_base.as_ref().map(|base| base.0.clone()).or_else(|| entry_url(entry?)) else {
        return Err(Failure::usage("nobody says where the project's forge is"));
    };
    let token = file.token_path.as_ref().map(|path| read_token(path, &found.path)).transpose()?;
    let author = entry.and_then(|entry| entry.author_token.as_ref());
    let author = author.map(|secret| secret.read(&env)).transpose();
    let author = author.map_err(|error| Failure::usage(format!("nobody can speak for `{}`: {error}", file.user)))?;
    let author = author.map(|text| Token::new(text.expose()));
    Ok((project_site(server, file.repo.0.clone(), token, &forges, &env)?, author))
}

/// A relative path is one beside the project's file.
fn read_token(path: &str, project: &Path) -> Result<Token, Failure> {
    let beside = project.parent().unwrap_or(Path::new("")).join(path);
    let path = if path.starts_with("~/") { path.to_owned() } else { beside.display().to_string() };
    let text = SecretSource::File(path).read(&env);
    let text = text.map_err(|error| Failure::usage(format!("nobody can ask the forge: `token_path`: {error}")))?;
    Ok(Token::new(text.expose()))
}

async fn resolve_work(file: &ProjectFile, forge: &dyn Forge) -> Result<DispatchPolicy, Failure> {
    let ids = [&file.labels.wip, &file.labels.ready, &file.labels.bug];
    let by_id = ids.iter().any(|label| matches!(label, Some(LabelRef::Id(_))));
    let known = if by_id {
        forge.fetch_labels().await.map_err(|error| connect::read_failure(error, &file.repo.0.to_string()))?
    } else {
        Default::default()
    };
    let name = |label: &Option<LabelRef>, usual: &str| match label {
        None => Ok(usual.to_owned()),
        Some(LabelRef::Name(name)) => Ok(name.clone()),
        Some(LabelRef::Id(id)) => known.get(id).cloned().ok_or_else(|| {
            Failure::usage(format!("`labels.{usual}`: `{}` has no label with the id {id}", file.repo.0))
                .with_hint("names work too, and are easier to read")
        }),
    };
    Ok(DispatchPolicy {
        user: Login::from(file.user.as_str()),
        wip: name(&file.labels.wip, "wip")?,
        ready: name(&file.labels.ready, "ready")?,
        bug: name(&file.labels.bug, "bug")?,
        assign: file.assign.as_deref().map(Login::from),
        wip_max_age: file.wip_max_age.map_or(Span::from_hours(1), |age| age.0),
        review_bots: file.review_bots.clone(),
        review_users: file.review_users.iter().map(|login| Login::from(login.as_str())).collect(),
        workers: file.workers.keys().copied().collect(),
        max_jobs: 12,
        pulls: file.pulls.as_ref().map_or(PullFilter::All, |PullsField(which)| which.clone()),
    })
}

/// The repository's own policy with the project's say. Of its roles those take part that the project names, and only by
/// a login that it hears; another's reviews are read by their sentinels.
fn merge_policy(file: &ProjectFile, mut policy: Policy, work: DispatchPolicy, viewer: &Login) -> Policy {
    policy.roles.retain(|role| {
        let heard = work.review_users.is_empty() || work.review_users.contains(role.identity_or(viewer));
        heard && work.review_bots.iter().any(|name| name == role.name.as_str())
    });
    policy.ci_required = file.ci_required.unwrap_or(policy.ci_required);
    policy.rounds = file.rounds.unwrap_or(policy.rounds);
    policy.operator = policy.operator.or_else(|| work.assign.clone());
    policy.work = Some(work);
    policy
}
