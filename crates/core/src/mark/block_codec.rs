//! Encodes and decodes Blocks, and evicts entries that do not fit.
//!
//! | evicted | order |
//! |---|---|
//! | pre-existing findings: the Mark still counts them | last first |
//! | what the report says as a whole | |
//! | fixed | oldest first |
//! | refuted | oldest first |
//! | accepted | oldest first |
//! | title and body of findings with a thread: the thread has them | all at once |
//! | open without a thread: the Mark counts them as overflow (D33) | mildest first, newest first |
//! | open with a thread: the thread's Tag still has the finding | oldest first |
//!
//! No title and no body is cut: what does not fit is evicted whole. `evicted` counts everything but the first two rows.
//! Without a limit, as on the local forge, everything is kept.

use std::cmp::Reverse;

use super::data::{Block, BlockEntry};
use super::field::{FieldReader, FieldWriter, count_fitting_numbers, decode_runs, encode_runs};
use super::limits::{shorten_fingerprint, shorten_in_place, shorten_sha};
use super::tag_codec::{read_severity, read_state, severity_letter, state_letter};
use crate::model::{FindingId, FindingState, Login, PreExisting, Sha, StoredDetail, Time};
use crate::track::{CodeLocation, Fingerprint};

/// Maximum size of a Block.
pub const MAX_BLOCK_BYTES: usize = 12_000;

/// Maximum number of findings outside the change.
pub const MAX_PRE_EXISTING: usize = 20;

/// Maximum size of what a report says as a whole.
pub const MAX_REPORT_SUMMARY_BYTES: usize = 2_000;

/// Size of the comment around the fields.
const FRAME_BYTES: usize = "<!-- referee:block v1  -->".len();
const MAX_PATH_BYTES: usize = 1_000;
pub(super) const MAX_NAME_BYTES: usize = 64;
const MAX_ROUNDS_BYTES: usize = 60;

impl Block {
    /// Returns what will be read back after sealing: at most `max_bytes`, entries evicted according to the table above.
    #[must_use]
    pub fn truncate_to_limits(mut self, max_bytes: Option<usize>) -> Self {
        self.pre_existing.truncate(MAX_PRE_EXISTING);
        if self.report_summary.len() > MAX_REPORT_SUMMARY_BYTES {
            self.report_summary.clear();
        }
        let Some(max_bytes) = max_bytes else { return self };
        for entry in &mut self.entries {
            entry.truncate_fields();
        }
        for finding in &mut self.pre_existing {
            shorten_in_place(&mut finding.path, MAX_PATH_BYTES);
        }
        while !self.fits(max_bytes) {
            if self.pre_existing.pop().is_none() {
                self.report_summary.clear();
                return self.evict_entries(max_bytes);
            }
        }
        self
    }

    fn evict_entries(mut self, max_bytes: usize) -> Self {
        if self.fits(max_bytes) {
            return self;
        }
        let is_settled = |entry: &BlockEntry| entry.state.is_settled();
        self.evict(max_bytes, is_settled, |entry| (settled_rank(entry), entry.id));
        if !self.fits(max_bytes) {
            for entry in self.entries.iter_mut().filter(|entry| entry.threaded) {
                entry.title.clear();
                entry.detail.body.clear();
            }
        }
        if !self.fits(max_bytes) {
            self.evict(max_bytes, |entry| !entry.threaded, |entry| (entry.severity, Reverse(entry.id)));
        }
        if !self.fits(max_bytes) {
            self.evict(max_bytes, |_| true, |entry| entry.id);
        }
        self
    }

    fn fits(&self, max_bytes: usize) -> bool {
        encoded_size(self) <= max_bytes
    }

    /// Evicts as few of the `expendable` entries as necessary, in the order of `key`.
    fn evict<K: Ord>(
        &mut self,
        max_bytes: usize,
        expendable: impl Fn(&BlockEntry) -> bool,
        key: impl Fn(&BlockEntry) -> K,
    ) {
        let mut order: Vec<usize> =
            (0..self.entries.len()).filter(|index| self.entries.get(*index).is_some_and(&expendable)).collect();
        order.sort_by_key(|index| self.entries.get(*index).map(&key));
        let without = |count: usize| {
            let mut evicted: Vec<usize> = order.iter().copied().take(count).collect();
            evicted.sort_unstable();
            let kept = self.entries.iter().enumerate().filter(|(index, _)| evicted.binary_search(index).is_err());
            Self {
                entries: kept.map(|(_, entry)| entry.clone()).collect(),
                evicted: self.evicted.saturating_add(u32::try_from(count).unwrap_or(u32::MAX)),
                pre_existing: self.pre_existing.clone(),
                report_summary: self.report_summary.clone(),
            }
        };
        // The size decreases with every evicted entry, so a binary search finds the smallest number.
        let (mut enough, mut too_few) = (order.len(), 0);
        while enough > too_few + 1 {
            let middle = too_few.midpoint(enough);
            if without(middle).fits(max_bytes) {
                enough = middle;
            } else {
                too_few = middle;
            }
        }
        *self = without(enough);
    }
}

fn settled_rank(entry: &BlockEntry) -> u8 {
    match entry.state {
        FindingState::Fixed => 0,
        FindingState::Refuted => 1,
        _ => 2,
    }
}

impl BlockEntry {
    fn truncate_fields(&mut self) {
        for path in [Some(&mut self.path), self.now.as_mut().map(|location| &mut location.path)].into_iter().flatten() {
            shorten_in_place(path, MAX_PATH_BYTES);
        }
        if let Some(rule) = &mut self.rule {
            shorten_in_place(rule, MAX_NAME_BYTES);
        }
        shorten_fingerprint(&mut self.fingerprint);
        shorten_sha(&mut self.head);
        let rounds: Vec<u64> = self.rounds.iter().copied().map(u64::from).collect();
        self.rounds.truncate(count_fitting_numbers(&rounds, MAX_ROUNDS_BYTES));
        if let Some(Login(by)) = &mut self.by {
            shorten_in_place(by, MAX_NAME_BYTES);
        }
    }
}

fn encoded_size(block: &Block) -> usize {
    encode_block(block).map_or(0, |payload| payload.len() + FRAME_BYTES)
}

/// Encodes a Block. Returns `None` if it is empty.
///
/// The format is `evicted;heads;paths;rules|entry|entry…|~;pre-existing…|=;report summary`. Heads, paths, and rules with
/// their help pages are string tables; entries refer to them by index.
pub(super) fn encode_block(block: &Block) -> Option<String> {
    let Block { entries, evicted, pre_existing, report_summary } = block;
    if entries.is_empty() && *evicted == 0 && pre_existing.is_empty() && report_summary.is_empty() {
        return None;
    }
    let heads = StringTable::from_names(entries.iter().map(|entry| entry.head.as_str()));
    let now = entries.iter().filter_map(|entry| entry.now.as_ref());
    let now = now.map(|location| location.path.as_str()).chain(pre_existing.iter().map(|it| it.path.as_str()));
    let paths = StringTable::from_names(entries.iter().map(|entry| entry.path.as_str()).chain(now));
    let help = entries.iter().filter_map(|entry| entry.detail.help.as_deref());
    let rules = StringTable::from_names(entries.iter().filter_map(|entry| entry.rule.as_deref()).chain(help));
    let mut out = FieldWriter::default();
    out.write_number(evicted).write_list(heads.iter()).write_list(paths.iter()).write_list(rules.iter());
    for entry in entries {
        encode_entry(&mut out, entry, &heads, &paths, &rules);
    }
    for PreExisting { title, path, line } in pre_existing {
        out.begin_part()
            .write_raw(PRE_EXISTING_PREFIX)
            .write_text(title)
            .write_number(paths.index_of(path))
            .write_optional_number(*line);
    }
    if !report_summary.is_empty() {
        out.begin_part().write_raw(REPORT_SUMMARY_PREFIX).write_text(report_summary);
    }
    Some(out.finish())
}

fn encode_entry(
    out: &mut FieldWriter,
    entry: &BlockEntry,
    heads: &StringTable<'_>,
    paths: &StringTable<'_>,
    rules: &StringTable<'_>,
) {
    let BlockEntry {
        id,
        severity,
        state,
        title,
        path,
        line,
        now,
        rule,
        detail: StoredDetail { body, end_line, column, help },
        fingerprint,
        head,
        rounds,
        threaded,
        by,
        reopened,
    } = entry;
    out.begin_part()
        .write_number(id.0)
        .write_raw(&format!(
            "{}{}{}",
            severity_letter(*severity),
            state_letter(*state),
            if *threaded { 't' } else { 'n' }
        ))
        .write_text(title)
        .write_number(paths.index_of(path))
        .write_optional_number(*line)
        .write_optional_number(
            now.as_ref()
                .map(|CodeLocation { path, line, end_line }| format!("{},{line},{end_line}", paths.index_of(path))),
        )
        .write_optional_number(rule.as_deref().map(|rule| rules.index_of(rule)))
        .write_text(&fingerprint.0)
        .write_number(heads.index_of(head.as_str()))
        .write_raw(&encode_runs(rounds.iter().copied().map(u64::from)))
        .write_optional_text(by.as_ref().map(Login::as_str))
        .write_optional_number(reopened.map(|Time(at)| at))
        .write_text(body)
        .write_optional_number(*end_line)
        .write_optional_number(*column)
        .write_optional_number(help.as_deref().map(|help| rules.index_of(help)));
}

/// Marks a part as a pre-existing finding instead of an entry.
const PRE_EXISTING_PREFIX: &str = "~";
/// Marks the part with the report's summary.
const REPORT_SUMMARY_PREFIX: &str = "=";

pub(super) fn decode_block(payload: &str) -> Option<Block> {
    let mut parts = payload.split('|');
    let mut fields = FieldReader::new(parts.next()?);
    let evicted = fields.read_number()?;
    let (heads, paths, rules) = (fields.read_list()?, fields.read_list()?, fields.read_list()?);
    let mut block = Block { evicted, ..Block::default() };
    for part in parts {
        let mut fields = FieldReader::new(part);
        if part.starts_with(PRE_EXISTING_PREFIX) {
            fields.read_raw()?;
            block.pre_existing.push(decode_pre_existing(&mut fields, &paths)?);
        } else if part.starts_with(REPORT_SUMMARY_PREFIX) {
            fields.read_raw()?;
            block.report_summary = fields.read_text()?;
        } else {
            block.entries.push(decode_entry(&mut fields, &heads, &paths, &rules)?);
        }
    }
    Some(block)
}

fn decode_pre_existing(fields: &mut FieldReader<'_>, paths: &[String]) -> Option<PreExisting> {
    Some(PreExisting {
        title: fields.read_text()?,
        path: paths.get(fields.read_number::<usize>()?)?.clone(),
        line: fields.read_optional_number()?,
    })
}

fn decode_entry(
    fields: &mut FieldReader<'_>,
    heads: &[String],
    paths: &[String],
    rules: &[String],
) -> Option<BlockEntry> {
    let id = FindingId(fields.read_number()?);
    let mut letters = fields.read_raw()?.chars();
    Some(BlockEntry {
        id,
        severity: read_severity(letters.next()?)?,
        state: read_state(letters.next()?)?,
        threaded: match letters.next()? {
            't' => true,
            'n' => false,
            _ => return None,
        },
        title: fields.read_text()?,
        path: paths.get(fields.read_number::<usize>()?)?.clone(),
        line: fields.read_optional_number()?,
        now: match fields.read_raw()? {
            "-" => None,
            field => Some(decode_location(field, paths)?),
        },
        rule: match fields.read_optional_number::<usize>()? {
            Some(index) => Some(rules.get(index)?.clone()),
            None => None,
        },
        fingerprint: Fingerprint(fields.read_text()?),
        head: Sha(heads.get(fields.read_number::<usize>()?)?.clone()),
        rounds: decode_runs(fields.read_raw()?)?
            .into_iter()
            .map(|round| u32::try_from(round).ok())
            .collect::<Option<_>>()?,
        by: fields.read_optional_text()?.map(Login),
        reopened: fields.read_optional_number()?.map(Time),
        detail: StoredDetail {
            body: fields.read_text()?,
            end_line: fields.read_optional_number()?,
            column: fields.read_optional_number()?,
            help: match fields.read_optional_number::<usize>()? {
                Some(index) => Some(rules.get(index)?.clone()),
                None => None,
            },
        },
    })
}

/// Decodes `path,line,end_line`.
fn decode_location(field: &str, paths: &[String]) -> Option<CodeLocation> {
    let mut parts = field.split(',');
    let path = paths.get(parts.next()?.parse::<usize>().ok()?)?.clone();
    Some(CodeLocation { path, line: parts.next()?.parse().ok()?, end_line: parts.next()?.parse().ok()? })
}

/// Strings that entries refer to by index.
struct StringTable<'a>(Vec<&'a str>);

impl<'a> StringTable<'a> {
    fn from_names(names: impl Iterator<Item = &'a str>) -> Self {
        let mut names: Vec<_> = names.collect();
        names.sort_unstable();
        names.dedup();
        Self(names)
    }

    fn iter(&self) -> impl Iterator<Item = &'a str> {
        self.0.iter().copied()
    }

    /// Returns the index of a name, which must be in the table.
    fn index_of(&self, name: &str) -> usize {
        self.0.binary_search(&name).unwrap_or_default()
    }
}
