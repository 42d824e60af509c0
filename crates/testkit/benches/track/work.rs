//! The work that gather does with a diff.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use referee_core::track::{
    Anchor, ChangeKind, ChangedFile, CodeLocation, DiffAnchors, FileChange, FileDiff, PatchId, Side, Track,
    count_lines, follow_locations,
};
use referee_git::{Git, parse_diff};

/// The contents of the changed files, by blob id.
pub(crate) struct BlobTexts(BTreeMap<String, String>);

impl BlobTexts {
    pub(crate) fn read(git: &Git, diff: &[u8]) -> Self {
        let files = parse_diff(diff).expect("parse the diff of git");
        let mut names: Vec<&str> = files.iter().flat_map(|file| [file.old_blob, file.new_blob]).flatten().collect();
        names.sort_unstable();
        names.dedup();
        let contents = git.read_blobs(&names).expect("read the blobs");
        let texts = names
            .iter()
            .zip(contents)
            .filter_map(|(name, content)| Some(((*name).to_owned(), String::from_utf8(content?).ok()?)));
        BlobTexts(texts.collect())
    }

    fn get(&self, blob: Option<&str>) -> Option<&str> {
        self.0.get(blob?).map(String::as_str)
    }
}

pub(crate) struct WorkResult {
    pub(crate) reading: Duration,
    pub(crate) summary: String,
}

pub(crate) fn work(diff: &[u8], texts: &BlobTexts, findings: &[CodeLocation]) -> WorkResult {
    let start = Instant::now();
    let files = parse_diff(diff).expect("parse the diff of git");
    let reading = start.elapsed();

    let patch = PatchId::from_files(&files, |file| texts.get(file.old_blob).map(str::as_bytes));
    let delta: Vec<FileChange<'_>> = files.iter().map(|file| change(file, texts)).collect();
    let tracks = follow_locations(findings, &delta);
    let changed: Vec<ChangedFile> = files.iter().map(|file| without_text(file, texts)).collect();
    let anchors = DiffAnchors::new(&changed);
    let on_lines = tracks
        .iter()
        .filter_map(Track::location)
        .filter(|location| anchors.resolve_anchor(location, Side::New) == Anchor::Line)
        .count();
    let count = |matches: fn(&Track) -> bool| tracks.iter().filter(|track| matches(track)).count();
    let summary = format!(
        "{} same, {} moved, {} changed, {} gone; {on_lines} can be commented on their line; patch {}",
        count(|track| matches!(track, Track::Same(_))),
        count(|track| matches!(track, Track::Moved(_))),
        count(|track| matches!(track, Track::Changed(_))),
        count(|track| matches!(track, Track::Gone)),
        patch.0,
    );
    WorkResult { reading, summary }
}

fn change<'a>(file: &'a FileDiff<'_>, texts: &'a BlobTexts) -> FileChange<'a> {
    let before = file.old_path.as_ref().unwrap_or(&file.path);
    FileChange {
        old_path: (file.kind != ChangeKind::Added).then_some(before),
        new_path: (file.kind != ChangeKind::Deleted).then_some(&file.path),
        old_text: texts.get(file.old_blob),
        new_text: texts.get(file.new_blob),
    }
}

fn without_text(file: &FileDiff<'_>, texts: &BlobTexts) -> ChangedFile {
    let length = |blob| texts.get(blob).map(|text| count_lines(text.as_bytes()));
    file.to_changed_file(length(file.old_blob), length(file.new_blob))
}
