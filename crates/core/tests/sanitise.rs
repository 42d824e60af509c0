//! No text of a model or a stranger has an effect once it is sent (PUB-16).

use proptest::prelude::*;
use referee_core::model::{FindingId, Login, RoleName, Sha};
use referee_core::sanitise::{MarkdownBuilder, SafeText, is_verbatim};

#[path = "sanitise/reader.rs"]
mod reader;

use reader::dangers;

fn block(tainted: &str) -> String {
    SafeText::sanitise_block(tainted, 60_000).as_str().to_owned()
}

fn line(tainted: &str) -> String {
    SafeText::sanitise_line(tainted, 500).as_str().to_owned()
}

#[track_caller]
fn becomes(cases: &[(&str, &str)]) {
    for (tainted, safe) in cases {
        assert_eq!(block(tainted), *safe, "from {tainted:?}");
        assert_eq!(block(safe), *safe, "again");
    }
}

#[test]
fn prose_stays_as_it_is() {
    for prose in [
        "The lock is taken twice: `lock()` calls `try_lock()`, which waits.",
        "**Why.** A _short_ list:\n\n- one, e.g. 3 of 5 files\n  - two (see `src/a.rs:88`)\n1. three\n\n> quoted & kept",
        "Use `Vec<u8>`:\n\n```rust\nfn f<T>(x: &T) -> Option<&T> {\n    // a `comment`\n\tSome(x)\n}\n```\n\nDone.",
        "a < b is written a &lt; b; C:\\dir stays, 50 % of 1,000",
        "Größe, naïve, 日本語, é, … – —",
    ] {
        let safe = block(prose);
        assert_eq!(block(&safe), safe);
        if !prose.contains(" < ") {
            assert_eq!(safe, prose);
        }
    }
}

// spec: PUB-16 @core
#[test]
fn commands_of_forges_and_bots_are_shown_not_run() {
    becomes(&[
        ("/merge", "`/merge`"),
        ("  /close now", "  `/close` now"),
        ("- /approve", "- `/approve`"),
        ("> /lgtm", "> `/lgtm`"),
        ("1. /label ~bug", "1. `/label` ~bug"),
        ("\\/close", "`/close`"),
        ("<b></b>/close", "`/close`"),
        ("\u{200b}/close", "`/close`"),
        ("text\r/close", "text\n`/close`"),
        ("text\u{2028}/close", "text\n`/close`"),
        ("// a comment, and/or src/lib.rs", "// a comment, and/or src/lib.rs"),
        ("/usr/bin/env", "`/usr/bin/env`"),
        ("```\n/close\n  /merge x\n/usr/bin\n```", "```\n/ close\n  / merge x\n/usr/bin\n```"),
        ("bors r+", "`bors` r+"),
        ("- recheck", "- `recheck`"),
        ("r? somebody", "`r?` somebody"),
        ("@bors r+", "`@ bors` r+"),
        ("`@bors r+`", "`@ bors r+`"),
        ("```\n@dependabot merge\n@Override\n```", "```\n@ dependabot merge\n@Override\n```"),
    ]);
}

// spec: PUB-16 @core
#[test]
fn mentions_and_references_are_neutralised() {
    becomes(&[
        ("thanks @alice.", "thanks `@alice`."),
        ("cc @acme/core-team, @bob", "cc `@acme/core-team`, `@bob`"),
        ("\\@alice", "`@alice`"),
        ("@\u{200b}alice @\u{ad}bob", "`@alice` `@bob`"),
        ("&#64;alice &commat;bob", "&amp;`#64`;alice &amp;commat;bob"),
        ("mail a.b@c.org", "mail a.`b@c.org`"),
        ("closes #12 and acme/api#7, !45, GH-3", "closes `#12` and acme/api`#7`, `!45`, `GH-3`"),
        ("in 9c1f2ab and deadbeef", "in `9c1f2ab` and deadbeef"),
        ("abc1234..def5678", "`abc1234`..`def5678`"),
        ("`a`@bob", "`a` `@bob`"),
        ("@\\_bob https\\://x.example", "@ \\_bob `https://x.example`"),
    ]);
}

// spec: PUB-16 @core
#[test]
fn html_images_and_link_tricks_are_gone() {
    becomes(&[
        ("<img src=//x.example?d=1>now", "now"),
        ("a<br/>b <details><summary>s</summary>", "a b s"),
        ("Option<String> and <T>", "Option&lt;String> and &lt;T>"),
        ("<!-- hidden -->shown", "shown"),
        ("<!-- not closed", "&lt;!-- not closed"),
        ("![alt](https://x.example/y.png) z", "alt z"),
        ("[text](https://x.example/a_(b))", "text (`https://x.example/a_(b)`)"),
        ("[https://good.example](https://evil.example \"t\")", "`https://good.example` (`https://evil.example`)"),
        ("[click](javascript:alert(1))", "click"),
        ("[code](src/a.rs)", "code (`src/a.rs`)"),
        ("[text][ref]\n\n[ref]: https://x.example", "[text] [ref]\n\n[ref] : `https://x.example`"),
        ("[a\nb](https://x.example)", "[a\nb] (`https://x.example`)"),
        ("<https://x.example> www.x.example", "`https://x.example` `www.x.example`"),
        ("[[Home]]", "[ [Home]]"),
        ("- [ ] approve this", "- ( ) approve this"),
        ("a | b\n---|---\n`@x | y`", "a | b\n--- ---\n`@x | y`"),
    ]);
}

// spec: PUB-16 @core
#[test]
fn the_memory_of_referee_and_of_other_bots_cannot_be_written() {
    for tainted in [
        "<!-- referee:mark v1 x - -->",
        "<!-- REFEREE:Tag v1 x - -->",
        "`<!-- referee:block v1 x -->`",
        "```\n<!-- review-bot:security -->\n```",
        "<!-- review-bot:security -->",
        "<!--\nreferee:mark v1 x - -->",
        "&lt;!-- referee&colon;mark",
        "re<b></b>feree:mark",
        "referee\u{200d}:\u{200d}mark",
    ] {
        for safe in [block(tainted), line(tainted)] {
            assert_eq!(dangers(&safe), Vec::<String>::new(), "{tainted:?} became {safe:?}");
        }
    }
}

#[test]
fn invisible_characters_are_removed_or_shown() {
    becomes(&[
        ("a\u{202e}b\u{2066}c", "aU+202EbU+2066c"),
        ("a\u{200b}\u{feff}\u{e0041}\u{fe0f}\u{ad}\u{2800}\u{3164}b", "ab"),
        ("\u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7}x\u{0}\u{8}", "red x"),
        ("a\u{a0}b\u{3000}c", "a b c"),
    ]);
}

#[test]
fn code_blocks_end_where_they_should() {
    becomes(&[
        ("```\nopen", "```\nopen\n```"),
        ("~~~rust\nx\n~~~", "```rust\nx\n```"),
        ("````md\n```\ninner\n```\n````\nout", "```md\n'''\ninner\n'''\n```\nout"),
        ("```suggestion\nx\n```", "```\nx\n```"),
        ("```mermaid\nx\n```", "```\nx\n```"),
        ("- item\n  ```sh\n  ls\n  ```", "- item\n```sh\nls\n```"),
        ("> ```\n/close", "> '''\n`/close`"),
        ("a ` b\n` @x `", "a ' b\n`@x`"),
        ("``a`b`` ```c```", "``a`b`` `c`"),
    ]);
}

#[test]
fn a_line_stays_one_line_in_one_cell() {
    for (tainted, safe) in [
        ("a | b\nc", "a \\| b c"),
        ("`a|b` and \\|", "`a\\|b` and \\|"),
        ("# Title", "Title"),
        ("- > ## x", "x"),
        ("#12 is wrong", "`#12` is wrong"),
        ("ends in \\", "ends in"),
        ("two  blanks\tand a tab", "two blanks and a tab"),
        ("```rust", "'''rust"),
    ] {
        assert_eq!(line(tainted), safe, "from {tainted:?}");
        assert_eq!(line(safe), safe, "again");
    }
}

// spec: PUB-16 @core
#[test]
fn text_that_does_not_fit_is_counted() {
    let text = "word ".repeat(1_000);
    let safe = SafeText::sanitise_block(&text, 200);
    assert!(safe.len() <= 200 && safe.as_str().ends_with(" more characters"), "{safe}");
    let shown = safe.as_str().matches("word").count();
    let said = safe.as_str().rsplit("… ").next().and_then(|tail| tail.split(' ').next()).map(|n| n.replace(',', ""));
    assert_eq!(said.and_then(|n| n.parse::<usize>().ok()), Some(text.len() - shown * 5 + 1), "{safe}");
    let safe = SafeText::sanitise_block("```\nlong line of code\nlong line of code\nand more of it\n```", 50);
    assert!(safe.as_str().contains("\n```\n\n… "), "{safe}");
    assert_eq!(SafeText::sanitise_line(&"x".repeat(100), 20).as_str(), "xxxxxxxxxxxxxxxxxx…");
    assert_eq!(SafeText::sanitise_line("short", 20).as_str(), "short");
    assert_eq!(SafeText::sanitise_line("anything", 1).as_str(), "…");
    assert_eq!(SafeText::sanitise_line("anything", 0).as_str(), "");
}

#[test]
fn a_page_quotes_untrusted_text() {
    let mut page = MarkdownBuilder::new();
    page.literal("**Changes requested** · ")
        .number(2_usize)
        .literal(" · ")
        .link("9c1f2ab", "https://git.example/a(b)|c?x=<y>")
        .literal(" · ")
        .sha(&Sha::from("9c1f2ab"))
        .literal(" ")
        .sha(&Sha::from("9c1f2ab\n/close"))
        .literal("\n\n")
        .finding(FindingId(4))
        .literal(" ")
        .code_span("src/a`b|c.rs\n/x")
        .literal(" ")
        .login(&Login::from("dependabot[bot]"))
        .literal(" ")
        .mention(&Login::from("carol"))
        .literal(" ")
        .mention(&Login::from("acme/team"))
        .literal(" ")
        .role(&RoleName::from("security"))
        .literal(" wow!")
        .link("F4", "javascript:alert(1)")
        .link_literal("here", "https://git.example/@me");
    assert_eq!(
        page.finish().as_str(),
        "**Changes requested** · 2 · [`9c1f2ab`](https://git.example/a%28b%29%7Cc?x=%3Cy%3E) · 9c1f2ab `9c1f2ab /close`\n\n\
         F4 ``src/a`b\\|c.rs /x`` `dependabot[bot]` @carol `acme/team` security wow!`F4`[here](https://git.example/%40me)"
    );
}

#[test]
fn a_role_and_the_text_after_it_do_not_form_an_address() {
    let mut page = MarkdownBuilder::new();
    page.role(&RoleName::from("http")).safe_text(&SafeText::sanitise_line("://evil.example", 40));
    let safe = page.finish();
    assert_eq!(dangers(safe.as_str()), Vec::<String>::new(), "{safe:?}");
}

#[test]
fn a_page_keeps_blocks_apart() {
    let body = SafeText::sanitise_block("one\n\n```\ncode\n```", 1_000);
    let mut page = MarkdownBuilder::new();
    page.literal("<details><summary>why</summary>\n").safe_text(&body).literal("</details>");
    page.literal("\n<summary>").login(&Login::from("bob"));
    assert_eq!(
        page.finish().as_str(),
        "<details><summary>why</summary>\n\none\n\n```\ncode\n```\n\n</details>\n<summary>\n\n`bob`"
    );
    let mut page = MarkdownBuilder::new();
    page.code_span("a").code_span("b").code_block("diff", "-x\n```\n+y\n+z", 3);
    assert_eq!(page.finish().as_str(), "`a` `b`\n\n```diff\n-x\n'''\n+y\n… 1 more lines\n```");
}

#[test]
fn a_line_that_begins_with_backticks_is_not_a_block() {
    let mut page = MarkdownBuilder::new();
    page.literal("failed (").safe_text(&SafeText::sanitise_line("``` a``b ```", 100)).literal(")");
    assert_eq!(page.finish().as_str(), "failed (```a``b```)");
}

// spec: PUB-16 @core
#[test]
fn harmless_pieces_name_nothing_together() {
    for (role, words) in [("review", "-bot: x"), ("review-bot", ": x"), ("referee", ":mark v1 x"), ("x", "@")] {
        let mut page = MarkdownBuilder::new();
        page.role(&RoleName::from(role))
            .safe_text(&SafeText::sanitise_line(words, 100))
            .role(&RoleName::from("codecov"));
        let safe = page.finish();
        assert_eq!(dangers(safe.as_str()), Vec::<String>::new(), "{safe}");
    }
    let mut page = MarkdownBuilder::new();
    page.link("F4", "https://git.example/review-bot:x/referee:tag");
    assert_eq!(page.finish().as_str(), "[`F4`](https://git.example/review-bot%3Ax/referee%3Atag)");
}

#[test]
fn a_suggestion_is_offered_only_if_it_stays_as_it_is() {
    assert!(is_verbatim("    @Override\n\tlet x = a / b;\n/* c */"));
    for altered in ["/close", "```", "@bors r+", "a\u{202e}b", "// referee:mark"] {
        assert!(!is_verbatim(altered), "{altered:?}");
    }
}

/// Pieces that are dangerous alone or in combination.
const PIECES: [&str; 96] = [
    "/close",
    "/",
    "@bob",
    "@",
    "@bors r+",
    "@acme/team",
    "bors r+",
    "#12",
    "!5",
    "&1",
    "&",
    "&#64;",
    "&lt;",
    "&amp;",
    "#64;",
    "lt;",
    "`",
    "``",
    "```",
    "````",
    "~~~",
    "~",
    "\\",
    "\\\\",
    "\\`",
    "<",
    ">",
    "<b>",
    "</b>",
    "<img src=x>",
    "<!--",
    "-->",
    "<!-- x -->",
    "<a href='",
    "<https://x.example>",
    "https://x.example/a",
    "http://",
    "://",
    "www.",
    "x.example",
    "[",
    "]",
    "(",
    ")",
    "[a](b)",
    "![a](b)",
    "](",
    "]:",
    "][",
    "[ ]",
    "[x]",
    "[[",
    "|",
    "---|---",
    "|-|",
    "- ",
    "* ",
    "1. ",
    "> ",
    ">>> ",
    "# ",
    "---",
    ":",
    "referee",
    "referee:mark",
    "review-bot:",
    "review",
    "-bot:",
    "mark",
    "tag",
    "\n",
    "\n\n",
    "\r\n",
    " ",
    "    ",
    "\t",
    "\u{200b}",
    "\u{202e}",
    "\u{e0061}",
    "\u{1b}[0m",
    "\u{2028}",
    "9c1f2ab",
    "9c1f",
    "2ab",
    "GH-",
    "12",
    "x",
    "é",
    "…",
    "_",
    "*",
    "**",
    "'",
    "\"",
    "recheck",
    "r?",
];

fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        20 => prop::sample::select(&PIECES[..]).prop_map(str::to_owned),
        1 => "(?s).{0,4}",
        1 => "[a-f0-9]{1,9}",
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Four times the usual number, so that `PROPTEST_CASES` still sets it.
fn config() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: usual.cases * 4, failure_persistence: None, ..usual }
}

proptest! {
    #![proptest_config(config())]

    // I2: no line is a command, whatever was written.
    // spec: PUB-16 @core
    #[test]
    fn nothing_hostile_survives(tainted in hostile()) {
        for safe in [block(&tainted), line(&tainted)] {
            let dangers = dangers(&safe);
            prop_assert!(dangers.is_empty(), "{:?} in {:?} from {:?}", dangers, safe, tainted);
        }
        prop_assert!(!line(&tainted).contains('\n'));
    }

    #[test]
    fn safe_text_stays_as_it_is(tainted in hostile(), max in 0_usize..300) {
        let once = SafeText::sanitise_block(&tainted, max);
        prop_assert!(once.len() <= max);
        let twice = SafeText::sanitise_block(once.as_str(), max);
        prop_assert_eq!(once.as_str(), twice.as_str(), "from {:?}", tainted);
        let once = SafeText::sanitise_line(&tainted, max);
        prop_assert!(once.as_str().chars().count() <= max);
        let twice = SafeText::sanitise_line(once.as_str(), max);
        prop_assert_eq!(once.as_str(), twice.as_str(), "from {:?}", tainted);
    }

    // A trailing blank takes the slow path.
    #[test]
    fn a_trailing_blank_does_not_change_a_word(word in "[a-zA-Z_-]{1,10}|(bors|retest|jenkins)[a-z_-]{0,3}") {
        prop_assert_eq!(line(&word), line(&format!("{word} ")));
    }

    #[test]
    fn cut_text_is_safe_too(tainted in hostile(), max in 0_usize..120) {
        for safe in [SafeText::sanitise_block(&tainted, max), SafeText::sanitise_line(&tainted, max)] {
            let dangers = dangers(safe.as_str());
            prop_assert!(dangers.is_empty(), "{:?} in {:?} from {:?}", dangers, safe.as_str(), tainted);
        }
    }

    #[test]
    fn pages_are_safe(a in hostile(), b in hostile(), url in hostile()) {
        let mut page = MarkdownBuilder::new();
        page.code_span(&a).link(&b, &format!("https://git.example/{url}")).login(&Login(a.clone()));
        page.literal("\n").role(&RoleName(a.clone())).safe_text(&SafeText::sanitise_block(&b, 400)).code_block("", &a, 9).sha(&Sha(b));
        let safe = page.finish();
        // referee's own links keep their targets, and a commit is found by programs.
        let mut parts = safe.as_str().split("](https://git.example/");
        let mut unlinked = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            unlinked.push(' ');
            unlinked.push_str(part.split_once(')').map_or("`", |it| it.1));
        }
        let dangers = dangers(&unlinked);
        let dangers: Vec<_> = dangers.into_iter().filter(|it| !it.starts_with("commit")).collect();
        prop_assert!(dangers.is_empty(), "{:?} in {:?}", dangers, safe.as_str());
    }

    #[test]
    fn only_names_are_called(name in hostile()) {
        let mut page = MarkdownBuilder::new();
        page.mention(&Login(name.clone()));
        let safe = page.finish();
        let called = safe.as_str().strip_prefix('@').is_some_and(|it| it == name && !it.contains([' ', '\n', '/', '@']));
        prop_assert!(called || dangers(safe.as_str()).is_empty(), "{:?}", safe.as_str());
    }

    #[test]
    fn any_text_is_taken(tainted in "(?s).{0,200}") {
        prop_assert!(dangers(&block(&tainted)).is_empty());
        prop_assert!(dangers(&line(&tainted)).is_empty());
    }
}
