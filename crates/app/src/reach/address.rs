//! Where a git remote points, as far as a forge can be told from it.

use url::Url;

use crate::target::Repo;

/// A remote that may be a repository on a forge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// Where the forge's pages would begin. An address for ssh names the host alone.
    pub(crate) server: Url,
    /// Which repository.
    pub(crate) repo: Repo,
    /// The server's port and folder are known, not only its host.
    exact: bool,
}

impl Address {
    /// Reads `https://host/sub/owner/repo.git`, `ssh://git@host:22/owner/repo.git` and `git@host:owner/repo`. The name and
    /// password that an address may hold are left behind.
    pub(crate) fn of(remote: &str) -> Option<Self> {
        if !remote.contains("://") {
            // A letter before the colon is a drive, a slash before it a path.
            let (host, path) = remote.split_once(':').filter(|(host, _)| host.len() > 1 && !host.contains('/'))?;
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            return Self::of(&format!("ssh://{host}/{}", path.trim_start_matches('/')));
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

    /// Whether it points at a repository of that server.
    pub(crate) fn is_on(&self, server: &Url) -> bool {
        if self.exact { same(&self.server, server) } else { self.server.host_str() == server.host_str() }
    }
}

/// Whether two addresses are the same server: its host, its port, its folder. `http` and `https` lead to one place.
pub(crate) fn same(one: &Url, other: &Url) -> bool {
    let folder = |url: &Url| url.path().trim_matches('/').to_owned();
    let port = |url: &Url| url.port();
    one.host_str() == other.host_str() && port(one) == port(other) && folder(one) == folder(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remotes_are_written_in_many_ways() {
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
            let address = Address::of(remote).expect(remote);
            assert_eq!(address.server.as_str(), server, "{remote}");
            assert_eq!(address.repo.to_string(), "acme/api", "{remote}");
        }
        for remote in
            ["/srv/git/acme/api.git", "../api", "C:\\git\\api", "file:///srv/acme/api.git", "https://host/api", ""]
        {
            assert_eq!(Address::of(remote), None, "{remote}");
        }
    }

    #[test]
    fn an_ssh_remote_is_on_a_server_of_its_host_and_a_web_remote_on_just_that_server() {
        let on =
            |remote: &str, server: &str| Address::of(remote).expect(remote).is_on(&Url::parse(server).expect(server));
        assert!(on("git@example.org:acme/api", "https://example.org:8443/git"));
        assert!(on("https://example.org/git/acme/api", "https://example.org/git/"));
        assert!(on("http://example.org/acme/api", "https://example.org"));
        assert!(!on("https://example.org/acme/api", "https://example.org/git"));
        assert!(!on("http://127.0.0.1:3000/acme/api", "http://127.0.0.1:3001"));
        assert!(!on("git@example.com:acme/api", "https://example.org"));
    }
}
