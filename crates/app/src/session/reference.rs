//! What a person typed to name a pull, parsed without git or a forge.

use std::fmt;
use std::str::FromStr;

use referee_core::model::PullNumber;
use url::Url;

use crate::failure::Failure;

/// A pull as a person names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PullReference {
    /// The pull of the current branch; without a forge, the current branch over the default one.
    Current,
    /// `L7`.
    Local(PullNumber),
    /// `7`, `#7`, `!7`: a pull on the forge of this checkout, or a local one if it has no forge.
    Numbered(PullNumber),
    /// `A..B`.
    Range { base: String, head: String },
    /// `.`: the work tree compared with `HEAD`.
    WorkTree,
    /// `staged`: the index compared with `HEAD`.
    Staged,
    /// `owner/repo#7`, or the URL of a pull.
    Remote(RemoteReference),
}

/// A pull of a named repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RemoteReference {
    /// The root URL of the forge; `None` if only the repository was named.
    pub(crate) server: Option<Url>,
    pub(crate) repo: RepoName,
    pub(crate) number: PullNumber,
}

/// `owner/name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RepoName {
    pub(crate) owner: String,
    pub(crate) name: String,
}

impl PullReference {
    /// Parses what was typed; nothing means the current branch.
    pub(crate) fn parse_optional(text: Option<&str>) -> Result<Self, Failure> {
        text.map_or(Ok(Self::Current), str::parse)
    }
}

impl FromStr for PullReference {
    type Err = Failure;

    fn from_str(text: &str) -> Result<Self, Failure> {
        let text = text.trim();
        match text {
            "." => return Ok(Self::WorkTree),
            "staged" => return Ok(Self::Staged),
            _ => {}
        }
        if text.contains("://") {
            return parse_url(text).map(Self::Remote);
        }
        if let Some(digits) = text.strip_prefix(['L', 'l']).filter(|digits| is_number(digits)) {
            return parse_number(digits, text).map(Self::Local);
        }
        let digits = text.strip_prefix(['#', '!']).unwrap_or(text);
        if is_number(digits) {
            return parse_number(digits, text).map(Self::Numbered);
        }
        if let Some((repo, digits)) = text.split_once(['#', '!'])
            && let (Ok(repo), true) = (repo.parse(), is_number(digits))
        {
            return Ok(Self::Remote(RemoteReference { server: None, repo, number: parse_number(digits, text)? }));
        }
        if let Some((base, head)) = text.split_once("..") {
            // `A...B` means the same here: a pull is always compared from the merge base.
            let head = head.strip_prefix('.').unwrap_or(head);
            let or_head = |name: &str| if name.is_empty() { "HEAD".to_owned() } else { name.to_owned() };
            return Ok(Self::Range { base: or_head(base), head: or_head(head) });
        }
        Err(unknown_reference(text))
    }
}

impl FromStr for RepoName {
    type Err = Failure;

    fn from_str(text: &str) -> Result<Self, Failure> {
        let invalid = || Failure::usage(format!("`{text}` is not a repository name")).with_hint("write `owner/name`");
        let (owner, name) = text.split_once('/').ok_or_else(invalid)?;
        let is_plain =
            |part: &str| !part.is_empty() && !part.contains(['/', '?', '#', ' ']) && part != "." && part != "..";
        if !is_plain(owner) || !is_plain(name) {
            return Err(invalid());
        }
        Ok(Self { owner: owner.to_owned(), name: name.to_owned() })
    }
}

impl fmt::Display for RepoName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)
    }
}

/// Parses `https://git.example.org/sub/acme/api/pulls/7` and any page below it.
fn parse_url(text: &str) -> Result<RemoteReference, Failure> {
    let invalid = || {
        // A text with an `@` may contain a password.
        let shown = if text.contains('@') { "this" } else { &format!("`{text}`") };
        Failure::usage(format!("{shown} is not the URL of a pull"))
            .with_hint("it should look like `https://git.example.org/acme/api/pulls/7`")
    };
    let mut server = Url::parse(text).map_err(|_| invalid())?;
    if !matches!(server.scheme(), "http" | "https") || !server.has_host() {
        return Err(invalid());
    }
    if !server.username().is_empty() || server.password().is_some() {
        return Err(Failure::usage("the URL of the pull contains a user name or password, which would end up in logs")
            .with_hint("leave it out and set `REFEREE_TOKEN` instead"));
    }
    let segments: Vec<String> = server.path_segments().into_iter().flatten().map(str::to_owned).collect();
    let at =
        segments.windows(2).rposition(|two| is_pulls_segment(&two[0]) && is_number(&two[1])).ok_or_else(invalid)?;
    let ([before @ .., owner, name], Some(digits)) = (&segments[..at], segments.get(at + 1)) else {
        return Err(invalid());
    };
    let number = parse_number(digits, text)?;
    let repo = format!("{owner}/{name}").parse().map_err(|_| invalid())?;
    server.set_path(&before.join("/"));
    server.set_query(None);
    server.set_fragment(None);
    Ok(RemoteReference { server: Some(server), repo, number })
}

fn is_pulls_segment(segment: &str) -> bool {
    matches!(segment, "pulls" | "pull")
}

fn is_number(digits: &str) -> bool {
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn parse_number(digits: &str, text: &str) -> Result<PullNumber, Failure> {
    digits.parse().map(PullNumber).map_err(|_| unknown_reference(text))
}

fn unknown_reference(text: &str) -> Failure {
    Failure::usage(format!("`{text}` does not name a pull")).with_hint(
        "write `L7`, `main..HEAD`, `.` for the work tree, or `staged`; on a forge `7`, `owner/repo#7`, or the pull's URL",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remote(server: Option<&str>, repo: &str, number: u64) -> PullReference {
        let server = server.map(|server| Url::parse(server).expect(server));
        PullReference::Remote(RemoteReference { server, repo: repo.parse().expect(repo), number: PullNumber(number) })
    }

    #[test]
    fn every_way_to_name_a_pull_is_parsed() {
        let range = |base: &str, head: &str| PullReference::Range { base: base.to_owned(), head: head.to_owned() };
        for (text, target) in [
            ("L7", PullReference::Local(PullNumber(7))),
            ("l7", PullReference::Local(PullNumber(7))),
            ("#7", PullReference::Numbered(PullNumber(7))),
            ("!7", PullReference::Numbered(PullNumber(7))),
            ("7", PullReference::Numbered(PullNumber(7))),
            ("main..topic", range("main", "topic")),
            ("main...topic", range("main", "topic")),
            ("main..", range("main", "HEAD")),
            ("main..fix/#7", range("main", "fix/#7")),
            (".", PullReference::WorkTree),
            ("staged", PullReference::Staged),
            ("acme/api#7", remote(None, "acme/api", 7)),
            ("acme/api!7", remote(None, "acme/api", 7)),
        ] {
            assert_eq!(PullReference::parse_optional(Some(text)).expect(text), target, "{text}");
        }
        assert_eq!(PullReference::parse_optional(None).expect("the current branch"), PullReference::Current);
        for text in ["seven", "99999999999999999999", "L99999999999999999999", "acme#7", "acme/#7", "a/b/c#7"] {
            assert!(PullReference::parse_optional(Some(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn a_url_yields_server_and_repository_for_any_page_of_a_pull() {
        for (text, server, repo) in [
            ("https://git.example.org/acme/api/pulls/7", "https://git.example.org/", "acme/api"),
            ("https://git.example.org/acme/api/pulls/7/", "https://git.example.org/", "acme/api"),
            ("http://127.0.0.1:3000/acme/api/pulls/7", "http://127.0.0.1:3000/", "acme/api"),
            ("http://[::1]:3000/acme/api/pulls/7", "http://[::1]:3000/", "acme/api"),
            ("https://example.org/git/acme/api/pulls/7/files", "https://example.org/git", "acme/api"),
            ("https://example.org/a/b/acme/api/pulls/7#issuecomment-9", "https://example.org/a/b", "acme/api"),
            ("https://git.example.org/acme/api/pulls/7/commits?page=2", "https://git.example.org/", "acme/api"),
            ("https://git.example.org/pulls/pulls/pulls/7", "https://git.example.org/", "pulls/pulls"),
            ("https://git.example.org/acme/api/pull/7", "https://git.example.org/", "acme/api"),
        ] {
            assert_eq!(PullReference::parse_optional(Some(text)).expect(text), remote(Some(server), repo, 7), "{text}");
        }
        for text in [
            "https://git.example.org/acme/api",
            "https://git.example.org/acme/api/issues/7",
            "https://git.example.org/api/pulls/7",
            "https://git.example.org/acme/api/pulls/new",
            "ssh://git@git.example.org/acme/api/pulls/7",
            "https:///acme/api/pulls/x",
        ] {
            assert!(PullReference::parse_optional(Some(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn a_password_in_a_url_is_refused_and_not_repeated() {
        for text in [
            "https://bot:hush@git.example.org/acme/api/pulls/7",
            "https://bot:hu/hush@git.example.org/acme/api/pulls/7",
            "ftp://bot:hush@git.example.org/acme/api/pulls/7",
        ] {
            let failure = PullReference::parse_optional(Some(text)).expect_err("refused");
            assert!(!failure.render().contains("hush"), "{}", failure.render());
        }
    }
}
