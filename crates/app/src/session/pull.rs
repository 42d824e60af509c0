//! The pull that a command means, with its forge, its texts, and what is remembered of it.

use std::fs::File;
use std::path::PathBuf;

use referee_core::model::{Login, PullNumber, Sha};
use referee_forge::format_local_name;
use referee_git::Git;

use super::hosted::{self, Opened};
pub(crate) use super::hosted::{ForgePulls, elsewhere, failure, identities, key, reached};
use crate::config::ResolvedConfig;
use crate::console::Console;
use crate::failure::Failure;
use crate::forge::AnyForge;
use crate::session::Options;
use crate::session::config_files;
use crate::session::local::LocalCheckout;
use crate::session::reference::PullReference;
use crate::session::site::{self, Around, Choice};
use crate::session::source::GitSource;
use crate::store::{Store, StoreAccess};

/// One pull, found.
#[derive(Debug)]
pub(crate) struct PullSession {
    /// Its number.
    pub(crate) pull: PullNumber,
    /// What people call it: `L7`, `acme/api#7`.
    pub(crate) name: String,
    /// What names it on a command line from here.
    pub(crate) words: String,
    /// What the store calls it.
    pub(crate) key: String,
    /// Where it lives.
    pub(crate) forge: AnyForge,
    /// What is remembered.
    pub(crate) store: Store,
    /// The checkout that the command was started in.
    pub(crate) checkout: Option<Git>,
    /// The texts of its changes.
    pub(crate) texts: GitSource,
    /// The branch and commit whose config and guidance count (SAF-2).
    pub(crate) trusted: Option<(String, Sha)>,
    /// The git user, on local pulls.
    pub(super) user: Option<Login>,
    /// Whoever writes holds this file; none where there is no folder for it.
    pub(super) turnstile: Option<PathBuf>,
    /// Who remembers which pull was used last in this checkout, and under which name.
    pub(super) branch: Option<String>,
}

impl PullSession {
    /// The pull that the words mean, for a command that may write on it.
    pub(crate) async fn open(options: &Options, words: Option<&str>, access: StoreAccess) -> Result<Self, Failure> {
        Self::found(options, &PullReference::parse_optional(words)?, access, access).await
    }

    /// The same for a command that writes on no pull, whatever it remembers (TRI-9).
    pub(crate) async fn reader(options: &Options, words: Option<&str>, memory: StoreAccess) -> Result<Self, Failure> {
        Self::found(options, &PullReference::parse_optional(words)?, StoreAccess::Read, memory).await
    }

    async fn found(
        options: &Options,
        target: &PullReference,
        access: StoreAccess,
        memory: StoreAccess,
    ) -> Result<Self, Failure> {
        if let Some(site) = chosen(options, target)?
            && let Opened::PullSession(case) = hosted::open(options, site, target, memory).await?
        {
            return Ok(*case);
        }
        let mut place = LocalCheckout::open(options, memory)?;
        if access == StoreAccess::Read {
            place = place.reading();
        }
        let pull = place.pull(target)?;
        Self::local(place, pull)
    }

    /// A local pull.
    pub(crate) fn local(place: LocalCheckout, pull: PullNumber) -> Result<Self, Failure> {
        let trusted = place.trusted(pull)?;
        let turnstile = Some(place.git.common_dir().join("referee/writer.lock"));
        let LocalCheckout { git, forge, store, user, .. } = place;
        let name = format_local_name(pull);
        Ok(Self {
            pull,
            words: name.clone(),
            key: name.clone(),
            name,
            forge: AnyForge::Local(Box::new(forge)),
            store,
            texts: GitSource::from_checkout(git.clone()),
            checkout: Some(git),
            trusted,
            user: Some(user),
            turnstile,
            branch: None,
        })
    }

    /// What holds for the pull. A file at its head has no say (SAF-2). From here on every role's identity speaks.
    pub(crate) async fn setup(&mut self, options: &Options, out: &Console) -> Result<ResolvedConfig, Failure> {
        let mut setup = config_files::load(options, &self.texts, self.trusted.as_ref(), self.user.as_ref(), out)?;
        match &mut self.forge {
            AnyForge::Local(forge) => {
                let identities = setup.policy.roles.iter().filter_map(|role| role.identity.clone());
                **forge = (**forge).clone().with_identities(identities);
            }
            AnyForge::Hosted(forge) => identities(forge, &mut setup, None).await?,
        }
        Ok(setup)
    }

    /// Whether it is a local one.
    pub(crate) fn is_local(&self) -> bool {
        matches!(self.forge, AnyForge::Local(_))
    }

    /// Whether the pull is there: a reader looks at a branch without one as it would be.
    pub(crate) fn is_there(&self) -> Result<bool, Failure> {
        match &self.forge {
            AnyForge::Local(forge) => Ok(forge.list_pulls()?.iter().any(|it| it.number == self.pull)),
            AnyForge::Hosted(_) => Ok(true),
        }
    }

    /// How its threads were read (TRI-4).
    pub(crate) fn source(&self) -> String {
        match &self.forge {
            AnyForge::Local(_) => "local".to_owned(),
            AnyForge::Hosted(forge) => format!("{}-rest", forge.server().flavour),
        }
    }

    /// This pull is the one that commands on the current branch mean from now on (TRI-2).
    pub(crate) fn used(&self) -> Result<(), Failure> {
        match &self.forge {
            AnyForge::Local(forge) => match &self.checkout {
                Some(git) => crate::session::local::used(git, forge, self.pull),
                None => Ok(()),
            },
            AnyForge::Hosted(_) => hosted::used(self),
        }
    }

    /// The one who writes on this machine: others wait here until the answer is dropped, or its process is gone (D6).
    pub(crate) fn writer(&self) -> Result<Option<File>, Failure> {
        let Some(path) = &self.turnstile else { return Ok(None) };
        let taken = File::options().create(true).truncate(false).write(true).open(path).and_then(|file| {
            file.lock()?;
            Ok(file)
        });
        taken.map(Some).map_err(|error| Failure::failed(format!("nothing was written: `{}`: {error}", path.display())))
    }
}

/// The open pulls of the forge of this checkout, where it has one and there is a token for it.
pub(crate) async fn list_forge_pulls(options: &Options) -> Result<Option<ForgePulls>, Failure> {
    match chosen(options, &PullReference::Current)? {
        Some(site) => ForgePulls::of(site).await,
        None => Ok(None),
    }
}

/// The forge that the words mean; none is the local one.
pub(crate) fn chosen(options: &Options, target: &PullReference) -> Result<Option<site::Site>, Failure> {
    let forges = config_files::forges(options);
    let origin = || Git::discover(&options.dir).ok()?.remote_url("origin").ok()?;
    let known = forges.as_ref().cloned().unwrap_or_default();
    let around = Around { env: &config_files::env, forges: &known, origin: &origin };
    match (site::choose(target, &options.forge, &around), forges) {
        (Ok(Choice::Local), _) => Ok(None),
        (Ok(Choice::Forge(site)), _) => Ok(Some(*site)),
        // What the operator file would have said is not known.
        (Err(_), Err(unreadable)) => Err(unreadable),
        (Err(failure), Ok(_)) => Err(failure),
    }
}
