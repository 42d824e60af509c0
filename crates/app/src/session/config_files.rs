//! Loads the config of a pull: `referee.toml` at the tip of its trusted base, the operator file, and defaults.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use referee_core::mark::{Key, Keys};
use referee_core::model::Login;
use referee_forge::BranchTip;
use referee_git::Git;

use super::Options;
use super::source::GitSource;
use crate::config::{self, ConfigErrors, ConfigFile, ConfigLayers, ForgeEntry, ResolvedConfig};
use crate::console::Console;
use crate::failure::Failure;

/// The name of the config file in a repository.
pub(crate) const FILE_NAME: &str = "referee.toml";

/// Loads the config as it is at `base`. On local pulls `user` is the git user, and other defaults apply.
pub(crate) fn load(
    options: &Options,
    source: &GitSource,
    base: Option<&BranchTip>,
    user: Option<&Login>,
    out: &Console,
) -> Result<ResolvedConfig, Failure> {
    let (name, text) = match (&options.config, base) {
        (Some(path), _) => (path.display().to_string(), Some(read_file(path)?)),
        (None, Some(BranchTip { name, commit })) => {
            (format!("{FILE_NAME} at {name}@{}", commit.short()), source.read_text(commit, FILE_NAME)?)
        }
        (None, None) => (FILE_NAME.to_owned(), None),
    };
    if options.config.is_none() && user.is_some() {
        warn_if_work_tree_differs(source.git(), text.as_deref(), &name, out);
    }
    let operator = read_operator_file(options)?;
    let layers = ConfigLayers {
        repository: text.as_deref().map(|text| ConfigFile { name: &name, text }),
        operator: operator.as_ref().map(|(name, text)| ConfigFile { name, text }),
        flags: &[],
        is_local: user.is_some(),
        user: user.cloned(),
        env: &env,
    };
    let mut config = config::load_config(&layers).map_err(|errors| config_failure(&errors, out.has_colour()))?;
    if let Some(path) = &config.reply_template {
        let template = base.map(|base| source.read_text(&base.commit, path)).transpose()?.flatten();
        let missing = || Failure::usage(format!("`threads.reply_template` names `{path}`, which is not at the base"));
        config.policy.threads.reply_template = Some(template.ok_or_else(missing)?);
    }
    Ok(config)
}

/// Loads the `[forge]` entries of the operator file.
pub(crate) fn load_forges(options: &Options) -> Result<BTreeMap<String, ForgeEntry>, Failure> {
    let Some((name, text)) = read_operator_file(options)? else { return Ok(BTreeMap::new()) };
    let operator = Some(ConfigFile { name: &name, text: &text });
    let layers = ConfigLayers { repository: None, operator, flags: &[], is_local: false, user: None, env: &env };
    config::load_config(&layers).map(|config| config.forges).map_err(|errors| config_failure(&errors, false))
}

fn config_failure(errors: &ConfigErrors, use_colour: bool) -> Failure {
    let text = if use_colour { errors.render_coloured() } else { errors.to_string() };
    Failure::usage(text.trim_end().to_owned())
}

fn warn_if_work_tree_differs(git: &Git, at_base: Option<&str>, name: &str, out: &Console) {
    let Some(in_work_tree) = git.work_tree_root().and_then(|top| std::fs::read_to_string(top.join(FILE_NAME)).ok())
    else {
        return;
    };
    if Some(in_work_tree.as_str()) != at_base {
        let used = if at_base.is_some() { format!("{name} is used") } else { "the base has none yet".to_owned() };
        out.print_info(&format!(
            "warning: `{FILE_NAME}` of the work tree differs: {used}\nhint: commit it on the default branch, or try it with `--config {FILE_NAME}`\n"
        ));
    }
}

impl ResolvedConfig {
    /// Reads the keys that seal Marks.
    pub(crate) fn keys(&self) -> Result<Keys, Failure> {
        let keys = self.mark_keys.iter().map(|secret| {
            let text = secret.read(&env).map_err(|error| Failure::usage(format!("Marks cannot be sealed: {error}")))?;
            Key::new(text.expose().as_bytes(), self.mark_since)
                .ok_or_else(|| Failure::usage(format!("{secret} is shorter than 16 bytes and could be guessed")))
        });
        Ok(Keys::new(keys.collect::<Result<_, _>>()?))
    }
}

/// Reads the operator file: the one named by `--operator`, else the user's own if it exists.
fn read_operator_file(options: &Options) -> Result<Option<(String, String)>, Failure> {
    if let Some(path) = &options.operator {
        return Ok(Some((path.display().to_string(), read_file(path)?)));
    }
    let Some(path) = default_operator_path().filter(|path| path.exists()) else { return Ok(None) };
    Ok(Some((path.display().to_string(), read_file(&path)?)))
}

/// Returns where the operator file is or would be.
pub(crate) fn operator_path(options: &Options) -> Option<PathBuf> {
    options.operator.clone().or_else(default_operator_path)
}

/// Returns where the user's own operator file would be; `None` without a home.
pub(crate) fn default_operator_path() -> Option<PathBuf> {
    let folder = env("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = folder.or_else(|| env("HOME").map(|home| Path::new(&home).join(".config")));
    folder.map(|folder| folder.join("referee/operator.toml"))
}

fn read_file(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("`{}` cannot be read: {error}", path.display())))
}

/// Reads an environment variable; one that is not UTF-8 counts as unset.
pub(crate) fn env(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
