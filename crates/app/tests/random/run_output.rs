//! A finished run of the program.

use std::process::Output;

use serde_json::Value;

/// Exit code and output of a run.
#[derive(Clone, Debug)]
pub(crate) struct RunOutput {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl RunOutput {
    pub(crate) fn from_output(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// Returns the document of a run with `--json`.
    pub(crate) fn document(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}\n{}\n{}", self.out, self.err))
    }

    /// Changes the document of a run with `--json`.
    pub(crate) fn edit(&mut self, change: impl FnOnce(&mut Value)) {
        let mut document = self.document();
        change(&mut document);
        self.out = document.to_string();
    }
}
