//! Texts on the forge and what referee parsed from them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Sha, Stance};
use crate::hash::Hash;
use crate::mark::{Block, Mark, Tag, Trust, UnsealedMark};
use crate::say::Ask;

/// Longer texts of a hosted forge are read up to this length (D43). Own texts and what people type are far shorter.
pub const MAX_READ_TEXT_BYTES: usize = 128 << 10;

/// A text on the forge. Decisions use the parsed `reading`, never the body, so a journal without texts can be replayed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Text {
    /// The text itself. `None` if texts are not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Hash of the normalised visible text (D28).
    pub hash: Hash,
    /// Length of the text, as far as it was read.
    pub bytes: usize,
    /// It is longer than [`MAX_READ_TEXT_BYTES`] and was read up to there. Nothing is parsed from it (D43).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
    /// What was parsed from it.
    #[serde(default)]
    pub reading: TextReading,
}

/// What was parsed from a text. `gather` fills it once, with `mark` and `say`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TextReading {
    /// The Mark in a summary of referee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<Box<UnsealedMark<Mark>>>,
    /// The Block in a summary of referee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<Box<Block>>,
    /// The Tag in any other text of referee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<Box<UnsealedMark<Tag>>>,
    /// The command in a person's first line (LOOP-12). It does not count if the text was edited (D40).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask: Option<Box<Ask>>,
    /// The meaning of a person's reply.
    #[serde(default)]
    pub stance: Stance,
    /// Whether it contains an acceptance that does not count: not at its start, voided by a demand, or in an edited
    /// text (D39, D40).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unclear: bool,
    /// The structured content of another review bot's or the dispatch user's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bot: Option<Box<BotText>>,
    /// Whether it contains an invalid Mark or Tag: copied, edited, forged or from another account.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forged: bool,
}

/// The structured content of a text of the dispatch source's bot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BotText {
    /// NAME in `<!-- review-bot:NAME -->`.
    pub sentinel: Option<String>,
    /// The abbreviated commit in `Evaluated against <short sha>`.
    pub evaluated: Option<String>,
    /// Row numbers of the table of findings.
    pub findings: Vec<u32>,
    /// The commit in `Self-review against <sha>`.
    pub self_review: Option<Sha>,
    /// Whether the assessment is `✅ Clean`. `None` if there is none.
    pub clean: Option<bool>,
    /// Candidates for the commit of a fix plan: a full id, or a prefix of at least seven characters, in order of
    /// appearance.
    pub fix_plan: Vec<String>,
    /// The numbers in `Finding #N`.
    pub answers: Vec<u32>,
    /// The ids of referee's findings, such as `F4`.
    pub answers_own: Vec<super::FindingId>,
}

impl Text {
    /// Creates a text with an empty reading, as adapters do.
    pub fn from_body(body: impl Into<String>) -> Self {
        let body = body.into();
        Self {
            hash: Hash::digest_visible_text(&body),
            bytes: body.len(),
            is_cut: false,
            body: Some(body),
            reading: TextReading::default(),
        }
    }

    /// Creates a text that anybody may have written: read up to [`MAX_READ_TEXT_BYTES`].
    pub fn from_untrusted_body(body: &str) -> Self {
        let kept = &body[..body.floor_char_boundary(MAX_READ_TEXT_BYTES)];
        Self { is_cut: kept.len() < body.len(), ..Self::from_body(kept) }
    }

    /// Returns the text, or an empty string if it is not stored.
    pub fn body_or_empty(&self) -> &str {
        self.body.as_deref().unwrap_or_default()
    }

    /// Returns the Mark if its seal is trusted.
    pub fn trusted_mark(&self) -> Option<&Mark> {
        self.reading.mark.as_deref().and_then(UnsealedMark::trusted_data)
    }

    /// Returns whether its Mark was lost, and the one here was recovered from what is left.
    pub fn has_recovered_mark(&self) -> bool {
        self.reading.mark.as_deref().is_some_and(|mark| mark.trust == Trust::Recovered)
    }

    /// Returns the Tag if its seal is trusted.
    pub fn trusted_tag(&self) -> Option<&Tag> {
        self.reading.tag.as_deref().and_then(UnsealedMark::trusted_data)
    }

    pub fn ask(&self) -> Option<&Ask> {
        self.reading.ask.as_deref()
    }

    pub fn bot_text(&self) -> Option<&BotText> {
        self.reading.bot.as_deref()
    }
}
