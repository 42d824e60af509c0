/// Why a diff could not be read. Lines count from 1 after the list of files.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiffError {
    /// It ends too early.
    #[error("the diff is cut off after line {line}")]
    Truncated {
        /// The last whole line.
        line: usize,
    },
    /// Its list names more files than it shows.
    #[error("the diff is cut off: it lists {listed} files and shows {shown}")]
    MissingFiles {
        /// How many it names.
        listed: usize,
        /// How many it shows.
        shown: usize,
    },
    /// Its list names fewer files than it shows.
    #[error("the diff shows {shown} files and lists {listed}")]
    UnlistedFiles {
        /// How many it names.
        listed: usize,
        /// How many it shows.
        shown: usize,
    },
    /// It is something else.
    #[error("line {line} is not part of a diff: {text}")]
    Malformed {
        /// Which line; 0 in the list of files.
        line: usize,
        /// What stands there, shortened.
        text: String,
    },
}
