//! A project's repository: who asks there, by which rules, and one pass over it.

use std::path::Path;

use referee_core::decide::ProtocolLine;
use referee_core::mark::Keys;
use referee_core::model::{Login, Sha, Span};
use referee_core::plan::Gate;
use referee_core::policy::{Policy, Which, Work};
use referee_forge::{Asked, ForgeError, Gates};
use referee_http::{Calls, Token};
use referee_turn::{Desk, Passed, Publishing, Then, TurnError, pass};

use super::books::Books;
use super::field::{Label, Pulls};
use super::{Found, ProjectFile};
use crate::case;
use crate::cli::Common;
use crate::config::{ForgeEntry, Secret};
use crate::failure::{Failure, Kind};
use crate::forge::AnyForge;
use crate::hosted::Hosted;
use crate::out::Out;
use crate::reach::{self, Site};
use crate::setup::{self, env};
use crate::source::Texts;
use crate::store::{Access, Store};
use crate::wait::wait;
use crate::worker::Crew;

/// A project's repository, with all that a pass takes.
#[derive(Debug)]
pub(crate) struct Repository {
    pub(super) site: Site,
    /// Who pushes for workers and opens their pulls.
    pub(super) author: Token,
    pub(super) forge: AnyForge,
    store: Store,
    pub(super) texts: Texts,
    pub(super) policy: Policy,
    keys: Keys,
    /// The tip of the default branch: whose word counts.
    pub(super) tip: Sha,
    /// Files with guidance for reviewers, read there.
    pub(super) rules: Vec<String>,
    pub(super) crew: Crew,
}

/// What a pass may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Print what would hold.
    DryRun,
    /// Write, and print what holds.
    Print,
    /// Also run the worker.
    Run,
}

impl Repository {
    /// Opens it. Its config is read at the tip of the default branch (SAF-2).
    pub(crate) fn open(common: &Common, found: &Found, access: Access, out: &Out) -> Result<Self, Failure> {
        let file = &found.file;
        let (site, author) = site(common, found)?;
        let told = |error: ForgeError| case::failure(error, &site.repo.to_string());
        let Some((forge, store)) = case::reached(&site, access)? else {
            return Err(case::failure(ForgeError::Unsupported("be asked for pulls".to_owned()), site.server.as_str()));
        };
        let tip = wait(forge.default_tip())?.map_err(told)?;
        let elsewhere = case::elsewhere(&site, &forge)?;
        elsewhere.bring(&[&tip.1])?;
        let texts = Texts::fetched(elsewhere).remembering();
        let mut setup = setup::load(common, &texts, Some(&tip), None, out)?;
        let mut forge = Box::new(forge);
        case::identities(&mut forge, &mut setup, author.clone())?;
        setup.warnings.iter().for_each(|warning| out.say(&format!("warning: {warning}")));
        let work = work(file, &forge)?;
        if !forge.known().logins.contains(&work.user) {
            let who = forge.login();
            return Err(Failure::usage(format!("nobody can work as `{}`: the token is {who}'s", work.user))
                .hint("`user` is whom the token belongs to, or the forge's `author_token` in the operator file"));
        }
        if work.review_users.is_empty() && !work.review_bots.is_empty() {
            out.say("warning: `review_users` is not set: whoever may write speaks for the bots, but a pull's author");
        }
        let keys = setup.keys()?;
        let author = author.filter(|_| forge.login() != work.user).unwrap_or_else(|| site.token.clone());
        let crew = Crew::of(&setup);
        let rules = setup.roles.iter().flat_map(|role| role.rules.clone()).collect();
        let policy = policy(file, setup.policy, work, &forge.login());
        Ok(Self { site, author, forge: AnyForge::Hosted(forge), store, texts, policy, keys, tip: tip.1, rules, crew })
    }

    /// One pass. Each line is said as soon as it holds.
    pub(crate) fn pass(&self, mode: Mode, say: impl FnMut(&ProtocolLine) + Send) -> Result<Passed, Failure> {
        let (books, gates) = (self.books(), self.gates(mode));
        let then = if mode == Mode::Run { Then::Run } else { Then::Print };
        let passed = wait(pass(&self.desk(&books, &gates), then, say))?.map_err(unread);
        self.texts.keep();
        passed
    }

    /// What a worker leaves is written through gates that nothing else of a pass asks for.
    pub(super) fn gates(&self, mode: Mode) -> Gates {
        let asked = match mode {
            Mode::DryRun => return Gates::dry_run(),
            Mode::Print => Asked::from([Gate::Label]),
            Mode::Run => Asked::from([Gate::Label, Gate::Work, Gate::Reply]),
        };
        Gates::new(self.policy.gates.clone(), asked, self.policy.approve)
    }

    pub(super) fn books(&self) -> Books<'_> {
        Books { store: &self.store, site: &self.site, policy: &self.policy }
    }

    pub(super) fn desk<'a>(&'a self, journal: &'a Books<'a>, gates: &'a Gates) -> Desk<'a> {
        let Self { forge, texts: source, policy, keys, .. } = self;
        Desk { forge, source, journal, policy, gates, keys, publishing: Publishing::Alone }
    }

    /// What left for the forge so far.
    pub(crate) fn calls(&self) -> Calls {
        match &self.forge {
            AnyForge::Local(_) => Calls::default(),
            AnyForge::Hosted(forge) => forge.calls(),
        }
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
pub(crate) fn govern(file: &ProjectFile, rules: Policy, forge: &AnyForge) -> Result<Policy, Failure> {
    let AnyForge::Hosted(forge) = forge else {
        return Err(Failure::usage("a project is on a forge: a local pull has none"));
    };
    Ok(policy(file, rules, work(file, forge)?, &forge.login()))
}

/// A read that failed decides nothing: the next pass reads again (DSP-1).
fn unread(error: TurnError) -> Failure {
    let words = format!("nothing was decided, nothing was written: {error}");
    match error {
        TurnError::Forge(
            error @ (ForgeError::Unauthenticated | ForgeError::Forbidden(_) | ForgeError::Unsupported(_)),
        ) => Failure::of_forge(&error, &words),
        _ => Failure::new(Kind::Later, words).hint("run it again"),
    }
}

/// Where the repository is, who asks there, and the fixing side's own token.
fn site(common: &Common, found: &Found) -> Result<(Site, Option<Token>), Failure> {
    let file = &found.file;
    let forges = setup::forges(common)?;
    let entry: Option<&ForgeEntry> = match &file.forge {
        None => None,
        Some(name) => Some(forges.get(name).ok_or_else(|| {
            let failure = Failure::usage(format!("there is no `[forge.{name}]` in the operator file"));
            match referee_core::say::nearest(name, forges.keys().map(String::as_str)) {
                Some(near) => failure.hint(format!("did you mean `{near}`?")),
                None => failure.hint("name its server in the project file: `api_base: https://git.example.org/api/v1`"),
            }
        })?),
    };
    let Some(server) = file.api_base.as_ref().map(|base| base.0.clone()).or_else(|| reach::url_of(entry?)) else {
        return Err(Failure::usage("nobody says where the project's forge is"));
    };
    let token = file.token_path.as_ref().map(|path| token_at(path, &found.path)).transpose()?;
    let author = entry.and_then(|entry| entry.author_token.as_ref());
    let author = author.map(|secret| secret.read(&env)).transpose();
    let author = author.map_err(|error| Failure::usage(format!("nobody can speak for `{}`: {error}", file.user)))?;
    let author = author.map(|text| Token::new(text.expose()));
    Ok((reach::named(server, file.repo.0.clone(), token, &forges, &env)?, author))
}

/// A relative path is one beside the project's file.
fn token_at(path: &str, project: &Path) -> Result<Token, Failure> {
    let beside = project.parent().unwrap_or(Path::new("")).join(path);
    let path = if path.starts_with("~/") { path.to_owned() } else { beside.display().to_string() };
    let text = Secret::File(path).read(&env);
    let text = text.map_err(|error| Failure::usage(format!("nobody can ask the forge: `token_path`: {error}")))?;
    Ok(Token::new(text.expose()))
}

fn work(file: &ProjectFile, forge: &Hosted) -> Result<Work, Failure> {
    let ids = [&file.labels.wip, &file.labels.ready, &file.labels.bug];
    let by_id = ids.iter().any(|label| matches!(label, Some(Label::Id(_))));
    let known = if by_id {
        wait(forge.labels())?.map_err(|error| case::failure(error, &file.repo.0.to_string()))?
    } else {
        Default::default()
    };
    let name = |label: &Option<Label>, usual: &str| match label {
        None => Ok(usual.to_owned()),
        Some(Label::Name(name)) => Ok(name.clone()),
        Some(Label::Id(id)) => known.get(id).cloned().ok_or_else(|| {
            Failure::usage(format!("`labels.{usual}`: `{}` has no label with the id {id}", file.repo.0))
                .hint("names work too, and are easier to read")
        }),
    };
    Ok(Work {
        user: Login::from(file.user.as_str()),
        wip: name(&file.labels.wip, "wip")?,
        ready: name(&file.labels.ready, "ready")?,
        bug: name(&file.labels.bug, "bug")?,
        assign: file.assign.as_deref().map(Login::from),
        wip_max_age: file.wip_max_age.map_or(Span::hours(1), |age| age.0),
        review_bots: file.review_bots.clone(),
        review_users: file.review_users.iter().map(|login| Login::from(login.as_str())).collect(),
        workers: file.workers.keys().copied().collect(),
        max_jobs: 12,
        pulls: file.pulls.as_ref().map_or(Which::All, |Pulls(which)| which.clone()),
    })
}

/// The repository's own policy with the project's say. Of its roles those take part that the project names, and only by
/// a login that it hears; another's reviews are read by their sentinels.
fn policy(file: &ProjectFile, mut policy: Policy, work: Work, viewer: &Login) -> Policy {
    policy.roles.retain(|role| {
        let heard = work.review_users.is_empty() || work.review_users.contains(role.speaks_as(viewer));
        heard && work.review_bots.iter().any(|name| name == role.name.as_str())
    });
    policy.ci_required = file.ci_required.unwrap_or(policy.ci_required);
    policy.rounds = file.rounds.unwrap_or(policy.rounds);
    policy.operator = policy.operator.or_else(|| work.assign.clone());
    policy.work = Some(work);
    policy
}
