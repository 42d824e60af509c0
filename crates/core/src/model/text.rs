//! A text on the forge, and what referee read in it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Sha, Stance};
use crate::hash::Hash;
use crate::mark::{Block, Mark, Tag, UnsealedMark};
use crate::say::Ask;

/// A text on the forge. Deciding needs the reading, never the body: a journal without texts still replays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Text {
    /// The words, where they are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The hash of the normalised words, the hidden part left out (D28).
    pub hash: Hash,
    /// How long they are.
    pub bytes: usize,
    /// What was read in them.
    #[serde(default)]
    pub reading: TextReading,
}

/// What was read in a text: filled once, by gather, by the rules of `mark` and `say`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TextReading {
    /// The Mark of an own summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<Box<UnsealedMark<Mark>>>,
    /// The findings kept in an own summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<Box<Block>>,
    /// The Tag of any other own text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<Box<UnsealedMark<Tag>>>,
    /// What a person's first line commands (LOOP-12).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask: Option<Box<Ask>>,
    /// What a person's reply means.
    #[serde(default)]
    pub stance: Stance,
    /// What another review bot, or the dispatch user, says in the source's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bot: Option<Box<BotText>>,
    /// Something in it looks like a Mark or Tag and does not count: copied, edited, forged or from a stranger.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forged: bool,
}

/// What the texts of the dispatch source's own bot say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BotText {
    /// `<!-- review-bot:NAME -->`.
    pub sentinel: Option<String>,
    /// `Evaluated against <short sha>`.
    pub evaluated: Option<String>,
    /// Numbers of the findings table's rows.
    pub findings: Vec<u32>,
    /// `Self-review against <sha>`.
    pub self_review: Option<Sha>,
    /// `Assessment: ✅ Clean`; `None` where no assessment can be read.
    pub clean: Option<bool>,
    /// What a fix plan names: a sha, or a prefix of at least seven characters. Words that may be one stand before it.
    pub fix_plan: Vec<String>,
    /// `Finding #N` in it.
    pub answers: Vec<u32>,
    /// `F4` in it.
    pub answers_own: Vec<super::FindingId>,
}

impl Text {
    /// A text that nobody has read yet, as an adapter hands it in.
    pub fn from_body(body: impl Into<String>) -> Self {
        let body = body.into();
        Self {
            hash: Hash::digest_visible_text(&body),
            bytes: body.len(),
            body: Some(body),
            reading: TextReading::default(),
        }
    }

    /// The words, or nothing where they were not kept.
    pub fn body_or_empty(&self) -> &str {
        self.body.as_deref().unwrap_or_default()
    }

    /// The Mark, if it is to be believed.
    pub fn trusted_mark(&self) -> Option<&Mark> {
        self.reading.mark.as_deref().and_then(UnsealedMark::trusted_data)
    }

    /// The Tag, if it is to be believed.
    pub fn trusted_tag(&self) -> Option<&Tag> {
        self.reading.tag.as_deref().and_then(UnsealedMark::trusted_data)
    }

    /// The command in it.
    pub fn ask(&self) -> Option<&Ask> {
        self.reading.ask.as_deref()
    }

    /// The other bot's words in it.
    pub fn bot_text(&self) -> Option<&BotText> {
        self.reading.bot.as_deref()
    }
}
