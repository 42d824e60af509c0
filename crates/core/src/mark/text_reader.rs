//! The one place where texts are read: Marks, Tags and Blocks of own texts, commands and stances of people's.

use std::collections::BTreeMap;

use super::block_codec::decode_block;
use super::data::{Mark, Tag, TagKind, Topic, Trust, UnsealedMark};
use super::keys::{Binding, Keys, SealInput};
use super::limits::shorten_role;
use super::mark_codec::{decode_mark, placeholder_mark};
use super::tag_codec::{decode_tag, placeholder_tag};
use super::trailer::{HiddenComment, TextTrailer, find_trailer};
use crate::hash::Hash;
use crate::model::{Author, Login, RoleName, Stance, Text, TextReading, Time};
use crate::say::{self, CommandPrefixes};

/// What it takes to read the texts of one pull.
#[derive(Clone, Copy, Debug)]
pub struct TextReader<'a> {
    /// The pull.
    pub binding: &'a Binding,
    /// What seals are checked with.
    pub keys: &'a Keys,
    /// All own identities; for dispatch also the users whose reviews count.
    pub own_logins: &'a [Login],
    /// Who speaks for each role; a role that is not here may be spoken for by any own identity.
    pub role_logins: &'a BTreeMap<RoleName, Login>,
    /// How people address referee.
    pub calls: CommandPrefixes<'a>,
}

/// When a text was written, and whether it was changed since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextHistory {
    /// When.
    pub written_at: Time,
    /// Changed since.
    pub edited: bool,
}

impl TextReader<'_> {
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
    pub fn read(&self, text: &mut Text, author: &Author, written: TextHistory) {
        let Some(body) = text.body.as_deref() else { return };
        let own = author.login.as_ref().filter(|login| self.own_logins.contains(login));
        let found = find_trailer(body);
        let mut reading = TextReading { forged: found.has_strays, ..TextReading::default() };
        match (own, found.trailer) {
            (Some(login), Some(trailing)) => self.open_trailer(&mut reading, trailing, login, written.written_at),
            (Some(_), None) => {}
            (None, trailing) => reading.forged |= trailing.is_some(),
        }
        if own.is_none() || (found.trailer.is_none() && !found.has_strays) {
            self.read_human_text(&mut reading, body, author, written);
        } else if is_fix_plan_or_self_review(&reading) {
            reading.bot = say::parse_bot_text(body).map(Box::new);
        }
        text.reading = reading;
    }

    fn open_trailer(&self, reading: &mut TextReading, trailing: TextTrailer<'_>, author: &Login, at: Time) {
        let TextTrailer { last, block } = trailing;
        let Some(newer) = is_newer_version(last.version) else {
            reading.forged = true;
            return;
        };
        match (last.kind, newer) {
            ("mark", true) => reading.mark = wrap_newer(placeholder_mark()),
            ("mark", false) => self.open_mark(reading, last, block, author, at),
            (_, true) => reading.tag = wrap_newer(placeholder_tag()),
            (_, false) => self.open_tag(reading, last, author, at),
        }
    }

    fn open_mark(
        &self,
        reading: &mut TextReading,
        last: HiddenComment<'_>,
        block: Option<HiddenComment<'_>>,
        author: &Login,
        at: Time,
    ) {
        let Some((payload, seal)) = last.content.split_once(' ') else {
            reading.forged = true;
            return;
        };
        let Some((mut mark, hash)) = decode_mark(payload).filter(|(mark, _)| self.may_speak_for(&mark.role, author))
        else {
            reading.forged = true;
            return;
        };
        self.restore_full_name(&mut mark.role);
        let vouched =
            |block: &HiddenComment<'_>| block.version == last.version && Some(Hash::digest(block.content)) == hash;
        let remembered = block.filter(vouched).and_then(|block| decode_block(block.content));
        let mut trust = self.verify_trust(&last, payload, seal, at);
        if remembered.is_some() != hash.is_some() {
            trust = Trust::Broken;
        }
        // A Block that no Mark vouches for.
        reading.forged |= trust == Trust::Broken || (hash.is_none() && block.is_some());
        reading.block = remembered.filter(|_| trust != Trust::Broken).map(Box::new);
        reading.mark = Some(Box::new(UnsealedMark::<Mark> { data: mark, trust }));
    }

    fn open_tag(&self, reading: &mut TextReading, last: HiddenComment<'_>, author: &Login, at: Time) {
        let read = last.content.split_once(' ').and_then(|(payload, seal)| Some((decode_tag(payload)?, payload, seal)));
        let Some((mut tag, payload, seal)) = read.filter(|(tag, _, _)| match &tag.kind {
            TagKind::Root { role, .. } => self.may_speak_for(role, author),
            TagKind::Reply { .. } | TagKind::Topic(_) => true,
        }) else {
            reading.forged = true;
            return;
        };
        if let TagKind::Root { role, .. } = &mut tag.kind {
            self.restore_full_name(role);
        }
        let trust = self.verify_trust(&last, payload, seal, at);
        reading.forged |= trust == Trust::Broken;
        reading.tag = Some(Box::new(UnsealedMark::<Tag> { data: tag, trust }));
    }

    fn verify_trust(&self, found: &HiddenComment<'_>, payload: &str, seal: &str, at: Time) -> Trust {
        let signed = SealInput { binding: self.binding, kind: found.kind, version: found.version, payload };
        self.keys.verify_seal(&signed, seal, at)
    }

    fn may_speak_for(&self, role: &RoleName, author: &Login) -> bool {
        self.find_role(role).is_none_or(|(_, identity)| identity == author)
    }

    /// A role by its name, or by the short form that a Mark keeps of a long one.
    fn find_role(&self, role: &RoleName) -> Option<(&RoleName, &Login)> {
        let short = |name: &RoleName| {
            let mut name = name.clone();
            shorten_role(&mut name);
            name
        };
        self.role_logins.get_key_value(role).or_else(|| self.role_logins.iter().find(|(name, _)| short(name) == *role))
    }

    fn restore_full_name(&self, role: &mut RoleName) {
        if let Some((name, _)) = self.find_role(role) {
            role.clone_from(name);
        }
    }

    fn read_human_text(&self, reading: &mut TextReading, body: &str, author: &Author, written: TextHistory) {
        let is_own = author.login.as_ref().is_some_and(|login| self.own_logins.contains(login));
        match say::parse_command(body, &self.calls) {
            // An edited command is no command, and no stance either.
            Some(ask) => reading.ask = (!written.edited && !is_own && !author.bot).then(|| Box::new(ask)),
            None => {
                reading.stance = match say::parse_stance(body) {
                    Stance::Accepted if author.bot => Stance::Silent,
                    stance => stance,
                };
            }
        }
        reading.bot = say::parse_bot_text(body).map(Box::new);
    }
}

/// `v1`, `v1.2`: ours. `v2`: newer. `None`: no version at all.
fn is_newer_version(version: &str) -> Option<bool> {
    let major = version.strip_prefix('v')?;
    let major: u32 = major.split_once('.').map_or(major, |(major, _)| major).parse().ok()?;
    (major > 0).then_some(major > 1)
}

fn wrap_newer<T>(data: T) -> Option<Box<UnsealedMark<T>>> {
    Some(Box::new(UnsealedMark { data, trust: Trust::Newer }))
}

fn is_fix_plan_or_self_review(reading: &TextReading) -> bool {
    let believed = reading.tag.as_deref().and_then(UnsealedMark::trusted_data);
    believed.is_some_and(|tag| matches!(tag.kind, TagKind::Topic(Topic::FixPlan | Topic::SelfReview { .. })))
}
