//! Large inputs: a review of sixty findings with hostile text, and a pull with hundreds of notes.

use std::thread;

use referee_core::model::PullNumber;
use referee_testkit::proxy::{ProxyFault, RequestMatcher};
use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use crate::chance::times;
use crate::on_each_server;
use crate::site::TestSite;
use crate::standing::{Standing, pages};

on_each_server! { sixty_findings_in_twenty_files_are_all_reported a_pull_with_hundreds_of_notes_is_read_completely }

const FILES: usize = 20;
/// Findings of a file: two in the diff, and one that is outside of it in every second file.
const EACH: usize = 3;

/// Everything that a text could do on a forge, and must not.
const HARM: &str = "/close\n/assign @passer-by\n@passer-by look\n<script>alert(1)</script><img src=\"http://evil.example/x.png\">\n\
    ![x](http://evil.example/y.png)\nab\u{202e}cd\u{2066}ef\n<!-- referee:mark v1 general;aa1;x;x;x;x;0 - -->\n\
    <!-- referee:tag v1 af;1;x - -->\n";

// spec: PUB-13, PUB-16 @gitea @forgejo
fn sixty_findings_in_twenty_files_are_all_reported(build: ServerBuild) {
    let config = "version = 1\n[review]\nmax_inline = 60\n[[role]]\nname = \"general\"\nbuiltin = true\n";
    let names: Vec<String> = (0..FILES).map(|file| format!("src/f{file}.txt")).collect();
    let old: String = (1..=100).map(|line| format!("line {line}\n")).collect();
    let new: String =
        (1..=100).map(|line| format!("line {line}{}\n", if line <= 5 { " is new" } else { "" })).collect();
    let at = |text| names.iter().map(|name| (name.as_str(), text)).collect::<Vec<(&str, &str)>>();
    let site = TestSite::new(build, &[&at(old.as_str())[..], &[("referee.toml", config)]].concat());
    let pull = site.open("big", &at(&new));
    let place = |number: usize| match number % EACH {
        2 if (number / EACH).is_multiple_of(4) => 500,
        2 if (number / EACH).is_multiple_of(2) => 80,
        within => 1 + 2 * within as u64,
    };
    let finding = |number: usize| {
        json!({
            "title": format!("Finding number {number:02} of many"), "body": format!("{HARM}It is number {number}."),
            "severity": "critical", "path": names[number / EACH], "line": place(number), "side": "new",
            "suggestion": HARM,
        })
    };
    let findings: Vec<Value> = (0..FILES * EACH).map(finding).collect();
    let summary = format!("{HARM}{}", "A long story. ".repeat(5_000));
    let document = site.report(pull, "general", json!({ "findings": findings, "summary": summary }));
    assert_eq!(document["findings"].as_array().map(Vec::len), Some(60), "{document}");

    let stands = Standing::of(&site, "referee", pull);
    let summary = &stands.reviews[0].words;
    assert!(stands.reviews.len() == 1 && stands.reviews[0].state == "REQUEST_CHANGES", "{stands:#?}");
    assert_eq!(stands.notes.len(), 60, "{stands:#?}");
    for number in 0..60 {
        let title = format!("Finding number {number:02} of many");
        let lines: Vec<u64> = stands.notes.iter().filter(|note| note.2.contains(&title)).map(|note| note.1).collect();
        // What is outside of the diff is said of the file as a whole.
        assert_eq!(lines, [if place(number) <= 5 { place(number) } else { 0 }], "{title}");
        assert!(summary.contains(&title), "{title} is not in the summary: {summary}");
    }
    assert_harmless(summary);
    stands.notes.iter().for_each(|note| assert_harmless(&note.2));
    assert!(stands.comments.iter().all(|words| !words.contains("number")), "{stands:#?}");
    assert_eq!(site.at("alice", pull).fetch_pull()["state"], "open");
    let called = site.repo.server().send_as("passer-by", "GET", "/notifications?all=true", None);
    let called = String::from_utf8_lossy(&called.body).into_owned();
    assert!(!called.contains(&format!("{}\"", site.repo.full_name())), "{called}");
    is_quiet(&site, pull);
}

/// No text does anything but be read, and there is one Mark or Tag in it: its own.
fn assert_harmless(words: &str) {
    assert!(words.len() <= 65_535, "{} bytes", words.len());
    // Code is shown and does nothing.
    let prose: String = words.split("```").step_by(2).flat_map(|part| part.split('`').step_by(2)).collect();
    for harm in ["/close", "/assign", "@passer-by", "<script", "<img", "![x]", "evil.example"] {
        assert!(!prose.contains(harm), "{harm:?} is in {words}");
    }
    assert!(!words.contains(['\u{202e}', '\u{2066}']), "{words}");
    assert!(!words.lines().any(|line| line.starts_with('/')), "{words}");
    let memories = words.matches("referee:mark").count() + words.matches("referee:tag").count();
    assert_eq!(memories, 1, "{words}");
}

// spec: PUB-2, TRI-3, LOOP-6 @gitea @forgejo
fn a_pull_with_hundreds_of_notes_is_read_completely(build: ServerBuild) {
    let config = "version = 1\n[threads]\nmax_threads = 500\n";
    let site = TestSite::new(build, &[("README.md", "# shop\n"), ("referee.toml", config)]);
    let text: String = (1..=60).map(|line| format!("line {line}\n")).collect();
    let pull = site.open("crowd", &[("a.txt", &text)]);
    // A plain run has two pages of each list.
    let (reviews, threads, comments) = (times(60, 300), times(12, 120), times(50, 250));
    crowd(&site, pull, reviews, threads, comments);
    let events = pages(&site, "ruth", &format!("/issues/{}/timeline", pull.0)).len();
    assert!(events >= reviews + comments, "{events} entries");

    let document = site.json("comments", pull, &["--all"]);
    assert_eq!(document["threads"].as_array().map(Vec::len), Some(threads), "{document}");
    let ran = site.on("review", pull, &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    is_quiet(&site, pull);

    for (list, message) in [("/reviews?", "reviews"), ("/timeline?", "timeline")] {
        site.at("alice", pull).push("a.txt", |text| format!("{text}{message}\n"));
        site.forget();
        site.proxy.forget();
        let page = format!("{list}page=2");
        site.proxy.inject_fault(ProxyFault::Truncated, RequestMatcher::nth_read(1).with_path(&page).and_following());
        let cut = site.on("review", pull, &[]);
        assert_eq!((cut.code, site.proxy.write_count()), (75, 0), "{page}: {cut:?} {:#?}", site.proxy.log());
        let hint = cut.err.lines().any(|line| line.starts_with("hint: "));
        assert!(cut.err.contains("cut off") && hint, "{page}: {}", cut.err);
        let comments = site.on("comments", pull, &[]);
        assert_ne!(comments.code, 0, "{page}: {comments:?}");
        site.proxy.forget();
        let ran = site.on("review", pull, &[]);
        assert_eq!(ran.code, 0, "{page}: {ran:?}");
    }
}

/// Many speak at once, each person one word after the other: servers mix up what one person posts at one moment.
fn crowd(site: &TestSite, pull: PullNumber, reviews: usize, threads: usize, comments: usize) {
    let people = ["ruth", "alice", "passer-by", "owner", "keeper"];
    let mine = |all: usize, who: usize| (0..all).filter(move |number| number % people.len() == who);
    thread::scope(|scope| {
        for (who, login) in people.iter().enumerate() {
            scope.spawn(move || {
                let person = site.at(login, pull);
                for number in mine(reviews, who) {
                    if number < threads {
                        let line = u32::try_from(1 + number % 60).expect("a line");
                        person.review_with_threads(&[("a.txt", line, &format!("What of {number}?"))], "");
                    } else {
                        person.review_without_verdict(&format!("Review {number}."));
                    }
                }
                for number in mine(comments, who) {
                    person.comment(&format!("Comment {number}."));
                }
            });
        }
    });
}

/// Nothing is left to write, with what this machine knows and without.
fn is_quiet(site: &TestSite, pull: PullNumber) {
    site.proxy.forget();
    let ran = site.on("review", pull, &[]);
    site.forget();
    let fresh = site.on("review", pull, &[]);
    assert!([&ran, &fresh].iter().all(|ran| matches!(ran.code, 0 | 12)), "{ran:?} {fresh:?}");
    assert_eq!(site.proxy.write_count(), 0, "{:#?}", site.proxy.log());
}
