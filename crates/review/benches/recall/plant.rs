//! Defects put into real files.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use regex::Captures;

use crate::corpus::{Package, Source};
use crate::made_up::made_up;
use crate::random::Random;
use crate::spellings::{Class, Show, Spelling};
use crate::syntax::Syntax;

/// How many a class gets.
pub(crate) const SHARE: usize = 5;

/// A defect in a file.
pub(crate) struct Plant {
    pub(crate) class: String,
    /// Its place in the list of the class, from 1.
    pub(crate) spelling: usize,
    pub(crate) language: String,
    pub(crate) path: String,
    /// The file before the change; none for one that the change adds.
    pub(crate) base: Option<String>,
    pub(crate) head: String,
    /// Where in the head the defect is.
    pub(crate) lines: RangeInclusive<u32>,
}

/// An equal share of plants for each class, no file taken twice, packages in turn.
pub(crate) fn plants(classes: &[Class], packages: &[Package], seed: u64) -> Vec<Plant> {
    let mut taken = BTreeSet::new();
    let mut plants = Vec::new();
    for (number, class) in classes.iter().enumerate() {
        let mut random = Random::new(seed + number as u64);
        let mut order: Vec<usize> = (0..class.spelling.len()).collect();
        random.shuffle(&mut order);
        let mut used = BTreeSet::new();
        let mut planted = 0;
        for (turn, spelling) in order.iter().copied().cycle().take(4 * SHARE).enumerate() {
            if planted == SHARE {
                break;
            }
            let garden = Garden { class, spelling, turn: number + turn, packages };
            if let Some(plant) = garden.plant(&mut used, &mut taken, &mut random) {
                plants.push(plant);
                planted += 1;
            }
        }
        assert_eq!(planted, SHARE, "{} finds no more places", class.id);
    }
    plants
}

struct Garden<'a> {
    class: &'a Class,
    spelling: usize,
    turn: usize,
    packages: &'a [Package],
}

impl Garden<'_> {
    /// The first place in a random order of packages; those that the class has used come last.
    fn plant(&self, used: &mut BTreeSet<String>, taken: &mut BTreeSet<String>, random: &mut Random) -> Option<Plant> {
        let spelling = &self.class.spelling[self.spelling];
        if let Some(file) = &spelling.file {
            let path = format!("{}/{file}", random.pick(self.packages).name);
            return taken.insert(path.clone()).then(|| self.added(path, made_up(&spelling.put, random)));
        }
        let place = spelling.place();
        for extension in spelling.extensions(&self.class.id, self.turn) {
            let mut packages: Vec<&Package> = self.packages.iter().collect();
            random.shuffle(&mut packages);
            packages.sort_by_key(|package| used.contains(&package.name));
            for package in packages {
                let mut files: Vec<&Source> = package.files.iter().filter(|it| it.extension == extension).collect();
                random.shuffle(&mut files);
                for file in files {
                    let path = format!("{}/{}", package.name, file.path);
                    if taken.contains(&path) {
                        continue;
                    }
                    let end = file.text.find("#[cfg(test)]").unwrap_or(file.text.len());
                    let mut places: Vec<Captures<'_>> = place.captures_iter(&file.text[..end]).collect();
                    random.shuffle(&mut places);
                    let mut tries = places.iter().take(4);
                    if let Some(plant) = tries.find_map(|place| self.planted(spelling, file, &path, place, random)) {
                        used.insert(package.name.clone());
                        taken.insert(path);
                        return Some(plant);
                    }
                }
            }
        }
        None
    }

    fn added(&self, path: String, head: String) -> Plant {
        let last = head.lines().count() as u32;
        let (class, spelling) = (self.class.id.clone(), self.spelling + 1);
        Plant { class, spelling, language: "text".to_owned(), path, base: None, head, lines: 1..=last }
    }

    fn planted(
        &self,
        spelling: &Spelling,
        file: &Source,
        path: &str,
        place: &Captures<'_>,
        random: &mut Random,
    ) -> Option<Plant> {
        let found = place.get(0)?;
        let (before, after) = (&file.text[..found.start()], &file.text[found.end()..]);
        if spelling.whole && stands_deeper(after, found.as_str()) || !reads_the_same(place) {
            return None;
        }
        let original = Syntax::of(file.extension, &file.text);
        let first = found.start() + found.as_str().len() - found.as_str().trim_start().len();
        if !original.is_whole() || original.inside(first) != spelling.inside {
            return None;
        }
        let mut put = String::new();
        place.expand(&spelling.put, &mut put);
        let put = made_up(&put, random);
        let head = format!("{before}{put}{after}");
        let is_text = self.class.id.starts_with("text/");
        if put == found.as_str() || !is_text && !Syntax::of(file.extension, &head).is_whole() {
            return None;
        }
        let (base, lines) = match spelling.show {
            Show::Edit => (file.text.clone(), differing(&file.text, &head)),
            Show::New => (format!("{before}{after}"), numbers(before, &put)),
        };
        let language = if is_text { "text" } else { file.extension }.to_owned();
        let (class, spelling) = (self.class.id.clone(), self.spelling + 1);
        Some(Plant { class, spelling, language, path: path.to_owned(), base: Some(base), head, lines })
    }
}

fn stands_deeper(after: &str, statement: &str) -> bool {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let next = after.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    depth(next) > depth(statement.lines().next().unwrap_or_default())
}

/// Where a place names the same thing twice, as `x` and `x2`: expressions without memory cannot say so.
fn reads_the_same(place: &Captures<'_>) -> bool {
    let text = |name: &str| place.name(name).map(|group| group.as_str());
    ["x2", "x3"].iter().all(|name| text(name).is_none_or(|again| text("x") == Some(again)))
}

/// The lines of `put` behind `before`.
fn numbers(before: &str, put: &str) -> RangeInclusive<u32> {
    let first = before.matches('\n').count() as u32 + 1;
    first..=first + put.lines().count() as u32 - 1
}

/// The lines of `head` that `base` has not; the lines on both sides of the gap where it only lost some.
fn differing(base: &str, head: &str) -> RangeInclusive<u32> {
    let (base, head): (Vec<&str>, Vec<&str>) = (base.lines().collect(), head.lines().collect());
    let before = base.iter().zip(&head).take_while(|(one, other)| one == other).count();
    let rest = base.len().min(head.len()) - before;
    let after = base.iter().rev().zip(head.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
    let (first, last) = (before as u32 + 1, (head.len() - after) as u32);
    if last < first { last.max(1)..=first } else { first..=last }
}

impl Plant {
    /// Whether a finding on these lines points at it.
    pub(crate) fn is_touched(&self, first: u32, last: u32) -> bool {
        first <= *self.lines.end() && last >= *self.lines.start()
    }

    /// For a reader's eye.
    pub(crate) fn excerpt(&self) -> String {
        let (first, last) = (*self.lines.start() as usize, *self.lines.end() as usize);
        let lines = self.head.lines().enumerate().skip(first.saturating_sub(3)).take(last - first + 5);
        let mark = |line: usize| if (first..=last).contains(&line) { '+' } else { ' ' };
        lines.map(|(index, text)| format!("{} {text}\n", mark(index + 1))).collect()
    }
}
