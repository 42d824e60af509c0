//! The config of a pull: `referee.toml` at its base, the operator file, the defaults of its forge.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use referee_core::mark::{Key, Keys};
use referee_core::model::{Login, PullNumber, Sha};
use referee_git::Git;

use crate::config::{self, ConfigErrors, ConfigFile, ConfigLayers, ForgeEntry, ResolvedConfig};
use crate::console::Console;
use crate::failure::Failure;
use crate::session::Options;
use crate::session::local::LocalCheckout;
use crate::session::source::GitSource;

/// The file's name in a repository.
pub(crate) const FILE: &str = "referee.toml";

/// What holds where that commit is the base. On local pulls there is a git user, and other defaults hold.
pub(crate) fn load(
    options: &Options,
    texts: &GitSource,
    base: Option<&(String, Sha)>,
    user: Option<&Login>,
    out: &Console,
) -> Result<ResolvedConfig, Failure> {
    let (name, text) = match (&options.config, base) {
        (Some(path), _) => (path.display().to_string(), Some(text_of(path)?)),
        (None, Some((branch, commit))) => {
            (format!("{FILE} at {branch}@{}", commit.short()), texts.read_text(commit, FILE)?)
        }
        (None, None) => (FILE.to_owned(), None),
    };
    if options.config.is_none() && user.is_some() {
        warn_of_another(texts.git(), text.as_deref(), &name, out);
    }
    let operator = operator(options)?;
    let layers = ConfigLayers {
        repository: text.as_deref().map(|text| ConfigFile { name: &name, text }),
        operator: operator.as_ref().map(|(name, text)| ConfigFile { name, text }),
        flags: &[],
        is_local: user.is_some(),
        user: user.cloned(),
        env: &env,
    };
    let mut setup = config::load_config(&layers).map_err(|errors| wrong(&errors, out.has_colour()))?;
    if let Some(path) = &setup.reply_template {
        let template = base.map(|(_, commit)| texts.read_text(commit, path)).transpose()?.flatten();
        let missing = || Failure::usage(format!("`threads.reply_template` names `{path}`, which is not at the base"));
        setup.policy.threads.reply_template = Some(template.ok_or_else(missing)?);
    }
    Ok(setup)
}

/// The forges of the operator file.
pub(crate) fn forges(options: &Options) -> Result<BTreeMap<String, ForgeEntry>, Failure> {
    let Some((name, text)) = operator(options)? else { return Ok(BTreeMap::new()) };
    let operator = Some(ConfigFile { name: &name, text: &text });
    let layers = ConfigLayers { repository: None, operator, flags: &[], is_local: false, user: None, env: &env };
    config::load_config(&layers).map(|setup| setup.forges).map_err(|errors| wrong(&errors, false))
}

fn wrong(errors: &ConfigErrors, colours: bool) -> Failure {
    let words = if colours { errors.render_coloured() } else { errors.to_string() };
    Failure::usage(words.trim_end().to_owned())
}

fn warn_of_another(git: &Git, at_base: Option<&str>, name: &str, out: &Console) {
    let Some(here) = git.work_tree_root().and_then(|top| std::fs::read_to_string(top.join(FILE)).ok()) else { return };
    if Some(here.as_str()) != at_base {
        let counts = if at_base.is_some() { format!("{name} counts") } else { "it is not at the base yet".to_owned() };
        out.print_info(&format!(
            "warning: `{FILE}` of the work tree differs: {counts}\nhint: commit it on the default branch, or try it with `--config {FILE}`\n"
        ));
    }
}

impl LocalCheckout {
    /// What holds where that commit is the base.
    pub(crate) fn setup_at(
        &self,
        options: &Options,
        base: Option<&(String, Sha)>,
        out: &Console,
    ) -> Result<ResolvedConfig, Failure> {
        load(options, &GitSource::from_checkout(self.git.clone()), base, Some(&self.user), out)
    }

    /// The commit whose word counts for a pull: its base if that is the default branch, else the default branch.
    pub(crate) fn trusted(&self, pull: PullNumber) -> Result<Option<(String, Sha)>, Failure> {
        let default = self.git.default_branch()?;
        let base = self.forge.list_pulls()?.into_iter().find(|it| it.number == pull).map(|it| it.base);
        let named = match (default, base) {
            (Some(default), Some(base)) if base.strip_prefix("origin/").unwrap_or(&base) == default => Some(base),
            (Some(default), _) => Some(default),
            (None, base) => base,
        };
        let Some(name) = named else { return Ok(None) };
        Ok(self.git.resolve(&name)?.map(|commit| (name, commit)))
    }
}

impl ResolvedConfig {
    /// What seals Marks.
    pub(crate) fn keys(&self) -> Result<Keys, Failure> {
        let keys = self.mark_keys.iter().map(|secret| {
            let text = secret.read(&env).map_err(|error| Failure::usage(format!("no Mark can be sealed: {error}")))?;
            Key::new(text.expose().as_bytes(), self.mark_since)
                .ok_or_else(|| Failure::usage(format!("{secret} is shorter than 16 bytes: it would be guessed")))
        });
        Ok(Keys::new(keys.collect::<Result<_, _>>()?))
    }
}

/// The operator file: the one that was named, else the user's own if there is one.
fn operator(options: &Options) -> Result<Option<(String, String)>, Failure> {
    if let Some(path) = &options.operator {
        return Ok(Some((path.display().to_string(), text_of(path)?)));
    }
    let Some(path) = own_operator_file().filter(|path| path.exists()) else { return Ok(None) };
    Ok(Some((path.display().to_string(), text_of(&path)?)))
}

/// Where the operator file is, or would be.
pub(crate) fn operator_path(options: &Options) -> Option<PathBuf> {
    options.operator.clone().or_else(own_operator_file)
}

/// Where the user's own operator file would be.
pub(crate) fn own_operator_file() -> Option<PathBuf> {
    let folder = env("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = folder.or_else(|| env("HOME").map(|home| Path::new(&home).join(".config")));
    folder.map(|folder| folder.join("referee/operator.toml"))
}

fn text_of(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("`{}` cannot be read: {error}", path.display())))
}

/// The environment.
pub(crate) fn env(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
