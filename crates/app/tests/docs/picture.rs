//! The picture of the README: a terminal with the output of a short run. `docs/picture/render` updates it.

use std::fmt::Write as _;

use crate::sandbox::{Sandbox, house, referee, text};

const PICTURE: &str = "docs/picture/review.svg";
const LINE: usize = 18;
const LEFT: usize = 20;
const TOP: usize = 52;
/// Of one character; a browser's own font may be a little narrower.
const WIDE: usize = 8;

#[test]
fn the_picture_shows_the_output_of_a_run() {
    let drawn = svg(&run());
    if std::env::var_os("REFEREE_PICTURE").is_some() {
        std::fs::write(house().join(PICTURE), &drawn).expect("a picture");
    }
    assert_eq!(text(PICTURE), drawn, "`docs/picture/render` draws it anew");
}

/// One review, one fix, one answer, the second review.
fn run() -> String {
    let sandbox = Sandbox::new("picture", &[]);
    let dir = sandbox.repository("picture");
    let mut shown = String::new();
    let mut referee_does = |args: &[&str]| {
        let quoted = args.iter().map(|arg| if arg.contains(' ') { format!("\"{arg}\"") } else { (*arg).to_owned() });
        let gap = if shown.is_empty() { "" } else { "\n" };
        let _ = writeln!(shown, "{gap}\x1b[1m$ referee {}\x1b[0m", quoted.collect::<Vec<_>>().join(" "));
        let coloured = [&["--color", "always"], args].concat();
        // Words and data come on two pipes: first what was begun, then the findings, then how it ended.
        let all = sandbox.run(&referee(), &coloured, &dir);
        let (begun, rest): (Vec<&str>, Vec<&str>) = all.lines().partition(|line| is_begun(line));
        for line in begun.iter().chain(&rest) {
            let _ = writeln!(shown, "{}", untimed(line));
        }
    };
    referee_does(&["review"]);
    let fixed = std::fs::read_to_string(dir.join("web/login.js")).expect("a file").replace("role =", "role ===");
    std::fs::write(dir.join("web/login.js"), fixed).expect("a file");
    sandbox.run("git".as_ref(), &["commit", "--quiet", "--all", "--message", "Compare roles"], &dir);
    referee_does(&["local", "reply", "L1", "F2", "won't fix: a lost session is a new login"]);
    referee_does(&["review"]);
    shown.replace(
        "\x1b[1m$ referee local",
        "\x1b[1m$ git commit --all --message \"Compare roles\"\x1b[0m\n\x1b[1m$ referee local",
    )
}

fn is_begun(line: &str) -> bool {
    line.starts_with("reviewing ") || (line.starts_with("  ") && line.contains(" done, "))
}

/// How long a role took differs from run to run.
fn untimed(line: &str) -> &str {
    match line.rsplit_once(", ") {
        Some((before, took)) if is_begun(line) && took.ends_with(" s") => before,
        _ => line,
    }
}

fn svg(text: &str) -> String {
    let height = TOP + LINE * text.lines().count() + 8;
    let longest = text.lines().map(|line| visible(line).count()).max().unwrap_or(0);
    let width = 2 * LEFT + WIDE * longest;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" aria-label=\"referee reviews a branch, twice\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#16181d\"/>\n\
         <g fill=\"#3a3f4b\"><circle cx=\"24\" cy=\"22\" r=\"6\"/><circle cx=\"44\" cy=\"22\" r=\"6\"/>\
         <circle cx=\"64\" cy=\"22\" r=\"6\"/></g>\n\
         <g font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" \
         font-size=\"13\" fill=\"#d5d8df\" xml:space=\"preserve\">\n"
    );
    for (at, line) in text.lines().enumerate() {
        let _ = writeln!(out, "<text x=\"{LEFT}\" y=\"{}\">{}</text>", TOP + LINE * at, spans(line));
    }
    out.push_str("</g>\n</svg>\n");
    out
}

/// The characters that take room.
fn visible(line: &str) -> impl Iterator<Item = char> {
    let parts = line.split("\x1b[").enumerate();
    parts
        .flat_map(|(at, part)| if at == 0 { part } else { part.split_once('m').map_or(part, |(_, rest)| rest) }.chars())
}

/// A line with its colours as spans.
fn spans(line: &str) -> String {
    let mut out = String::new();
    let (mut colour, mut bold) = (None, false);
    for (at, part) in line.split("\x1b[").enumerate() {
        let words = match part.split_once('m').filter(|_| at > 0) {
            Some((codes, rest)) => {
                for code in codes.split(';') {
                    match code.parse::<u8>().unwrap_or(0) {
                        0 => (colour, bold) = (None, false),
                        1 => bold = true,
                        code @ (30..=37 | 90..=97) => colour = Some(hue(code % 10)),
                        _ => {}
                    }
                }
                rest
            }
            None => part,
        };
        if words.is_empty() {
            continue;
        }
        let escaped = words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let fill = colour.map(|hue| format!(" fill=\"{hue}\"")).unwrap_or_default();
        let weight = if bold { " font-weight=\"bold\"" } else { "" };
        if fill.is_empty() && weight.is_empty() {
            out.push_str(&escaped);
        } else {
            let _ = write!(out, "<tspan{fill}{weight}>{escaped}</tspan>");
        }
    }
    out
}

fn hue(code: u8) -> &'static str {
    match code {
        1 => "#ff6b6b",
        2 => "#7ddc8b",
        3 => "#f2c55c",
        4 => "#74a8ff",
        5 => "#d69cff",
        6 => "#63d3e0",
        _ => "#d5d8df",
    }
}
