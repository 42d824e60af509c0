//! A generated large change.

use referee_core::track::CodeLocation;

use crate::random::Random;
use crate::repo::Files;

const SEED: u64 = 3_000_150_000;

/// The lines of a file, and how many of them are edited. Each edit counts twice, as a removed and an added line.
const LENGTH: usize = 200;
const EDITED: usize = 25;

pub(crate) struct Change {
    pub(crate) old: Files,
    pub(crate) new: Files,
    /// The number of removed and added lines.
    pub(crate) lines: usize,
    pub(crate) findings: Vec<CodeLocation>,
}

impl Change {
    /// Generates `files` files with five edits each. Every twentieth is renamed too, every tenth has a block moved within it,
    /// and every fiftieth has a block moved to its neighbour.
    pub(crate) fn new(files: usize, findings: usize) -> Self {
        let mut random = Random::new(SEED);
        let mut change = Change::findings_only(files, findings);
        let mut displaced: Vec<String> = Vec::new();
        for number in 0..files {
            let mut lines: Vec<String> = (0..LENGTH).map(|_| code(number, &mut random)).collect();
            change.old.insert(path(number), lines.concat());
            for edit in 0..5 {
                let start = edit * LENGTH / 5 + random.below(LENGTH / 5 - EDITED / 5);
                for line in &mut lines[start..start + EDITED / 5] {
                    *line = code(number, &mut random);
                }
            }
            change.lines += 2 * EDITED;
            if number % 10 == 3 {
                let block: Vec<String> = lines.drain(20..32).collect();
                lines.splice(120..120, block);
            }
            lines.append(&mut displaced);
            if number % 50 == 7 && number + 1 < files {
                displaced = lines.drain(60..72).collect();
            }
            let new_path = if number % 20 == 5 { path(number).replace("src/", "src/moved/") } else { path(number) };
            change.new.insert(new_path, lines.concat());
        }
        change
    }

    /// Generates the same findings without the texts.
    pub(crate) fn findings_only(files: usize, findings: usize) -> Self {
        let mut random = Random::new(SEED + 1);
        let mut findings: Vec<CodeLocation> = (0..findings)
            .map(|_| {
                let line = random.between(1, LENGTH) as u32;
                CodeLocation::new(&path(random.below(files)), line, line + random.below(3) as u32)
            })
            .collect();
        random.shuffle(&mut findings);
        Change { old: Files::new(), new: Files::new(), lines: 0, findings }
    }
}

fn path(number: usize) -> String {
    format!("src/part_{}/module_{}/file_{number}.rs", number % 12, number % 60)
}

/// Generates a line of code; a fifth of them are lines that occur in every file.
fn code(file: usize, random: &mut Random) -> String {
    const COMMON: &[&str] =
        &["    }\n", "\n", "        return None;\n", "    } else {\n", "        let mut out = Vec::new();\n"];
    if random.chance(20) {
        return (*random.pick(COMMON)).to_owned();
    }
    let name = random.below(100_000);
    format!("        let value_{name} = self.part_{}.compute(file_{file}, {});\n", random.below(40), random.below(1000))
}
