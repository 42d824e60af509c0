//! The one place where texts are read: Marks, Tags and Blocks of own texts, commands and stances of people's.

use std::collections::BTreeMap;

use super::block::decode_block;
use super::codec::{decode_mark, unreadable_mark};
use super::data::{Mark, Opened, Tag, TagKind, Topic, Trust};
use super::fit::fit_role;
use super::keys::{Binding, Keys, Signed};
use super::tag::{decode_tag, unreadable_tag};
use super::trailer::{Found, Trailing, search};
use crate::hash::Hash;
use crate::model::{Author, Login, Reading, RoleName, Stance, Text, Time};
use crate::say::{self, Calls};

/// What it takes to read the texts of one pull.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    /// The pull.
    pub binding: &'a Binding,
    /// What seals are checked with.
    pub keys: &'a Keys,
    /// All own identities; for dispatch also the users whose reviews count.
    pub own: &'a [Login],
    /// Who speaks for each role; a role that is not here may be spoken for by any own identity.
    pub roles: &'a BTreeMap<RoleName, Login>,
    /// How people address referee.
    pub calls: Calls<'a>,
}

/// When a text was written, and whether it was changed since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// When.
    pub at: Time,
    /// Changed since.
    pub edited: bool,
}

impl Reader<'_> {
    /// Reads a review's summary, a note or a comment; a text whose words were not kept stays as it was read before.
    ///
    /// | our namespace in the text | read as |
    /// |---|---|
    /// | nowhere | what people say: below |
    /// | in a stranger's text | forged, and what people say |
    /// | before the last comment of ours, or within a line | forged |
    /// | of a newer major version | `Newer`, in place of data nobody can read |
    /// | unreadable | forged |
    /// | of a role that another identity speaks for | forged |
    /// | its Block is missing or another | `Broken`, forged |
    /// | its seal does not fit | `Broken`, forged |
    /// | else | `Sealed`, `Adopted` or `Unsealed` |
    ///
    /// | what people say | read from |
    /// |---|---|
    /// | command | unedited texts of people other than the own identities (LOOP-8, LOOP-12) |
    /// | stance | texts that are no command; a program never accepts (LOOP-12) |
    /// | the other bot's words | texts without own memory, own fix plans and self-reviews |
    pub fn read(&self, text: &mut Text, author: &Author, written: Written) {
        let Some(body) = text.body.as_deref() else { return };
        let own = author.login.as_ref().filter(|login| self.own.contains(login));
        let found = search(body);
        let mut reading = Reading { forged: found.strays, ..Reading::default() };
        match (own, found.trailing) {
            (Some(login), Some(trailing)) => self.open(&mut reading, trailing, login, written.at),
            (Some(_), None) => {}
            (None, trailing) => reading.forged |= trailing.is_some(),
        }
        if own.is_none() || (found.trailing.is_none() && !found.strays) {
            self.listen(&mut reading, body, author, written);
        } else if speaks_like_the_bot(&reading) {
            reading.bot = say::bot_text(body).map(Box::new);
        }
        text.reading = reading;
    }

    fn open(&self, reading: &mut Reading, trailing: Trailing<'_>, author: &Login, at: Time) {
        let Trailing { last, block } = trailing;
        let Some(newer) = is_newer(last.version) else {
            reading.forged = true;
            return;
        };
        match (last.kind, newer) {
            ("mark", true) => reading.mark = newer_data(unreadable_mark()),
            ("mark", false) => self.open_mark(reading, last, block, author, at),
            (_, true) => reading.tag = newer_data(unreadable_tag()),
            (_, false) => self.open_tag(reading, last, author, at),
        }
    }

    fn open_mark(&self, reading: &mut Reading, last: Found<'_>, block: Option<Found<'_>>, author: &Login, at: Time) {
        let Some((payload, seal)) = last.rest.split_once(' ') else {
            reading.forged = true;
            return;
        };
        let Some((mut mark, hash)) = decode_mark(payload).filter(|(mark, _)| self.may_speak(&mark.role, author)) else {
            reading.forged = true;
            return;
        };
        self.name_in_full(&mut mark.role);
        let vouched = |block: &Found<'_>| block.version == last.version && Some(Hash::of(block.rest)) == hash;
        let remembered = block.filter(vouched).and_then(|block| decode_block(block.rest));
        let mut trust = self.trust(&last, payload, seal, at);
        if remembered.is_some() != hash.is_some() {
            trust = Trust::Broken;
        }
        // A Block that no Mark vouches for.
        reading.forged |= trust == Trust::Broken || (hash.is_none() && block.is_some());
        reading.block = remembered.filter(|_| trust != Trust::Broken).map(Box::new);
        reading.mark = Some(Box::new(Opened::<Mark> { data: mark, trust }));
    }

    fn open_tag(&self, reading: &mut Reading, last: Found<'_>, author: &Login, at: Time) {
        let read = last.rest.split_once(' ').and_then(|(payload, seal)| Some((decode_tag(payload)?, payload, seal)));
        let Some((mut tag, payload, seal)) = read.filter(|(tag, _, _)| match &tag.kind {
            TagKind::Root { role, .. } => self.may_speak(role, author),
            TagKind::Reply { .. } | TagKind::Topic(_) => true,
        }) else {
            reading.forged = true;
            return;
        };
        if let TagKind::Root { role, .. } = &mut tag.kind {
            self.name_in_full(role);
        }
        let trust = self.trust(&last, payload, seal, at);
        reading.forged |= trust == Trust::Broken;
        reading.tag = Some(Box::new(Opened::<Tag> { data: tag, trust }));
    }

    fn trust(&self, found: &Found<'_>, payload: &str, seal: &str, at: Time) -> Trust {
        let signed = Signed { binding: self.binding, kind: found.kind, version: found.version, payload };
        self.keys.check(&signed, seal, at)
    }

    fn may_speak(&self, role: &RoleName, author: &Login) -> bool {
        self.known(role).is_none_or(|(_, identity)| identity == author)
    }

    /// A role by its name, or by the short form that a Mark keeps of a long one.
    fn known(&self, role: &RoleName) -> Option<(&RoleName, &Login)> {
        let short = |name: &RoleName| {
            let mut name = name.clone();
            fit_role(&mut name);
            name
        };
        self.roles.get_key_value(role).or_else(|| self.roles.iter().find(|(name, _)| short(name) == *role))
    }

    fn name_in_full(&self, role: &mut RoleName) {
        if let Some((name, _)) = self.known(role) {
            role.clone_from(name);
        }
    }

    fn listen(&self, reading: &mut Reading, body: &str, author: &Author, written: Written) {
        let is_own = author.login.as_ref().is_some_and(|login| self.own.contains(login));
        match say::ask(body, &self.calls) {
            // An edited command is no command, and no stance either.
            Some(ask) => reading.ask = (!written.edited && !is_own && !author.bot).then(|| Box::new(ask)),
            None => {
                reading.stance = match say::stance(body) {
                    Stance::Accepted if author.bot => Stance::Silent,
                    stance => stance,
                };
            }
        }
        reading.bot = say::bot_text(body).map(Box::new);
    }
}

/// `v1`, `v1.2`: ours. `v2`: newer. `None`: no version at all.
fn is_newer(version: &str) -> Option<bool> {
    let major = version.strip_prefix('v')?;
    let major: u32 = major.split_once('.').map_or(major, |(major, _)| major).parse().ok()?;
    (major > 0).then_some(major > 1)
}

fn newer_data<T>(data: T) -> Option<Box<Opened<T>>> {
    Some(Box::new(Opened { data, trust: Trust::Newer }))
}

fn speaks_like_the_bot(reading: &Reading) -> bool {
    let believed = reading.tag.as_deref().and_then(Opened::believed);
    believed.is_some_and(|tag| matches!(tag.kind, TagKind::Topic(Topic::FixPlan | Topic::SelfReview { .. })))
}
