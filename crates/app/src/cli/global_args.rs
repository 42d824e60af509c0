//! The options of every command: clap's view of them, mapped to plain `Options` and a `Console`.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};
use url::Url;

use crate::console::{Console, Verbosity};
use crate::failure::Failure;
use crate::logging::LogFormat;
use crate::session::reference::RepoName;
use crate::session::{ForgeOptions, Options};
use referee_forge::ForgeKind;

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct GlobalArgs {
    /// Print one JSON document on stdout
    #[arg(long, global = true)]
    json: bool,
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: Color,
    /// Print errors only
    #[arg(long, short, global = true)]
    quiet: bool,
    /// Print more: `-v` plans and requests, `-vv` details; `RUST_LOG` selects by module
    #[arg(long, short, global = true, action = ArgAction::Count, conflicts_with = "quiet")]
    verbose: u8,
    /// The format of log lines on stderr
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    pub(super) log_format: LogFormat,
    /// Print one line at a time without redrawing, for screen readers and logs
    #[arg(long, global = true, env = "REFEREE_ACCESSIBLE", value_parser = clap::builder::FalseyValueParser::new())]
    accessible: bool,
    /// Use this config file instead of `referee.toml` at the base commit
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Use this operator file [default: `referee/operator.toml` in the user's config directory]
    #[arg(long, global = true, value_name = "FILE", env = "REFEREE_OPERATOR")]
    operator: Option<PathBuf>,
    /// Run as if started in this directory
    #[arg(short = 'C', global = true, value_name = "DIR", default_value = ".", hide_default_value = true)]
    dir: PathBuf,
    #[command(flatten)]
    forge: ForgeArgs,
}

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Forge")]
struct ForgeArgs {
    /// The software of the forge [default: detected by asking the server]
    #[arg(long = "forge-kind", global = true, value_name = "KIND", env = "REFEREE_FORGE_KIND")]
    kind: Option<KindArg>,
    /// The URL of the forge, such as `https://git.example.org`
    // Parsed later: clap repeats a value that it rejects, and its help shows the value of the variable.
    #[arg(long = "forge-url", global = true, value_name = "URL", env = "REFEREE_FORGE_URL", hide_env_values = true)]
    url: Option<String>,
    /// The repository on the forge
    #[arg(long = "repo", global = true, value_name = "OWNER/NAME", env = "REFEREE_REPO", value_parser = parse_repo)]
    repo: Option<RepoName>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum KindArg {
    /// GitHub
    Github,
    /// GitLab
    Gitlab,
    /// Gitea
    Gitea,
    /// Forgejo
    Forgejo,
    /// No forge: pull requests are stored in the git directory
    Local,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

impl GlobalArgs {
    pub(super) fn options(&self) -> Result<Options, Failure> {
        let ForgeArgs { kind, url, repo } = self.forge.clone();
        let url = url.filter(|text| !text.is_empty()).map(|text| parse_forge_url(&text)).transpose()?;
        Ok(Options {
            config: self.config.clone(),
            operator: self.operator.clone(),
            dir: self.dir.clone(),
            forge: ForgeOptions { kind: kind.map(ForgeKind::from), url, repo },
        })
    }

    pub(super) fn console(&self) -> Console {
        let color = match self.color {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        };
        let verbosity = match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, 0) => Verbosity::Normal,
            (false, _) => Verbosity::Verbose,
        };
        Console { json: self.json, color, verbosity, accessible: self.accessible }
    }

    /// Returns the log level that applies when `RUST_LOG` is not set.
    pub(super) fn log_level(&self) -> tracing::Level {
        match (self.quiet, self.verbose) {
            (true, _) => tracing::Level::ERROR,
            (false, 0) => tracing::Level::WARN,
            (false, 1) => tracing::Level::INFO,
            (false, 2) => tracing::Level::DEBUG,
            (false, _) => tracing::Level::TRACE,
        }
    }
}

impl From<KindArg> for ForgeKind {
    fn from(kind: KindArg) -> Self {
        match kind {
            KindArg::Github => Self::Github,
            KindArg::Gitlab => Self::Gitlab,
            KindArg::Gitea => Self::Gitea,
            KindArg::Forgejo => Self::Forgejo,
            KindArg::Local => Self::Local,
        }
    }
}

/// Parses the URL of a forge. The messages do not repeat it: it may contain a password.
fn parse_forge_url(text: &str) -> Result<Url, Failure> {
    let rejected = |why: &str| Failure::usage(format!("the value of `--forge-url` or `REFEREE_FORGE_URL` {why}"));
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let url = url.ok_or_else(|| rejected("is not a URL").with_hint("write it like `https://git.example.org`"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(rejected("contains a user name or password, which would end up in logs")
            .with_hint("leave it out and set `REFEREE_TOKEN` instead"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(rejected("contains `?` or `#`").with_hint("write it like `https://git.example.org`"));
    }
    Ok(url)
}

fn parse_repo(text: &str) -> Result<RepoName, String> {
    text.parse().map_err(|_| "expected `OWNER/NAME`".to_owned())
}
