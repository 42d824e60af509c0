//! Block ⇄ fields, and what goes when there is no room.
//!
//! | goes | order |
//! |---|---|
//! | pre-existing: the Mark still counts them | last first |
//! | fixed | oldest first |
//! | refuted | oldest first |
//! | accepted | oldest first |
//! | open with a thread: the thread's Tag still tells of it | oldest first |
//! | the titles of the others, down to 40, 20, no characters | all at once |
//! | open without a thread: no text could hold them | mildest first, newest first |
//!
//! The last row is for some two hundred findings without a thread and more. What went is counted in `evicted`, but for
//! the first row.

use std::cmp::Reverse;

use super::data::{Block, Entry};
use super::field::{Fields, Writer, numbers, runs, runs_that_fit};
use super::fit::{fit, fit_fingerprint, fit_sha};
use super::tag::{read_severity, read_state, severity_letter, state_letter};
use crate::model::{FindingId, FindingState, Login, PreExisting, Sha, Time};
use crate::track::{Fingerprint, Spot};

/// The most a Block takes.
pub const BLOCK_BYTES: usize = 12_000;

/// The most findings outside the change that a Block lists.
pub const PRE_EXISTING_MAX: usize = 20;

/// Around the fields.
const FRAME_BYTES: usize = "<!-- referee:block v1  -->".len();
const TITLE_CHARS: usize = 80;
const SHORTER_TITLES: [usize; 3] = [40, 20, 0];
const PATH_BYTES: usize = 240;
const NAME_BYTES: usize = 64;
const ROUNDS_BYTES: usize = 60;

impl Block {
    /// What will be read back once this is sealed and sent: evicted by the table above, each value in its bounds.
    #[must_use]
    pub fn fitted(mut self) -> Self {
        for entry in &mut self.entries {
            entry.fit();
        }
        self.pre_existing.truncate(PRE_EXISTING_MAX);
        for it in &mut self.pre_existing {
            cut_chars(&mut it.title, TITLE_CHARS);
            fit(&mut it.path, PATH_BYTES);
        }
        let mut fits = self.fits();
        while !fits && self.pre_existing.pop().is_some() {
            fits = self.fits();
        }
        if fits {
            return self;
        }
        let expendable = |entry: &Entry| rank(entry) < UNTHREADED;
        let last_resort = |entry: &Entry| (entry.severity, Reverse(entry.id));
        self.evict(expendable, |entry| (rank(entry), entry.id));
        for chars in SHORTER_TITLES {
            if self.fits() {
                return self;
            }
            for entry in &mut self.entries {
                cut_chars(&mut entry.title, chars);
            }
        }
        if !self.fits() {
            self.evict(|_| true, last_resort);
        }
        self
    }

    fn fits(&self) -> bool {
        size(self) <= BLOCK_BYTES
    }

    /// Drops as few of the expendable entries as will do, in the order of `key`.
    fn evict<K: Ord>(&mut self, expendable: impl Fn(&Entry) -> bool, key: impl Fn(&Entry) -> K) {
        let mut order: Vec<usize> =
            (0..self.entries.len()).filter(|index| self.entries.get(*index).is_some_and(&expendable)).collect();
        order.sort_by_key(|index| self.entries.get(*index).map(&key));
        let without = |count: usize| {
            let mut gone: Vec<usize> = order.iter().copied().take(count).collect();
            gone.sort_unstable();
            let kept = self.entries.iter().enumerate().filter(|(index, _)| gone.binary_search(index).is_err());
            Self {
                entries: kept.map(|(_, entry)| entry.clone()).collect(),
                evicted: self.evicted.saturating_add(u32::try_from(count).unwrap_or(u32::MAX)),
                pre_existing: self.pre_existing.clone(),
            }
        };
        // The size falls with every entry that goes, so the fewest are found by halving.
        let (mut enough, mut too_few) = (order.len(), 0);
        while enough > too_few + 1 {
            let middle = too_few.midpoint(enough);
            if without(middle).fits() {
                enough = middle;
            } else {
                too_few = middle;
            }
        }
        *self = without(enough);
    }
}

const UNTHREADED: u8 = 4;

fn rank(entry: &Entry) -> u8 {
    match (entry.state, entry.threaded) {
        (FindingState::Fixed, _) => 0,
        (FindingState::Refuted, _) => 1,
        (FindingState::Accepted, _) => 2,
        (_, true) => 3,
        (_, false) => UNTHREADED,
    }
}

impl Entry {
    fn fit(&mut self) {
        cut_chars(&mut self.title, TITLE_CHARS);
        for path in [Some(&mut self.path), self.now.as_mut().map(|spot| &mut spot.path)].into_iter().flatten() {
            fit(path, PATH_BYTES);
        }
        if let Some(rule) = &mut self.rule {
            fit(rule, NAME_BYTES);
        }
        fit_fingerprint(&mut self.fingerprint);
        fit_sha(&mut self.head);
        let rounds: Vec<u64> = self.rounds.iter().copied().map(u64::from).collect();
        self.rounds.truncate(runs_that_fit(&rounds, ROUNDS_BYTES));
        if let Some(Login(by)) = &mut self.by {
            fit(by, NAME_BYTES);
        }
    }
}

fn cut_chars(text: &mut String, max: usize) {
    if text.chars().count() > max {
        *text = text.chars().take(max.saturating_sub(1)).collect();
        if max > 0 {
            text.push('…');
        }
    }
}

fn size(block: &Block) -> usize {
    encode_block(block).map_or(0, |payload| payload.len() + FRAME_BYTES)
}

/// The fields of a Block; `None` where there is nothing to remember.
///
/// `evicted;heads;paths;rules|entry|entry…|~;pre-existing…`: heads, paths and rules are written once, entries name them
/// by number.
pub(super) fn encode_block(block: &Block) -> Option<String> {
    let Block { entries, evicted, pre_existing } = block;
    if entries.is_empty() && *evicted == 0 && pre_existing.is_empty() {
        return None;
    }
    let heads = Names::of(entries.iter().map(|entry| entry.head.as_str()));
    let now = entries.iter().filter_map(|entry| entry.now.as_ref());
    let now = now.map(|spot| spot.path.as_str()).chain(pre_existing.iter().map(|it| it.path.as_str()));
    let paths = Names::of(entries.iter().map(|entry| entry.path.as_str()).chain(now));
    let rules = Names::of(entries.iter().filter_map(|entry| entry.rule.as_deref()));
    let mut out = Writer::default();
    out.number(evicted).list(heads.list()).list(paths.list()).list(rules.list());
    for entry in entries {
        let Entry {
            id,
            severity,
            state,
            title,
            path,
            line,
            now,
            rule,
            fingerprint,
            head,
            rounds,
            threaded,
            by,
            reopened,
        } = entry;
        out.part()
            .number(id.0)
            .raw(&format!(
                "{}{}{}",
                severity_letter(*severity),
                state_letter(*state),
                if *threaded { 't' } else { 'n' }
            ))
            .text(title)
            .number(paths.number(path))
            .maybe_number(*line)
            .maybe_number(
                now.as_ref().map(|Spot { path, line, end_line }| format!("{},{line},{end_line}", paths.number(path))),
            )
            .maybe_number(rule.as_deref().map(|rule| rules.number(rule)))
            .text(&fingerprint.0)
            .number(heads.number(head.as_str()))
            .raw(&runs(rounds.iter().copied().map(u64::from)))
            .maybe_text(by.as_ref().map(Login::as_str))
            .maybe_number(reopened.map(|Time(at)| at));
    }
    for PreExisting { title, path, line } in pre_existing {
        out.part().raw(OUTSIDE).text(title).number(paths.number(path)).maybe_number(*line);
    }
    Some(out.finish())
}

/// What a part begins with that is no entry.
const OUTSIDE: &str = "~";

pub(super) fn decode_block(payload: &str) -> Option<Block> {
    let mut parts = payload.split('|');
    let mut fields = Fields::of(parts.next()?);
    let evicted = fields.number()?;
    let (heads, paths, rules) = (fields.list()?, fields.list()?, fields.list()?);
    let mut block = Block { evicted, ..Block::default() };
    for part in parts {
        let mut fields = Fields::of(part);
        if part.starts_with(OUTSIDE) {
            fields.raw()?;
            block.pre_existing.push(decode_pre_existing(&mut fields, &paths)?);
        } else {
            block.entries.push(decode_entry(&mut fields, &heads, &paths, &rules)?);
        }
    }
    Some(block)
}

fn decode_pre_existing(fields: &mut Fields<'_>, paths: &[String]) -> Option<PreExisting> {
    Some(PreExisting {
        title: fields.text()?,
        path: paths.get(fields.number::<usize>()?)?.clone(),
        line: fields.maybe_number()?,
    })
}

fn decode_entry(fields: &mut Fields<'_>, heads: &[String], paths: &[String], rules: &[String]) -> Option<Entry> {
    let id = FindingId(fields.number()?);
    let mut letters = fields.raw()?.chars();
    Some(Entry {
        id,
        severity: read_severity(letters.next()?)?,
        state: read_state(letters.next()?)?,
        threaded: match letters.next()? {
            't' => true,
            'n' => false,
            _ => return None,
        },
        title: fields.text()?,
        path: paths.get(fields.number::<usize>()?)?.clone(),
        line: fields.maybe_number()?,
        now: match fields.raw()? {
            "-" => None,
            field => Some(decode_spot(field, paths)?),
        },
        rule: match fields.maybe_number::<usize>()? {
            Some(number) => Some(rules.get(number)?.clone()),
            None => None,
        },
        fingerprint: Fingerprint(fields.text()?),
        head: Sha(heads.get(fields.number::<usize>()?)?.clone()),
        rounds: numbers(fields.raw()?)?.into_iter().map(|round| u32::try_from(round).ok()).collect::<Option<_>>()?,
        by: fields.maybe_text()?.map(Login),
        reopened: fields.maybe_number()?.map(Time),
    })
}

/// `path,line,end_line`
fn decode_spot(field: &str, paths: &[String]) -> Option<Spot> {
    let mut parts = field.split(',');
    let path = paths.get(parts.next()?.parse::<usize>().ok()?)?.clone();
    Some(Spot { path, line: parts.next()?.parse().ok()?, end_line: parts.next()?.parse().ok()? })
}

/// Names that are written once.
struct Names<'a>(Vec<&'a str>);

impl<'a> Names<'a> {
    fn of(names: impl Iterator<Item = &'a str>) -> Self {
        let mut names: Vec<_> = names.collect();
        names.sort_unstable();
        names.dedup();
        Self(names)
    }

    fn list(&self) -> impl Iterator<Item = &'a str> {
        self.0.iter().copied()
    }

    /// Where the name is in the list; it was built from all of them.
    fn number(&self, name: &str) -> usize {
        self.0.binary_search(&name).unwrap_or_default()
    }
}
