//! Log lines for operators, on stderr. Output for people goes through `Console`.

use std::io;

use anstream::ColorChoice;
use tracing::Level;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;

use crate::console::Console;

/// The format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogFormat {
    Text,
    /// One object per line.
    Json,
}

/// Starts logging. `RUST_LOG` decides what is logged; without it, `level` for referee's own crates and warnings of others.
pub(crate) fn init(level: Level, format: LogFormat, console: &Console) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| {
        let own = ["referee", "referee_forge", "referee_git", "referee_http", "referee_review", "referee_turn"];
        let directives = own.map(|name| format!("{name}={level}")).join(",");
        EnvFilter::new(format!("warn,{directives}"))
    });
    let builder = fmt().with_env_filter(filter).with_writer(io::stderr);
    // A second start in one process keeps the first one's settings.
    let _ = match format {
        LogFormat::Text => builder.with_target(false).with_ansi(console.color != ColorChoice::Never).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
}
