//! The pull that a command means, with its forge, its texts, and what is remembered of it.

mod server;

use std::fs::File;
use std::path::PathBuf;

use referee_core::model::{Login, PullNumber, Sha};
use referee_forge::format_local_name;
use referee_git::Git;

use crate::cli::CommonArgs;
use crate::config::ResolvedConfig;
use crate::console::Console;
use crate::failure::Failure;
use crate::forge::AnyForge;
use crate::place::Place;
use crate::reach::{self, Around, Choice};
use crate::setup;
use crate::source::Texts;
use crate::store::{Store, StoreAccess};
use crate::target::Target;
use server::Opened;
pub(crate) use server::{Forgeside, elsewhere, failure, identities, key, reached};

/// One pull, found.
#[derive(Debug)]
pub(crate) struct Case {
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
    pub(crate) texts: Texts,
    /// The branch and commit whose config and guidance count (SAF-2).
    pub(crate) trusted: Option<(String, Sha)>,
    /// The git user, on local pulls.
    user: Option<Login>,
    /// Whoever writes holds this file; none where there is no folder for it.
    turnstile: Option<PathBuf>,
    /// Who remembers which pull was used last in this checkout, and under which name.
    branch: Option<String>,
}

impl Case {
    /// The pull that the words mean, for a command that may write on it.
    pub(crate) fn open(common: &CommonArgs, words: Option<&str>, access: StoreAccess) -> Result<Self, Failure> {
        Self::found(common, &Target::read(words)?, access, access)
    }

    /// The same for a command that writes on no pull, whatever it remembers (TRI-9).
    pub(crate) fn reader(common: &CommonArgs, words: Option<&str>, memory: StoreAccess) -> Result<Self, Failure> {
        Self::found(common, &Target::read(words)?, StoreAccess::Read, memory)
    }

    fn found(common: &CommonArgs, target: &Target, access: StoreAccess, memory: StoreAccess) -> Result<Self, Failure> {
        if let Some(site) = chosen(common, target)?
            && let Opened::Case(case) = server::open(common, site, target, memory)?
        {
            return Ok(*case);
        }
        let mut place = Place::open(common, memory)?;
        if access == StoreAccess::Read {
            place = place.reading();
        }
        let pull = place.pull(target)?;
        Self::local(place, pull)
    }

    /// A local pull.
    pub(crate) fn local(place: Place, pull: PullNumber) -> Result<Self, Failure> {
        let trusted = place.trusted(pull)?;
        let turnstile = Some(place.git.common_dir().join("referee/writer.lock"));
        let Place { git, forge, store, user, .. } = place;
        let name = format_local_name(pull);
        Ok(Self {
            pull,
            words: name.clone(),
            key: name.clone(),
            name,
            forge: AnyForge::Local(Box::new(forge)),
            store,
            texts: Texts::of(git.clone()),
            checkout: Some(git),
            trusted,
            user: Some(user),
            turnstile,
            branch: None,
        })
    }

    /// What holds for the pull. A file at its head has no say (SAF-2). From here on every role's identity speaks.
    pub(crate) fn setup(&mut self, common: &CommonArgs, out: &Console) -> Result<ResolvedConfig, Failure> {
        let mut setup = setup::load(common, &self.texts, self.trusted.as_ref(), self.user.as_ref(), out)?;
        match &mut self.forge {
            AnyForge::Local(forge) => {
                let identities = setup.policy.roles.iter().filter_map(|role| role.identity.clone());
                **forge = (**forge).clone().with_identities(identities);
            }
            AnyForge::Hosted(forge) => identities(forge, &mut setup, None)?,
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
                Some(git) => crate::place::used(git, forge, self.pull),
                None => Ok(()),
            },
            AnyForge::Hosted(_) => server::used(self),
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
pub(crate) fn forgeside(common: &CommonArgs) -> Result<Option<Forgeside>, Failure> {
    chosen(common, &Target::Current)?.map_or(Ok(None), Forgeside::of)
}

/// The forge that the words mean; none is the local one.
pub(crate) fn chosen(common: &CommonArgs, target: &Target) -> Result<Option<reach::Site>, Failure> {
    let forges = setup::forges(common);
    let origin = || Git::discover(&common.dir).ok()?.remote_url("origin").ok()?;
    let known = forges.as_ref().cloned().unwrap_or_default();
    let around = Around { env: &setup::env, forges: &known, origin: &origin };
    match (reach::choose(target, &common.forge, &around), forges) {
        (Ok(Choice::Local), _) => Ok(None),
        (Ok(Choice::Forge(site)), _) => Ok(Some(*site)),
        // What the operator file would have said is not known.
        (Err(_), Err(unreadable)) => Err(unreadable),
        (Err(failure), Ok(_)) => Err(failure),
    }
}
