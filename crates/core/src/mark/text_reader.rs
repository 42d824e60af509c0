//! Parses texts of the forge: Marks, Tags and Blocks in texts of referee, commands and stances in texts of people.

use std::collections::BTreeMap;

use super::block_codec::decode_block;
use super::data::{Mark, Tag, TagKind, Topic, Trust, UnsealedMark};
use super::keys::{Binding, Keys, SealInput};
use super::limits::shorten_role;
use super::mark_codec::{decode_mark, placeholder_mark};
use super::tag_codec::{decode_tag, placeholder_tag};
use super::trailer::{HiddenComment, TextTrailer, ends_like_own_text, find_trailer};
use crate::hash::Hash;
use crate::model::{Author, BotText, Login, RoleName, Stance, Text, TextReading, Time};
use crate::say::{self, Ask, CommandPrefixes};

/// Parses the texts of one pull.
#[derive(Clone, Copy, Debug)]
pub struct TextReader<'a> {
    /// The pull that seals must be bound to.
    pub binding: &'a Binding,
    pub keys: &'a Keys,
    /// All accounts of referee. For dispatch also the users whose reviews count.
    pub own_logins: &'a [Login],
    /// The account of each role. Any account of referee may post for a role without one, or one that is not listed.
    pub role_logins: &'a BTreeMap<RoleName, Option<Login>>,
    /// The prefixes of commands.
    pub calls: CommandPrefixes<'a>,
}

/// When a text was written, and whether it was edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextHistory {
    pub written_at: Time,
    pub edited: bool,
}

impl TextReader<'_> {
    /// Parses a review's summary, a note or a comment, and stores the result in `text`. Leaves a text as it is if it has
    /// no body or was cut: the end of a text can change what it means (D43).
    ///
    /// | hidden comment of referee | result |
    /// |---|---|
    /// | none | parsed as a person's text, see below |
    /// | in a text of another account | `forged`, and parsed as a person's text |
    /// | before the trailer, or not at the start of a line | `forged` |
    /// | of a newer major version | `Newer`, with placeholder data |
    /// | cannot be decoded | `forged` |
    /// | of a role that belongs to another account | `forged` |
    /// | its Block is missing or different | `Broken`, `forged` |
    /// | its seal is invalid | `Broken`, `forged` |
    /// | otherwise | `Sealed`, `Adopted` or `Unsealed` |
    ///
    /// | in a person's text | parsed from |
    /// |---|---|
    /// | command | texts of people, not of referee's accounts or bots (LOOP-8, LOOP-12) |
    /// | stance | texts of people without a command (LOOP-12); an edited one accepts and claims nothing (D40) |
    /// | neither | a text that ends like one of referee's (D41) |
    /// | another bot's findings | texts without a trailer, and referee's fix plans and self-reviews |
    /// | fix plan, self-review | these, and texts that end in a Mark |
    pub fn read(&self, text: &mut Text, author: &Author, written: TextHistory) {
        let Some(body) = text.body.as_deref().filter(|_| !text.is_cut) else { return };
        let own = author.login.as_ref().filter(|login| self.own_logins.contains(login));
        let search = find_trailer(body);
        let mut reading = TextReading { forged: search.has_strays, ..TextReading::default() };
        match (own, search.trailer) {
            (Some(login), Some(trailer)) => self.open_trailer(&mut reading, trailer, login, written.written_at),
            (Some(_), None) => {}
            (None, trailer) => reading.forged |= trailer.is_some(),
        }
        if own.is_none() || (search.trailer.is_none() && !search.has_strays) {
            self.read_human_text(&mut reading, body, author, written);
        } else if search.trailer.is_none() || is_fix_plan_or_self_review(&reading) {
            reading.bot = say::parse_bot_text(body).map(Box::new);
        } else if search.trailer.is_some_and(|trailer| trailer.last.kind == "mark") {
            // No answer of a worker ends in a Mark, unless it repeats a stranger's copy of one: it stays an answer.
            reading.bot = say::parse_bot_text(body).and_then(keep_answers).map(Box::new);
        }
        text.reading = reading;
    }

    fn open_trailer(&self, reading: &mut TextReading, trailer: TextTrailer<'_>, author: &Login, at: Time) {
        let TextTrailer { last, block } = trailer;
        let Some(is_newer) = is_newer_version(last.version) else {
            reading.forged = true;
            return;
        };
        match (last.kind, is_newer) {
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
        let matches_hash =
            |block: &HiddenComment<'_>| block.version == last.version && Some(Hash::digest(block.content)) == hash;
        let valid_block = block.filter(matches_hash).and_then(|block| decode_block(block.content));
        let mut trust = self.verify_trust(&last, payload, seal, at);
        if valid_block.is_some() != hash.is_some() {
            trust = Trust::Broken;
        }
        // A Block without a hash in the Mark is forged.
        reading.forged |= trust == Trust::Broken || (hash.is_none() && block.is_some());
        reading.block = valid_block.filter(|_| trust != Trust::Broken).map(Box::new);
        reading.mark = Some(Box::new(UnsealedMark::<Mark> { data: mark, trust }));
    }

    fn open_tag(&self, reading: &mut TextReading, last: HiddenComment<'_>, author: &Login, at: Time) {
        let decoded =
            last.content.split_once(' ').and_then(|(payload, seal)| Some((decode_tag(payload)?, payload, seal)));
        let Some((mut tag, payload, seal)) = decoded.filter(|(tag, _, _)| match &tag.kind {
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

    fn verify_trust(&self, comment: &HiddenComment<'_>, payload: &str, seal: &str, at: Time) -> Trust {
        let input = SealInput { binding: self.binding, kind: comment.kind, version: comment.version, payload };
        self.keys.verify_seal(&input, seal, at)
    }

    fn may_speak_for(&self, role: &RoleName, author: &Login) -> bool {
        self.find_role(role).is_none_or(|(_, identity)| identity.as_ref().is_none_or(|identity| identity == author))
    }

    /// Finds a role by its name, or by the shortened form that a Mark stores.
    fn find_role(&self, role: &RoleName) -> Option<(&RoleName, &Option<Login>)> {
        let shortened = |name: &RoleName| {
            let mut name = name.clone();
            shorten_role(&mut name);
            name
        };
        self.role_logins
            .get_key_value(role)
            .or_else(|| self.role_logins.iter().find(|(name, _)| shortened(name) == *role))
    }

    fn restore_full_name(&self, role: &mut RoleName) {
        if let Some((name, _)) = self.find_role(role) {
            role.clone_from(name);
        }
    }

    fn read_human_text(&self, reading: &mut TextReading, body: &str, author: &Author, written: TextHistory) {
        reading.bot = say::parse_bot_text(body).map(Box::new);
        let is_own = author.login.as_ref().is_some_and(|login| self.own_logins.contains(login));
        if is_own || author.bot || ends_like_own_text(body) {
            return;
        }
        match say::parse_command(body, &self.calls) {
            // "@referee won't fix: …" is a reply, not a command.
            Some(ask)
                if !matches!(ask, Ask::Unknown { .. }) || say::parse_stance(body) != Stance::AcceptedWithReason =>
            {
                reading.ask = Some(Box::new(ask));
            }
            _ => {
                let (stance, edited) = (say::parse_stance(body), written.edited);
                let accepts = matches!(stance, Stance::Accepted | Stance::AcceptedWithReason);
                reading.stance = match stance {
                    Stance::Accepted | Stance::AcceptedWithReason | Stance::ClaimedFixed if edited => Stance::Silent,
                    stance => stance,
                };
                reading.unclear = (edited || !accepts) && say::mentions_acceptance(body);
            }
        }
    }
}

/// Returns `false` for `v1` and `v1.2`, `true` for `v2`, `None` for anything that is not a version.
fn is_newer_version(version: &str) -> Option<bool> {
    let major = version.strip_prefix('v')?;
    let major: u32 = major.split_once('.').map_or(major, |(major, _)| major).parse().ok()?;
    (major > 0).then_some(major > 1)
}

fn wrap_newer<T>(data: T) -> Option<Box<UnsealedMark<T>>> {
    Some(Box::new(UnsealedMark { data, trust: Trust::Newer }))
}

/// Returns the fix plan and the self-review of a text; `None` if it has neither.
fn keep_answers(text: BotText) -> Option<BotText> {
    let answers = BotText { sentinel: None, evaluated: None, findings: Vec::new(), ..text };
    (answers.self_review.is_some() || !answers.fix_plan.is_empty()).then_some(answers)
}

fn is_fix_plan_or_self_review(reading: &TextReading) -> bool {
    let tag = reading.tag.as_deref().and_then(UnsealedMark::trusted_data);
    tag.is_some_and(|tag| matches!(tag.kind, TagKind::Topic(Topic::FixPlan | Topic::SelfReview { .. })))
}
