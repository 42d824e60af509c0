//! What no package carries: tokens and keys of published shapes out of random characters, and characters by number.

use regex::{Captures, Regex};

use crate::random::Random;

const DIGITS: &str = "0123456789";
const HEX: &str = "0123456789abcdef";
const BASE32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const ALPHA: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const ALNUM: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const BASE64: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/";

/// The text with each `{{kind:what}}` replaced.
pub(crate) fn made_up(text: &str, random: &mut Random) -> String {
    let slot = Regex::new(r"\{\{(digits|hex|base32|alpha|alnum|base64|char|seven|word):([^}\n]+)\}\}").expect("a slot");
    slot.replace_all(text, |slot: &Captures<'_>| {
        let (kind, what) = (&slot[1], &slot[2]);
        let mut some = |from: &str| characters(from, what.parse().expect("a count"), random);
        match kind {
            "digits" => some(DIGITS),
            "hex" => some(HEX),
            "base32" => some(BASE32),
            "alpha" => some(ALPHA),
            "alnum" => some(ALNUM),
            "base64" => armoured(&some(BASE64)),
            "char" => u32::from_str_radix(what, 16).ok().and_then(char::from_u32).expect("a character").to_string(),
            "seven" => what.repeat(7),
            _ => what.to_owned(),
        }
    })
    .into_owned()
}

fn characters(from: &str, count: usize, random: &mut Random) -> String {
    let from: Vec<char> = from.chars().collect();
    (0..count).map(|_| *random.pick(&from)).collect()
}

/// In lines of 64, as armour has them.
fn armoured(text: &str) -> String {
    let lines: Vec<&str> = (0..text.len()).step_by(64).map(|at| &text[at..text.len().min(at + 64)]).collect();
    lines.join("\n")
}
