//! Log lines for operators, on stderr. Output for people goes through `Console`.

use std::io::{self, Write};

use anstream::{AutoStream, ColorChoice};
use referee_http::mask_url_credentials;
use tracing::Level;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;

use crate::console::{Console, make_safe};

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
    let color = console.color;
    let builder = fmt().with_env_filter(filter).with_writer(move || SafeLogWriter(color));
    // A second start in one process keeps the first one's settings.
    let _ = match format {
        LogFormat::Text => builder.with_target(false).with_ansi(color != ColorChoice::Never).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
}

/// Writes log lines to stderr, with secrets masked: libraries log URLs and headers too. Colours go to a terminal only.
struct SafeLogWriter(ColorChoice);

impl Write for SafeLogWriter {
    /// Gets whole lines from the subscriber.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let line_text = String::from_utf8_lossy(line);
        let mut stderr = AutoStream::new(io::stderr().lock(), self.0);
        stderr.write_all(make_safe(&mask_url_credentials(&line_text)).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
