//! Every fault between referee and a real server, at every request of a first review.

use std::time::Duration;

use referee_core::model::PullNumber;
use referee_testkit::proxy::{LoggedRequest, ProxyFault, RequestMatcher};
use referee_testkit::server::ServerBuild;

use crate::chance::times;
use crate::on_each_server;
use crate::site::{RunOutput, TestSite};
use crate::standing::Standing;

on_each_server! { an_interrupted_write_is_neither_lost_nor_repeated }

const FAULTS: [ProxyFault; 9] = [
    ProxyFault::DropBefore,
    ProxyFault::DropAfter,
    ProxyFault::Error,
    ProxyFault::ErrorAfter,
    ProxyFault::Gateway,
    ProxyFault::Slow(Duration::from_millis(200)),
    ProxyFault::Truncated,
    ProxyFault::RateLimited(1),
    ProxyFault::WrongJson,
];

const BAD: &str = "def run(cmd):\n    return [\n        one(cmd),\n    ]\n";
/// A reviewer that can be counted.
const ROLES: &str = "version = 1\n[[role]]\nname = \"lint\"\ncommand = \"lint\"\n\
    [[role]]\nname = \"deep\"\ncommand = \"lint\"\n";

// spec: PUB-14 @gitea @forgejo
fn an_interrupted_write_is_neither_lost_nor_repeated(build: ServerBuild) {
    let scene = Scene::new(build);
    let (writes, undisturbed) = (scene.writes.len(), &scene.stands);
    for (number, (nth, fault)) in chosen(writes).enumerate() {
        let label = format!("{fault:?} at write {nth}, {}", scene.writes[nth - 1].path);
        let pull = scene.open(&format!("write-{number}"));
        scene.site.proxy.forget();
        scene.site.proxy.inject_fault(fault, RequestMatcher::nth_write(nth));
        let ran = scene.review(pull);
        scene.is_clear(&ran, &label);
        let codes: &[i32] = match fault {
            // A claim is asked for again, or taken over once it expires; one that is not released expires.
            _ if scene.writes[nth - 1].path.ends_with("/reactions") => &[0],
            ProxyFault::DropBefore | ProxyFault::Gateway => &[75],
            // The server may say 500 and mean one comment of many, so that a review is sent again at once.
            ProxyFault::Error => &[0, 75],
            // It is stored, or was asked for in vain once: what became of it is read back.
            _ => &[0],
        };
        assert!(codes.contains(&ran.code), "{label}: {ran:?}");
        scene.site.proxy.forget();
        let again = scene.review(pull);
        assert_eq!(again.code, 0, "{label}: {ran:?} {again:?}");
        let differs = Standing::of(&scene.site, "referee", pull).plain().differs(undisturbed);
        assert!(differs.is_empty(), "{label}: {ran:?} {again:?}\n{}", differs.join("\n"));
        assert_eq!(scene.reviews_of(pull), 2, "{label}: the reviewer ran again");
        scene.site.proxy.forget();
        scene.review(pull);
        assert_eq!(scene.site.proxy.write_count(), 0, "{label}: {:#?}", scene.site.proxy.log());
    }
}

// spec: LOOP-6 @gitea
#[test]
fn after_a_failed_read_nothing_is_decided() {
    let scene = Scene::new(ServerBuild::Gitea126);
    for (number, (nth, fault)) in chosen(scene.reads).enumerate() {
        let label = format!("{fault:?} at read {nth} and all that follow");
        let pull = scene.open(&format!("read-{number}"));
        scene.site.forget();
        scene.site.proxy.forget();
        let slow = matches!(fault, ProxyFault::Slow(_));
        let fault = if let ProxyFault::RateLimited(_) = fault { ProxyFault::RateLimited(3600) } else { fault };
        let when = if slow {
            RequestMatcher::nth_read(nth)
        } else {
            RequestMatcher::nth_read(nth).with_path("/api/").and_following()
        };
        scene.site.proxy.inject_fault(fault, when);
        let ran = scene.review(pull);
        scene.is_clear(&ran, &label);
        assert_eq!(ran.code == 0, slow, "{label}: {ran:?}");
        if !slow && fault != ProxyFault::WrongJson {
            assert_eq!(ran.code, 75, "{label}: {ran:?}");
        }
        scene.site.proxy.forget();
        let again = scene.review(pull);
        assert_eq!(again.code, 0, "{label}: {again:?}");
        let differs = Standing::of(&scene.site, "referee", pull).plain().differs(&scene.stands);
        assert!(differs.is_empty(), "{label}\n{}", differs.join("\n"));
        assert!(scene.reviews_of(pull) <= 2, "{label}: the reviewer ran again");
    }
}

/// Every fault at every request with the full count; in a plain run every fault, and every request, once.
fn chosen(requests: usize) -> impl Iterator<Item = (usize, ProxyFault)> {
    let all = times(0, 1) == 1;
    let each = (1..=requests).flat_map(|nth| FAULTS.map(|fault| (nth, fault)));
    let some = (0..FAULTS.len().max(requests)).map(move |at| (1 + at % requests, FAULTS[at % FAULTS.len()]));
    each.filter(move |_| all).chain(some.filter(move |_| !all))
}

/// A repository whose reviewer counts how often it runs, and a review of it that nothing disturbed.
struct Scene {
    site: TestSite,
    reads: usize,
    writes: Vec<LoggedRequest>,
    stands: Standing,
}

impl Scene {
    fn new(build: ServerBuild) -> Self {
        let site = TestSite::new(build, &[("README.md", "# shop\n"), ("referee.toml", ROLES)]);
        let count = site.path("count").display().to_string();
        let lines = [(3, "one is gone"), (2, "cmd is not checked"), (1, "run says nothing")];
        let findings: Vec<String> = lines
            .iter()
            .map(|(line, title)| format!("{{\"message\":\"{title}\",\"location\":{{\"path\":\"run.py\",\"range\":{{\"start\":{{\"line\":{line}}}}}}},\"severity\":\"ERROR\"}}"))
            .collect();
        let answer = format!("{{\"source\":{{\"name\":\"lint\"}},\"diagnostics\":[{}]}}", findings.join(","));
        let script = format!("cat name.txt >> '{count}'\ncat <<'END'\n{answer}\nEND\n");
        std::fs::write(site.path("lint.sh"), script).expect("a file");
        let lint = site.path("lint.sh").display().to_string();
        let operator = format!("[commands.lint]\nargv = [\"sh\", \"{lint}\"]\nformat = \"rdjson\"\n");
        std::fs::write(site.path("operator.toml"), operator).expect("a file");
        let stands = Standing { reviews: vec![], notes: vec![], comments: vec![], statuses: [].into() };
        let mut scene = Self { site, reads: 0, writes: Vec::new(), stands };
        let pull = scene.open("undisturbed");
        scene.site.proxy.forget();
        let ran = scene.review(pull);
        assert_eq!(ran.code, 0, "{ran:?}");
        let log = scene.site.proxy.log();
        scene.reads =
            log.iter().take_while(|seen| seen.is_read()).filter(|seen| seen.path.starts_with("/api/")).count();
        scene.writes = log.into_iter().filter(|seen| !seen.is_read()).collect();
        scene.stands = Standing::of(&scene.site, "referee", pull).plain();
        assert!(scene.writes.len() > 3 && scene.stands.notes.len() == 6, "{:#?} {:#?}", scene.writes, scene.stands);
        scene
    }

    fn open(&self, branch: &str) -> PullNumber {
        self.site.open(branch, &[("run.py", BAD), ("name.txt", &format!("{branch}\n"))])
    }

    fn review(&self, pull: PullNumber) -> RunOutput {
        let operator = self.site.path("operator.toml").display().to_string();
        self.site.on("review", pull, &["--operator", &operator])
    }

    /// How often the reviewer ran on a pull, once for each role.
    fn reviews_of(&self, pull: PullNumber) -> usize {
        let branch = self.site.at("alice", pull).fetch_pull()["head"]["ref"].as_str().unwrap_or_default().to_owned();
        let all = std::fs::read_to_string(self.site.path("count")).unwrap_or_default();
        all.lines().filter(|line| *line == branch).count()
    }

    /// Words for people: what went wrong in one line and what to do in another, and never a token.
    fn is_clear(&self, ran: &RunOutput, label: &str) {
        let said = format!("{}{}", ran.out, ran.err);
        assert!(self.site.repo.server().tokens().all(|token| !said.contains(token)), "{label}: a token shows");
        assert!(!said.contains("panicked") && !said.contains("<html>"), "{label}: {said}");
        if ran.code != 0 {
            let wrong = said.lines().filter(|line| line.starts_with("error: ")).count();
            let next = said.lines().any(|line| line.starts_with("hint: ") || line.starts_with("next: "));
            assert!(wrong <= 1 && next, "{label}: {said}");
        }
    }
}
