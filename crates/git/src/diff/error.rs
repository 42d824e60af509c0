/// Why a diff cannot be parsed. Lines count from 1 after the raw list of files.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiffError {
    #[error("the diff is cut off after line {line}")]
    Truncated {
        /// The last complete line.
        line: usize,
    },
    /// The raw list has more files than the patch.
    #[error("the diff is cut off: it lists {listed} files and shows {shown}")]
    MissingFiles { listed: usize, shown: usize },
    /// The raw list has fewer files than the patch.
    #[error("the diff shows {shown} files and lists {listed}")]
    UnlistedFiles { listed: usize, shown: usize },
    #[error("line {line} is not part of a diff: {text}")]
    Malformed {
        /// 0 in the raw list of files.
        line: usize,
        /// The line, shortened.
        text: String,
    },
}
