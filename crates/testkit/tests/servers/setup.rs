use std::cell::Cell;
use std::sync::Arc;

use referee_core::model::{CommentId, Login, PullNumber, ReviewId, Sha, ThreadId};
use referee_core::plan::DiffLocation;
use referee_core::track::Side;
use referee_forge::{Forge, ForgeError, ServerFacts, ServerSite, Site, connect};
use referee_http::{ClientLimits, ClientOptions, Token};
use referee_testkit::contract::{ContractSetup, CreatedCounts, StagedPull};
use referee_testkit::server::{BOTS, OWNER, ServerPerson, ServerRepo};
use serde_json::json;

use crate::{FILE, LINES};

/// More rows than a page holds.
const ROWS_BEYOND_PAGE: usize = 55;

/// A contract setup on a repository of a real server.
pub(crate) struct ServerSetup {
    repo: ServerRepo,
    forge: Arc<dyn Forge>,
    opened: Cell<u32>,
}

impl ServerSetup {
    pub(crate) async fn new(repo: ServerRepo) -> Result<Self, ForgeError> {
        let forge = connect(&site(&repo, token(&repo, BOTS[0]), unthrottled_limits(), None)).await?;
        Ok(Self { repo, forge, opened: Cell::new(0) })
    }

    /// Opens the same forge with another token or other limits, without probing the server again.
    async fn open(&self, login: &str, token: Token, limits: ClientLimits) -> Option<Arc<dyn Forge>> {
        let probed = self.forge.server_facts().map(|facts| ServerFacts { login: Login::from(login), ..facts });
        connect(&site(&self.repo, token, limits, probed)).await.ok()
    }

    fn ruth(&self, pull: PullNumber) -> ServerPerson {
        self.repo.as_("ruth").on(pull)
    }
}

/// Returns the address of a repository.
pub(crate) fn site(repo: &ServerRepo, token: Token, limits: ClientLimits, probed: Option<ServerFacts>) -> Site {
    let base = repo.server().url().parse().expect("a valid URL");
    let name = repo.full_name();
    Site::Server(Box::new(ServerSite {
        kind: None,
        client: ClientOptions { limits, ..ClientOptions::new(base, None, &[]) },
        owner: OWNER.to_owned(),
        repo: name.trim_start_matches(OWNER).trim_matches('/').to_owned(),
        token,
        known: probed,
    }))
}

/// Returns limits without throttling, because no one else uses the server.
pub(crate) fn unthrottled_limits() -> ClientLimits {
    ClientLimits { requests_per_minute: 60_000, ..ClientLimits::default() }
}

pub(crate) fn token(repo: &ServerRepo, login: &str) -> Token {
    Token::new(repo.server().token(login))
}

impl ContractSetup for ServerSetup {
    fn forge(&self) -> &dyn Forge {
        &*self.forge
    }

    fn own_login(&self) -> Login {
        Login::from(BOTS[0])
    }

    async fn open_pull(&self) -> Result<StagedPull, String> {
        self.opened.set(self.opened.get() + 1);
        let alice = self.repo.as_("alice");
        let pull = alice.open_pull(&format!("feature-{}", self.opened.get()), &[(FILE, LINES)]);
        let location_at =
            |line| DiffLocation { path: FILE.to_owned(), line: Some(line), start_line: None, side: Side::New };
        Ok(StagedPull {
            pull,
            head: alice.on(pull).head(),
            commentable_lines: [1, 2, 3].map(location_at),
            missing_line: location_at(999),
        })
    }

    async fn push_commit(&self, pull: PullNumber) -> Result<Sha, String> {
        Ok(self.repo.as_("alice").on(pull).push(FILE, |text| format!("{text}fn four() {{}}\n")))
    }

    async fn post_comment(&self, pull: PullNumber, text: &str) -> Result<CommentId, String> {
        Ok(self.ruth(pull).comment(text))
    }

    async fn post_review(&self, pull: PullNumber, text: &str) -> Result<ReviewId, String> {
        Ok(self.ruth(pull).review_without_verdict(text))
    }

    async fn open_thread(&self, pull: PullNumber, location: &DiffLocation, text: &str) -> Result<ThreadId, String> {
        Ok(self.ruth(pull).open_thread(&location.path, location.line.unwrap_or(1), text))
    }

    async fn add_label(&self, pull: PullNumber) -> Result<String, String> {
        self.ruth(pull).label("wip");
        Ok("wip".to_owned())
    }

    /// Posts directly, because `review_with_threads` fetches the pull each time, which takes a server longer than all the
    /// posts. A page holds fifty rows.
    async fn fill_pages(&self, staged: &StagedPull) -> Result<CreatedCounts, String> {
        let ruth = self.ruth(staged.pull);
        let path = format!("/pulls/{}/reviews", staged.pull.0);
        for n in 0..ROWS_BEYOND_PAGE {
            let note = json!({"path": FILE, "new_position": n % 3 + 1, "body": format!("note {n}")});
            let review = json!({"event": "COMMENT", "commit_id": staged.head, "body": format!("remark {n}"),
                "comments": [note]});
            let response = ruth.send("POST", &path, Some(&review));
            if !response.is_success() {
                return Err(format!("posting a review failed with status {}", response.status));
            }
            ruth.comment(&format!("comment {n}"));
        }
        Ok(CreatedCounts { reviews: ROWS_BEYOND_PAGE, threads: ROWS_BEYOND_PAGE, comments: ROWS_BEYOND_PAGE })
    }

    /// A page of the timeline exceeds this body limit.
    async fn with_low_limit(&self, _: PullNumber) -> Option<Arc<dyn Forge>> {
        let low_limits = ClientLimits { max_body_bytes: 8 << 10, ..unthrottled_limits() };
        self.open(BOTS[0], token(&self.repo, BOTS[0]), low_limits).await
    }

    async fn with_bad_token(&self) -> Option<Arc<dyn Forge>> {
        self.open(BOTS[0], Token::new("0123456789abcdef0123456789abcdef01234567"), unthrottled_limits()).await
    }

    async fn as_outsider(&self) -> Option<(Arc<dyn Forge>, Login)> {
        let login = "passer-by";
        let forge = self.open(login, token(&self.repo, login), unthrottled_limits()).await?;
        Some((forge, Login::from(login)))
    }

    fn secrets(&self) -> Vec<String> {
        self.repo.server().tokens().map(str::to_owned).collect()
    }
}
