//! Names and words that bots and forges act on.

/// Bots that act on a mention. Some search the raw text for their name, so code does not protect from them.
const BOT_NAMES: [&str; 49] = [
    "all-contributors",
    "allcontributors",
    "azure-pipelines",
    "bors",
    "bulldozer",
    "chatgpt-codex-connector",
    "claude",
    "codecov",
    "coderabbit",
    "codex",
    "codiumai-pr-agent",
    "copilot",
    "craterbot",
    "cursor",
    "danger",
    "dependabot",
    "devin",
    "ellipsis-dev",
    "gemini",
    "github-actions",
    "gitpod",
    "gitstream-cm",
    "googlebot",
    "graphite-app",
    "greenkeeper",
    "greptile",
    "homu",
    "jenkins",
    "jules",
    "k8s-bot",
    "k8s-ci-robot",
    "kodiakhq",
    "marge",
    "mergify",
    "netlify",
    "ofborg",
    "openhands",
    "packit",
    "pr-agent",
    "prow",
    "pullapprove",
    "qodo-merge",
    "renovate",
    "rfcbot",
    "rust-highfive",
    "rust-timer",
    "rustbot",
    "sourcery-ai",
    "triagebot",
];

/// Commands of bots that act on bare words at the start of a line.
const BARE_COMMANDS: [&str; 11] = [
    "bors",
    "bors-ng",
    "jenkins",
    "packit",
    "recheck",
    "reverify",
    "retest",
    "r?",
    "ok to test",
    "test this please",
    "add to whitelist",
];

/// HTML elements that are dropped. Other words in angle brackets are shown, because code is full of them.
const HTML_ELEMENTS: [&str; 119] = [
    "a",
    "abbr",
    "acronym",
    "address",
    "applet",
    "area",
    "article",
    "aside",
    "audio",
    "b",
    "base",
    "basefont",
    "bdi",
    "bdo",
    "big",
    "blink",
    "blockquote",
    "body",
    "br",
    "button",
    "canvas",
    "caption",
    "center",
    "cite",
    "code",
    "col",
    "colgroup",
    "data",
    "datalist",
    "dd",
    "del",
    "details",
    "dfn",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "em",
    "embed",
    "fieldset",
    "figcaption",
    "figure",
    "font",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "i",
    "iframe",
    "img",
    "input",
    "ins",
    "kbd",
    "label",
    "legend",
    "li",
    "link",
    "main",
    "map",
    "mark",
    "marquee",
    "menu",
    "meta",
    "meter",
    "nav",
    "noframes",
    "noscript",
    "object",
    "ol",
    "optgroup",
    "output",
    "p",
    "param",
    "picture",
    "pre",
    "progress",
    "q",
    "rp",
    "rt",
    "ruby",
    "s",
    "samp",
    "script",
    "search",
    "section",
    "select",
    "small",
    "source",
    "span",
    "strike",
    "strong",
    "style",
    "sub",
    "summary",
    "sup",
    "svg",
    "table",
    "tbody",
    "td",
    "template",
    "textarea",
    "tfoot",
    "th",
    "thead",
    "tr",
    "u",
    "ul",
    "video",
];

/// Languages of code blocks that forges render as diagrams, maps or formulas.
const ACTIVE_LANGUAGES: [&str; 11] =
    ["d2", "ditaa", "geojson", "graphviz", "katex", "kroki", "math", "mermaid", "plantuml", "stl", "topojson"];

/// Returns whether a mention of `name` would trigger a bot. Many bots match a prefix.
pub(super) fn starts_with_bot_name(name: &str) -> bool {
    BOT_NAMES.iter().any(|bot| name.get(..bot.len()).is_some_and(|start| start.eq_ignore_ascii_case(bot)))
}

/// Returns whether the start of a line is a command for some bot. `word` is its first word.
pub(super) fn is_bare_command(line: &str, word: &str) -> bool {
    let first = word.as_bytes().first().map(u8::to_ascii_lowercase);
    BARE_COMMANDS.iter().filter(|command| command.as_bytes().first().copied() == first).any(|command| {
        let starts = line.get(..command.len()).is_some_and(|start| start.eq_ignore_ascii_case(command));
        let is_complete = line.as_bytes().get(command.len()).is_none_or(|next| !next.is_ascii_alphanumeric());
        starts && is_complete
    })
}

pub(super) fn is_html_element(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    HTML_ELEMENTS.binary_search(&lower.as_str()).is_ok()
}

/// Returns the language of a code block, or nothing if the forge would render it actively.
pub(super) fn filter_language(info: &str) -> &str {
    let name = info.split_whitespace().next().unwrap_or_default();
    let is_name = name.len() <= 20 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"+#_.-".contains(&b));
    let is_active = ACTIVE_LANGUAGES.iter().any(|language| language.eq_ignore_ascii_case(name));
    let is_suggestion = name.get(..10).is_some_and(|start| start.eq_ignore_ascii_case("suggestion"));
    if is_name && !is_active && !is_suggestion { name } else { "" }
}

/// Returns whether a colon between these texts would form the name of a hidden comment, of referee or another bot.
pub(super) fn is_reserved_namespace(before: &str, after: &str) -> bool {
    let ends_with = |word: &str| {
        let start = before.len().checked_sub(word.len());
        start.and_then(|start| before.get(start..)).is_some_and(|end| end.eq_ignore_ascii_case(word))
    };
    let starts_with = |word: &str| after.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    ends_with("review-bot") || (ends_with("referee") && ["mark", "block", "tag"].into_iter().any(starts_with))
}
