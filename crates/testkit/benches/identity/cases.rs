//! Pulls between two heads, made from real files, with the truth of which finding is which.

use std::collections::{BTreeMap, BTreeSet};

use referee_core::track::CodeLocation;

use crate::concerns::{CONCERNS, Concern};
use crate::random::Random;
use crate::reformat::{reformat, rustfmt};
use crate::repo::Files;
use crate::sheet::{Row, Sheet, find, fresh, noise, remarkable, sheet, text_of};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Moves,
    Renames,
    Reformatting,
    Rewording,
    Rebases,
    Duplicates,
}

pub(crate) const KINDS: &[(Kind, &str)] = &[
    (Kind::Moves, "moves"),
    (Kind::Renames, "renames"),
    (Kind::Reformatting, "reformatting"),
    (Kind::Rewording, "rewording"),
    (Kind::Rebases, "rebases"),
    (Kind::Duplicates, "duplicated code"),
];

/// A finding as a reviewer hands it in.
#[derive(Clone)]
pub(crate) struct Said {
    pub(crate) spot: CodeLocation,
    pub(crate) title: &'static str,
    pub(crate) rule: Option<&'static str>,
}

pub(crate) struct Case {
    pub(crate) old: Files,
    pub(crate) new: Files,
    pub(crate) priors: Vec<Said>,
    /// What is raised at the new head, which prior it is, and whether the case is about it.
    pub(crate) raised: Vec<(Said, Option<usize>, bool)>,
}

/// A source file to make cases of.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The rows of a block that stands twice in the old text are numbered from here.
const TWIN: usize = 2_000_000;

/// Rows with a finding on them.
struct Anchor {
    origins: Vec<usize>,
    concern: &'static Concern,
    /// Whether the case is about this one.
    concerned: bool,
    /// Whether it is raised again at the new head.
    again: bool,
    /// Whether another one lies on the same rows.
    shares: bool,
}

pub(crate) fn case(kind: Kind, sources: &[Source], random: &mut Random) -> Case {
    let (main, side) = (random.pick(sources), random.pick(sources));
    let donor = sheet(&random.pick(sources).text, 0);
    let main_path = format!("src/{}", main.path);
    let side_path = format!("other/{}", side.path);
    let mut old = BTreeMap::from([(main_path.clone(), sheet(&main.text, 0))]);
    let first_free = 1_000_000;
    old.insert(side_path.clone(), sheet(&side.text, first_free));
    let mut desk = Desk { old, new: BTreeMap::new(), anchors: Vec::new(), extra: Vec::new(), donor };
    match kind {
        Kind::Moves => desk.moves(&main_path, &side_path, random),
        Kind::Renames => desk.renames(&main_path, random),
        Kind::Reformatting => desk.reformats(&main_path, random),
        Kind::Rewording => desk.stays(&main_path, 6, random),
        Kind::Rebases => desk.stays(&main_path, 40, random),
        Kind::Duplicates => desk.duplicates(&main_path, &side_path, random),
    }
    desk.finish(kind, random)
}

/// A case in the making.
struct Desk {
    old: BTreeMap<String, Sheet>,
    new: BTreeMap<String, Sheet>,
    anchors: Vec<Anchor>,
    /// Rows of the new head that get a finding of their own, with the concern of that anchor.
    extra: Vec<(String, usize, usize)>,
    donor: Sheet,
}

impl Desk {
    fn moves(&mut self, main: &str, side: &str, random: &mut Random) {
        let length = self.old[main].len();
        let size = random.between(8, 40).min(length / 3).max(4);
        let start = random.below(length - size);
        self.anchor(main, start..start + size, 4, true, random);
        self.anchor(main, 0..length, 2, false, random);
        self.new = self.old.clone();
        let target = random.below(4);
        let source = self.new.get_mut(main).expect("the file");
        let mut block: Sheet = source.drain(start..start + size).collect();
        if random.chance(30) {
            block.iter_mut().filter(|row| !row.text.trim().is_empty()).for_each(|row| row.text.insert_str(0, "    "));
        }
        match target {
            0 | 1 => {
                // Far enough that it is a move, not a slide.
                let at = (start + random.between(size, length)) % (source.len() + 1);
                source.splice(at..at, block);
            }
            2 => {
                let other = self.new.get_mut(side).expect("the other file");
                let at = random.below(other.len() + 1);
                other.splice(at..at, block);
            }
            _ => {
                let mut created = fresh(&self.donor[..self.donor.len().min(12)]);
                created.extend(block);
                self.new.insert(format!("new/{main}"), created);
            }
        }
        self.noise(4, random);
    }

    fn renames(&mut self, main: &str, random: &mut Random) {
        let length = self.old[main].len();
        self.anchor(main, 0..length, 6, true, random);
        self.new = self.old.clone();
        let text = self.new.remove(main).expect("the file");
        let name = main.rsplit('/').next().unwrap_or(main);
        self.new.insert(format!("{}/{name}", random.pick(&["moved", "src/inner", "lib/v2"])), text);
        self.noise((length / 25).max(3), random);
    }

    fn reformats(&mut self, main: &str, random: &mut Random) {
        let length = self.old[main].len();
        self.anchor(main, 0..length, 6, true, random);
        self.new = self.old.clone();
        let wanted: Vec<usize> = self.anchors.iter().flat_map(|anchor| anchor.origins.clone()).collect();
        let text = self.new[main].clone();
        let really = if main.ends_with(".rs") && random.chance(50) { rustfmt(&text, &wanted, random) } else { None };
        let formatted = really.unwrap_or_else(|| reformat(&text, main, random));
        for anchor in &mut self.anchors {
            let before: Vec<&str> = rows_of(&text, &anchor.origins);
            anchor.concerned = before != rows_of(&formatted, &anchor.origins);
        }
        self.new.insert(main.to_owned(), formatted);
        self.noise(2, random);
    }

    fn stays(&mut self, main: &str, edits: usize, random: &mut Random) {
        let length = self.old[main].len();
        self.anchor(main, 0..length, 6, true, random);
        self.new = self.old.clone();
        self.noise(edits, random);
    }

    /// Four ways to have code twice: it was so and stays so; a copy comes; one of two goes; a copy comes and only it is
    /// remarked on.
    fn duplicates(&mut self, main: &str, side: &str, random: &mut Random) {
        let size = random.between(6, 25).min(self.old[main].len() / 3).max(4);
        let start = random.below(self.old[main].len() - size);
        let target = if random.chance(70) { main } else { side };
        let at = loop {
            let at = random.below(self.old[target].len() + 1);
            if target != main || at + 2 < start || at > start + size + 2 {
                break at;
            }
        };
        let way = random.below(4);
        let was_so = way == 0 || way == 2;
        let mut start = start;
        if was_so {
            let copy = self.old[main][start..start + size].iter().enumerate();
            let numbered: Sheet =
                copy.map(|(n, row)| Row { text: row.text.clone(), origins: vec![TWIN + n] }).collect();
            self.old.get_mut(target).expect("the file").splice(at..at, numbered);
            if target == main && at <= start {
                start += size;
            }
        }
        let block = self.old[main][start..start + size].to_vec();
        self.anchor(main, start..start + size, 3, true, random);
        let offset_of = |origin: &usize| block.iter().position(|row| row.origins == [*origin]);
        let offsets: Vec<Vec<usize>> =
            self.anchors.iter().map(|anchor| anchor.origins.iter().filter_map(offset_of).collect()).collect();
        if was_so {
            for (number, offsets) in offsets.iter().enumerate() {
                let origins = offsets.iter().map(|offset| TWIN + offset).collect();
                let Anchor { concern, shares, .. } = self.anchors[number];
                self.anchors.push(Anchor { origins, concern, concerned: true, again: true, shares });
            }
        }
        self.anchor(main, 0..self.old[main].len(), 2, false, random);
        self.new = self.old.clone();
        if way == 2 {
            let first_goes = random.chance(50);
            let is_gone =
                |origin: &usize| (*origin >= TWIN) != first_goes && (*origin >= TWIN || offset_of(origin).is_some());
            for sheet in self.new.values_mut() {
                sheet.retain(|row| !row.origins.iter().any(is_gone));
            }
        }
        self.noise(6, random);
        if !was_so {
            let sheet = self.new.get_mut(target).expect("the file");
            let known: BTreeSet<usize> = block.iter().flat_map(|row| row.origins.clone()).collect();
            let inside =
                |row: Option<&Row>| row.is_some_and(|row| row.origins.iter().any(|origin| known.contains(origin)));
            let at = loop {
                let at = random.below(sheet.len() + 1);
                if !inside(sheet.get(at)) && !inside(sheet.get(at.wrapping_sub(1))) {
                    break at;
                }
            };
            sheet.splice(at..at, fresh(&block));
            for (number, offsets) in offsets.iter().enumerate() {
                self.extra.extend(offsets.first().map(|offset| (target.to_owned(), at + offset, number)));
                self.anchors[number].again = way == 1;
            }
        }
    }

    /// Puts findings on rows of the old text, a quarter of them on several rows, some two on the same.
    fn anchor(&mut self, path: &str, rows: std::ops::Range<usize>, count: usize, concerned: bool, random: &mut Random) {
        let sheet = &self.old[path];
        let mut free: Vec<usize> = rows.filter(|row| remarkable(&sheet[*row])).collect();
        random.shuffle(&mut free);
        for row in free {
            let mine = self.anchors.iter().filter(|anchor| anchor.concerned == concerned).count();
            if mine >= count {
                break;
            }
            let span = if random.chance(25) { random.between(2, 4) } else { 1 };
            let origins: Vec<usize> =
                sheet[row..(row + span).min(sheet.len())].iter().flat_map(|row| row.origins.clone()).collect();
            if self.anchors.iter().any(|anchor| anchor.origins.iter().any(|origin| origins.contains(origin))) {
                continue;
            }
            let first = random.below(CONCERNS.len());
            let (again, shares) = (random.chance(85), random.chance(10));
            self.anchors.push(Anchor { origins: origins.clone(), concern: &CONCERNS[first], concerned, again, shares });
            if shares {
                let second = (first + random.between(1, CONCERNS.len() - 1)) % CONCERNS.len();
                self.anchors.push(Anchor { origins, concern: &CONCERNS[second], concerned, again: true, shares });
            }
        }
    }

    fn noise(&mut self, edits: usize, random: &mut Random) {
        let kept: BTreeSet<usize> = self.anchors.iter().flat_map(|anchor| anchor.origins.clone()).collect();
        for sheet in self.new.values_mut() {
            noise(sheet, &kept, &self.donor, edits, random);
        }
    }

    fn finish(self, kind: Kind, random: &mut Random) -> Case {
        // Half of the reviewers are linters: they name a rule and do not vary their words.
        let linter = kind != Kind::Rewording && random.chance(50);
        // Two remarks on one line, without rules and both in other words, are told apart by nothing at all; so those
        // that share a line have rules there.
        let ruled = |anchor: &Anchor| linter || (kind == Kind::Rewording && anchor.shares);
        let rule = |anchor: &Anchor| ruled(anchor).then_some(anchor.concern.rule);
        let mut priors = Vec::new();
        let mut raised = Vec::new();
        for anchor in &self.anchors {
            let Some(spot) = spot_in(&self.old, &anchor.origins) else { continue };
            priors.push(Said { spot, title: anchor.concern.title, rule: rule(anchor) });
            if anchor.again
                && let Some(spot) = spot_in(&self.new, &anchor.origins)
            {
                let title = match kind {
                    Kind::Rewording => anchor.concern.reworded,
                    _ if !linter && random.chance(50) => anchor.concern.close,
                    _ => anchor.concern.title,
                };
                raised.push((Said { spot, title, rule: rule(anchor) }, Some(priors.len() - 1), anchor.concerned));
            }
        }
        for (path, row, anchor) in &self.extra {
            let anchor = &self.anchors[*anchor];
            let spot = CodeLocation::new(path, *row as u32 + 1, *row as u32 + 1);
            raised.push((Said { spot, title: anchor.concern.title, rule: rule(anchor) }, None, true));
        }
        for _ in 0..2 {
            if let Some(said) = self.newcomer(linter, random) {
                raised.push((said, None, false));
            }
        }
        random.shuffle(&mut raised);
        let files = |sheets: &BTreeMap<String, Sheet>| {
            sheets.iter().map(|(path, rows)| (path.clone(), text_of(rows))).collect()
        };
        Case { old: files(&self.old), new: files(&self.new), priors, raised }
    }

    /// A finding that nobody had before, on a row without one; a third of them with a concern that is known in the pull.
    fn newcomer(&self, linter: bool, random: &mut Random) -> Option<Said> {
        let paths: Vec<&String> = self.new.keys().collect();
        let path = random.pick(&paths);
        let sheet = &self.new[*path];
        let known: BTreeSet<usize> = self.anchors.iter().flat_map(|anchor| anchor.origins.clone()).collect();
        let free = |row: &Row| remarkable(row) && !row.origins.iter().any(|origin| known.contains(origin));
        let rows: Vec<usize> = (0..sheet.len()).filter(|row| free(&sheet[*row])).collect();
        let row = *rows.get(random.below(rows.len()))? as u32 + 1;
        if self.extra.iter().any(|(extra, at, _)| extra == *path && *at as u32 + 1 == row) {
            return None;
        }
        let concern = match self.anchors.is_empty() || random.chance(67) {
            true => random.pick(CONCERNS),
            false => random.pick(&self.anchors).concern,
        };
        Some(Said {
            spot: CodeLocation::new(path, row, row),
            title: concern.title,
            rule: linter.then_some(concern.rule),
        })
    }
}

fn rows_of<'a>(sheet: &'a Sheet, origins: &[usize]) -> Vec<&'a str> {
    let holds = |row: &&Row| row.origins.iter().any(|origin| origins.contains(origin));
    sheet.iter().filter(holds).map(|row| row.text.as_str()).collect()
}

fn spot_in(sheets: &BTreeMap<String, Sheet>, origins: &[usize]) -> Option<CodeLocation> {
    sheets.iter().find_map(|(path, sheet)| {
        let (first, last) = find(sheet, origins)?;
        Some(CodeLocation::new(path, first, last))
    })
}
