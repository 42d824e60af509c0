//! What people and reviewers write, in the lengths they write it: a few sentences, code in between, now and then a
//! list, a link or a suggestion.

use crate::random::Random;

const TITLES: [&str; 8] = [
    "`retry` gives up after the first timeout",
    "Error of `open` is dropped, and the caller sees an empty list",
    "Token is compared in variable time",
    "Lock is held across the call to the network",
    "Off by one: the last row of a full page is never read",
    "User input reaches the query without a parameter",
    "Allocation in the inner loop for every line of the file",
    "Name says `count`, value is an index",
];

const SENTENCES: [&str; 12] = [
    "When the first attempt times out, `attempts` is set to 0 and the loop ends, although two more were asked for.",
    "The `?` in the closure returns from the closure, not from the function, so the error never reaches the caller.",
    "This holds for every request with more than 50 items; the test uses 3, so it does not see it.",
    "`Vec::contains` walks the list for each row: with 10,000 rows that is 50 million comparisons.",
    "See [the manual](https://docs.example.org/errors#retry) for what the header means, and #412 for an earlier report.",
    "Both calls take the same lock; the second one waits for the first one, which never ends.",
    "A caller that passes `None` gets the default of the old version, not the one in the table above.",
    "It was right before this change: the guard was in `parse`, and moved to `load` without its condition.",
    "@alice mentioned the same thing last week, for the importer.",
    "On Windows the path has a backslash there, and the comparison with `\"src/\"` fails.",
    "Please keep the old behaviour for `--quiet`, or say in the changelog that it is gone.",
    "The value is trusted here, but it comes from the pull's description: <b>anybody</b> can write it.",
];

const REPLIES: [&str; 8] = [
    "Let me look at it tonight, the importer has the same pattern and I would rather change both at once.",
    "Good point, thanks. I had the table in mind when I wrote it, not the list.",
    "What do you think of a separate function for that? Then the test can call it without the server.",
    "We talked about it in the meeting, and Carol wants to see the numbers first.",
    "The log says:\n\n```\nWARN importer: 3 of 50 rows skipped\n```\n\nso it happens in production too, about once a day.",
    "Same in `src/module_3.rs`, by the way.",
    "I can reproduce it with `cargo test -- --nocapture importer` on my machine, but not in CI.",
    "Could you add a test for the empty page as well?",
];

pub(crate) fn title(random: &mut Random, number: usize) -> String {
    format!("{} (case {number})", random.pick(&TITLES))
}

/// Two to five sentences, every third body with a list.
pub(crate) fn body(random: &mut Random) -> String {
    let list = random.chance(33);
    let count = random.between(2, 5);
    let sentences: Vec<&str> = (0..count).map(|_| *random.pick(&SENTENCES)).collect();
    if list { format!("It goes wrong in these cases:\n\n- {}", sentences.join("\n- ")) } else { sentences.join(" ") }
}

/// Every fourth finding has one.
pub(crate) fn suggestion(random: &mut Random) -> Option<String> {
    let lines = "    let rows = page.rows().take(limit)?;\n    for row in &rows {\n        self.keep(row)?;\n    }\n";
    random.chance(25).then(|| lines.to_owned())
}

pub(crate) fn reply(random: &mut Random) -> String {
    (0..random.between(1, 2)).map(|_| *random.pick(&REPLIES)).collect::<Vec<_>>().join(" ")
}
