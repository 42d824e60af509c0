//! Names and words that others act on.

/// Bots that act on a mention. Some look for their name anywhere in the raw text, so code does not stop them.
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

/// Bots that act on bare words at the start of a line.
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

/// HTML elements that are dropped; anything else in angle brackets is shown, since code is full of it.
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

/// Languages of code blocks that forges do more with than colour: diagrams, maps, suggestions to click.
const ACTIVE_LANGUAGES: [&str; 11] =
    ["d2", "ditaa", "geojson", "graphviz", "katex", "kroki", "math", "mermaid", "plantuml", "stl", "topojson"];

/// Whether a bot would hear its name in an `@` and this: many look for no more than the beginning.
pub(super) fn starts_with_bot_name(name: &str) -> bool {
    BOT_NAMES.iter().any(|bot| name.get(..bot.len()).is_some_and(|start| start.eq_ignore_ascii_case(bot)))
}

/// Whether a line that begins so is an order to some bot; the first word is `word`.
pub(super) fn is_bare_command(line: &str, word: &str) -> bool {
    let first = word.as_bytes().first().map(u8::to_ascii_lowercase);
    BARE_COMMANDS.iter().filter(|order| order.as_bytes().first().copied() == first).any(|order| {
        let starts = line.get(..order.len()).is_some_and(|start| start.eq_ignore_ascii_case(order));
        let ends = line.as_bytes().get(order.len()).is_none_or(|next| !next.is_ascii_alphanumeric());
        starts && ends
    })
}

/// Whether that is an HTML element.
pub(super) fn is_html_element(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    HTML_ELEMENTS.binary_search(&lower.as_str()).is_ok()
}

/// The language of a code block, if it does no more than colour.
pub(super) fn filter_language(info: &str) -> &str {
    let name = info.split_whitespace().next().unwrap_or_default();
    let named = name.len() <= 20 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"+#_.-".contains(&b));
    let active = ACTIVE_LANGUAGES.iter().any(|it| it.eq_ignore_ascii_case(name));
    let suggests = name.get(..10).is_some_and(|start| start.eq_ignore_ascii_case("suggestion"));
    if named && !active && !suggests { name } else { "" }
}

/// Whether a colon between these two would name our memory, or another bot's.
pub(super) fn is_reserved_namespace(before: &str, after: &str) -> bool {
    let ends = |word: &str| {
        let start = before.len().checked_sub(word.len());
        start.and_then(|start| before.get(start..)).is_some_and(|end| end.eq_ignore_ascii_case(word))
    };
    let begins = |word: &str| after.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    ends("review-bot") || (ends("referee") && ["mark", "block", "tag"].into_iter().any(begins))
}
