//! Which pull a command means: the words people write, read without asking anybody.

use std::fmt;
use std::str::FromStr;

use referee_core::model::PullNumber;
use url::Url;

use crate::failure::Failure;

/// Which pull.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The pull of the current branch; without a forge, the current branch over the default one.
    Current,
    /// `L7`: a local pull.
    Local(PullNumber),
    /// `7`, `#7`, `!7`: of the forge of this checkout, or a local one where there is none.
    Numbered(PullNumber),
    /// `A..B`.
    Range {
        /// What it goes into.
        base: String,
        /// What changed.
        head: String,
    },
    /// `.`: the work tree over its commit.
    WorkTree,
    /// `staged`: the index over its commit.
    Staged,
    /// `owner/repo#7`, or a pull's page.
    Remote(Remote),
}

/// A pull of a named repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Remote {
    /// Where the forge's pages begin; `None` where only the repository was named.
    pub(crate) server: Option<Url>,
    /// Which repository.
    pub(crate) repo: Repo,
    /// Which pull.
    pub(crate) number: PullNumber,
}

/// `owner/name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Repo {
    /// Whose.
    pub(crate) owner: String,
    /// Its name.
    pub(crate) name: String,
}

impl Target {
    /// Reads the words, if there are any.
    pub(crate) fn read(words: Option<&str>) -> Result<Self, Failure> {
        words.map_or(Ok(Self::Current), str::parse)
    }
}

impl FromStr for Target {
    type Err = Failure;

    fn from_str(words: &str) -> Result<Self, Failure> {
        let words = words.trim();
        match words {
            "." => return Ok(Self::WorkTree),
            "staged" => return Ok(Self::Staged),
            _ => {}
        }
        if words.contains("://") {
            return page(words).map(Self::Remote);
        }
        if let Some(digits) = words.strip_prefix(['L', 'l']).filter(|digits| is_number(digits)) {
            return number(digits, words).map(Self::Local);
        }
        let digits = words.strip_prefix(['#', '!']).unwrap_or(words);
        if is_number(digits) {
            return number(digits, words).map(Self::Numbered);
        }
        if let Some((repo, digits)) = words.split_once(['#', '!'])
            && let (Ok(repo), true) = (repo.parse(), is_number(digits))
        {
            return Ok(Self::Remote(Remote { server: None, repo, number: number(digits, words)? }));
        }
        if let Some((base, head)) = words.split_once("..") {
            // `A...B` is what git calls it; a pull is always measured from where the two parted.
            let head = head.strip_prefix('.').unwrap_or(head);
            let named = |name: &str| if name.is_empty() { "HEAD".to_owned() } else { name.to_owned() };
            return Ok(Self::Range { base: named(base), head: named(head) });
        }
        Err(unreadable(words))
    }
}

impl FromStr for Repo {
    type Err = Failure;

    fn from_str(words: &str) -> Result<Self, Failure> {
        let wrong = || Failure::usage(format!("`{words}` names no repository")).with_hint("write `owner/name`");
        let (owner, name) = words.split_once('/').ok_or_else(wrong)?;
        let plain =
            |part: &str| !part.is_empty() && !part.contains(['/', '?', '#', ' ']) && part != "." && part != "..";
        if !plain(owner) || !plain(name) {
            return Err(wrong());
        }
        Ok(Self { owner: owner.to_owned(), name: name.to_owned() })
    }
}

impl fmt::Display for Repo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)
    }
}

/// `https://git.example.org/sub/acme/api/pulls/7`, and whatever page of it a browser shows.
fn page(words: &str) -> Result<Remote, Failure> {
    let no_page = || {
        Failure::usage(format!("`{words}` is the address of no pull"))
            .with_hint("it looks like `https://git.example.org/acme/api/pulls/7`")
    };
    let mut server = Url::parse(words).map_err(|_| no_page())?;
    if !matches!(server.scheme(), "http" | "https") || !server.has_host() {
        return Err(no_page());
    }
    if !server.username().is_empty() || server.password().is_some() {
        return Err(Failure::usage("the address of the pull holds a name or password, and addresses get written down")
            .with_hint("leave it out; the token comes from `REFEREE_TOKEN`"));
    }
    let segments: Vec<String> = server.path_segments().into_iter().flatten().map(str::to_owned).collect();
    let at = segments.windows(2).rposition(|two| is_pulls(&two[0]) && is_number(&two[1])).ok_or_else(no_page)?;
    let ([before @ .., owner, name], Some(digits)) = (&segments[..at], segments.get(at + 1)) else {
        return Err(no_page());
    };
    let number = number(digits, words)?;
    let repo = format!("{owner}/{name}").parse().map_err(|_| no_page())?;
    server.set_path(&before.join("/"));
    server.set_query(None);
    server.set_fragment(None);
    Ok(Remote { server: Some(server), repo, number })
}

/// What forges call the folder of their pulls.
fn is_pulls(segment: &str) -> bool {
    matches!(segment, "pulls" | "pull")
}

fn is_number(digits: &str) -> bool {
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn number(digits: &str, words: &str) -> Result<PullNumber, Failure> {
    digits.parse().map(PullNumber).map_err(|_| unreadable(words))
}

fn unreadable(words: &str) -> Failure {
    Failure::usage(format!("`{words}` names no pull")).with_hint(
        "write `L7`, `main..HEAD`, `.` for the work tree, or `staged`; on a forge `7`, `owner/repo#7`, or the pull's address",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remote(server: Option<&str>, repo: &str, number: u64) -> Target {
        let server = server.map(|server| Url::parse(server).expect(server));
        Target::Remote(Remote { server, repo: repo.parse().expect(repo), number: PullNumber(number) })
    }

    #[test]
    fn people_write_pulls_in_many_ways() {
        let range = |base: &str, head: &str| Target::Range { base: base.to_owned(), head: head.to_owned() };
        for (words, target) in [
            ("L7", Target::Local(PullNumber(7))),
            ("l7", Target::Local(PullNumber(7))),
            ("#7", Target::Numbered(PullNumber(7))),
            ("!7", Target::Numbered(PullNumber(7))),
            ("7", Target::Numbered(PullNumber(7))),
            ("main..topic", range("main", "topic")),
            ("main...topic", range("main", "topic")),
            ("main..", range("main", "HEAD")),
            ("main..fix/#7", range("main", "fix/#7")),
            (".", Target::WorkTree),
            ("staged", Target::Staged),
            ("acme/api#7", remote(None, "acme/api", 7)),
            ("acme/api!7", remote(None, "acme/api", 7)),
        ] {
            assert_eq!(Target::read(Some(words)).expect(words), target, "{words}");
        }
        assert_eq!(Target::read(None).expect("the current branch"), Target::Current);
        for words in ["seven", "99999999999999999999", "L99999999999999999999", "acme#7", "acme/#7", "a/b/c#7"] {
            assert!(Target::read(Some(words)).is_err(), "{words}");
        }
    }

    #[test]
    fn a_pull_s_page_names_its_server_whatever_lies_before_and_behind() {
        for (words, server, repo) in [
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
            assert_eq!(Target::read(Some(words)).expect(words), remote(Some(server), repo, 7), "{words}");
        }
        for words in [
            "https://git.example.org/acme/api",
            "https://git.example.org/acme/api/issues/7",
            "https://git.example.org/api/pulls/7",
            "https://git.example.org/acme/api/pulls/new",
            "ssh://git@git.example.org/acme/api/pulls/7",
            "https:///acme/api/pulls/x",
        ] {
            assert!(Target::read(Some(words)).is_err(), "{words}");
        }
    }

    #[test]
    fn a_password_in_an_address_is_refused_and_not_repeated() {
        let failure = Target::read(Some("https://bot:hush@git.example.org/acme/api/pulls/7")).expect_err("refused");
        assert!(!failure.render().contains("hush"), "{}", failure.render());
    }
}
