//! Parses the URL of a git remote into the forge and the repository it may belong to.

use url::Url;

use crate::session::reference::RepoName;

/// A git remote that may be a repository on a forge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RemoteUrl {
    /// The root URL of the forge. For an ssh remote only the host is known.
    pub(crate) server: Url,
    pub(crate) repo: RepoName,
    /// Whether port and path of the server are known, not only its host.
    exact: bool,
}

impl RemoteUrl {
    /// Parses `https://host/sub/owner/repo.git`, `ssh://git@host:22/owner/repo.git` and `git@host:owner/repo`, and drops user
    /// name and password.
    pub(crate) fn parse(remote: &str) -> Option<Self> {
        if !remote.contains("://") {
            // `C:\\repo` is a Windows path and `./a:b` a file name, not a host.
            let (host, path) = remote.split_once(':').filter(|(host, _)| host.len() > 1 && !host.contains('/'))?;
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            return Self::parse(&format!("ssh://{host}/{}", path.trim_start_matches('/')));
        }
        let url = Url::parse(remote).ok()?;
        let exact = match url.scheme() {
            "http" | "https" => true,
            "ssh" | "git+ssh" => false,
            _ => return None,
        };
        let host = url.host_str()?;
        let mut segments: Vec<&str> = url.path().split('/').filter(|segment| !segment.is_empty()).collect();
        let (name, owner) = (segments.pop()?, segments.pop()?);
        let repo = format!("{owner}/{}", name.strip_suffix(".git").unwrap_or(name)).parse().ok()?;
        let server = if exact {
            let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
            format!("{}://{host}{port}/{}", url.scheme(), segments.join("/"))
        } else {
            format!("https://{host}/")
        };
        Some(Self { server: Url::parse(&server).ok()?, repo, exact })
    }

    /// Returns whether the remote points at a repository of that server.
    pub(crate) fn is_on(&self, server: &Url) -> bool {
        if self.exact { is_same_server(&self.server, server) } else { self.server.host_str() == server.host_str() }
    }
}

/// Compares host, port and path. `http` and `https` count as the same server.
pub(crate) fn is_same_server(one: &Url, other: &Url) -> bool {
    let path = |url: &Url| url.path().trim_matches('/').to_owned();
    one.host_str() == other.host_str() && one.port() == other.port() && path(one) == path(other)
}

/// Returns whether a token that belongs to `bound` may be sent to `server`: the same server, and not over `http` if it
/// belongs to an `https` one.
pub(crate) fn may_send_token(bound: &Url, server: &Url) -> bool {
    is_same_server(bound, server) && (bound.scheme() == server.scheme() || server.scheme() == "https")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_remote_is_parsed() {
        for (remote, server) in [
            ("https://git.example.org/acme/api.git", "https://git.example.org/"),
            ("https://git.example.org/acme/api", "https://git.example.org/"),
            ("https://git.example.org/acme/api/", "https://git.example.org/"),
            ("http://127.0.0.1:3000/acme/api.git", "http://127.0.0.1:3000/"),
            ("https://example.org/git/acme/api.git", "https://example.org/git"),
            ("https://bot:hush@git.example.org/acme/api.git", "https://git.example.org/"),
            ("ssh://git@git.example.org:2222/acme/api.git", "https://git.example.org/"),
            ("git@git.example.org:acme/api.git", "https://git.example.org/"),
            ("git.example.org:acme/api", "https://git.example.org/"),
        ] {
            let address = RemoteUrl::parse(remote).expect(remote);
            assert_eq!(address.server.as_str(), server, "{remote}");
            assert_eq!(address.repo.to_string(), "acme/api", "{remote}");
        }
        for remote in
            ["/srv/git/acme/api.git", "../api", "C:\\git\\api", "file:///srv/acme/api.git", "https://host/api", ""]
        {
            assert_eq!(RemoteUrl::parse(remote), None, "{remote}");
        }
    }

    #[test]
    fn an_ssh_remote_matches_any_server_on_its_host_and_an_http_remote_only_its_own() {
        let on = |remote: &str, server: &str| {
            RemoteUrl::parse(remote).expect(remote).is_on(&Url::parse(server).expect(server))
        };
        assert!(on("git@example.org:acme/api", "https://example.org:8443/git"));
        assert!(on("https://example.org/git/acme/api", "https://example.org/git/"));
        assert!(on("http://example.org/acme/api", "https://example.org"));
        assert!(!on("https://example.org/acme/api", "https://example.org/git"));
        assert!(!on("http://127.0.0.1:3000/acme/api", "http://127.0.0.1:3001"));
        assert!(!on("git@example.com:acme/api", "https://example.org"));
    }
}
