use super::*;
use crate::config::SecretSource;

const HERE: &str = "https://git.example.org/acme/api.git";
const JOB: &[(&str, &str)] = &[
    ("GITEA_ACTIONS", "true"),
    ("GITHUB_SERVER_URL", "http://gitea:3000"),
    ("GITHUB_REPOSITORY", "acme/web"),
    ("GITHUB_REF", "refs/pull/9/head"),
    ("GITHUB_TOKEN", "of the job"),
];

/// A run of the program, before anybody is asked.
#[derive(Default)]
struct Run<'a> {
    reference: Option<&'a str>,
    given: ForgeOptions,
    env: Vec<(&'a str, &'a str)>,
    forges: BTreeMap<String, ForgeEntry>,
    origin: Option<&'a str>,
}

impl Run<'_> {
    fn choose(&self) -> Result<SiteChoice, Failure> {
        let env = |name: &str| self.env.iter().find(|(it, _)| *it == name).map(|(_, value)| (*value).to_owned());
        let origin = || self.origin.map(str::to_owned);
        let around = Surroundings { env: &env, forges: &self.forges, origin: &origin };
        choose_site(&PullReference::parse_optional(self.reference)?, &self.given, &around)
    }

    /// `server repository pull token`, `local`, or `no token for server`.
    fn describe(&self) -> String {
        match self.choose() {
            Ok(SiteChoice::Local) => "local".to_owned(),
            Ok(SiteChoice::Unbound(server)) => format!("no token for {server}"),
            Ok(SiteChoice::Server(site)) => {
                let RemoteSite { server, repo, pull, token, .. } = *site;
                let pull = pull.map_or("branch".to_owned(), |pull| format!("#{}", pull.0));
                format!("{server} {repo} {pull} {}", token.reveal())
            }
            Err(failure) => failure.render(),
        }
    }
}

fn entry(kind: ForgeKind, url: &str, token: &str) -> ForgeEntry {
    let token = Some(SecretSource::Env(token.to_owned()));
    ForgeEntry { kind, url: Some(url.to_owned()), token, author_token: None, ca: None, proxy: None, timeout: None }
}

fn named(entries: &[ForgeEntry]) -> BTreeMap<String, ForgeEntry> {
    entries.iter().enumerate().map(|(at, entry)| (format!("forge{at}"), entry.clone())).collect()
}

const TOKEN: (&str, &str) = ("REFEREE_TOKEN", "mine");

#[test]
fn a_pull_url_and_a_token_are_enough() {
    let run = Run { reference: Some("http://127.0.0.1:3000/git/acme/api/pulls/1"), env: vec![TOKEN], ..Run::default() };
    assert_eq!(run.describe(), "http://127.0.0.1:3000/git acme/api #1 mine");
}

#[test]
fn a_pull_url_wins_over_ci_variables_the_operator_file_and_the_remote() {
    let forges = named(&[entry(ForgeKind::Gitea, "https://git.example.org", "WORK")]);
    let env = [JOB, &[TOKEN]].concat();
    let reference = Some("https://other.example.org/a/b/pulls/2");
    let run = Run { reference, env, forges, origin: Some(HERE), ..Run::default() };
    assert_eq!(run.describe(), "https://other.example.org/ a/b #2 mine");
}

// spec: D45 @core
#[test]
fn a_server_that_only_the_remote_names_gets_no_token() {
    for token in [TOKEN, ("GITEA_TOKEN", "gitea"), ("FORGEJO_TOKEN", "forgejo"), ("GITEA_SERVER_TOKEN", "tea")] {
        for origin in [HERE, "git@git.example.org:acme/api.git", "http://git.example.org/acme/api"] {
            for reference in [None, Some("7"), Some("#7"), Some("!7")] {
                let run = Run { reference, env: vec![token], origin: Some(origin), ..Run::default() };
                assert!(run.describe().starts_with("no token for http"), "{}", run.describe());
            }
            // An option that asks for a forge fails at once and says what to set.
            let kind = ForgeOptions { kind: Some(ForgeKind::Gitea), ..ForgeOptions::default() };
            let named = Run { reference: Some("acme/web#7"), env: vec![token], origin: Some(origin), ..Run::default() };
            let asked = Run { given: kind, env: vec![token], origin: Some(origin), ..Run::default() };
            for run in [named, asked] {
                let failure = run.choose().expect_err("no token");
                assert_eq!(failure.to_json()["exit"], 4);
                let text = failure.render();
                assert!(
                    text.contains("only the remote `origin`") && text.contains("`REFEREE_FORGE_URL=http"),
                    "{text}"
                );
            }
        }
    }
}

// spec: D45 @core
#[test]
fn a_named_server_gets_the_token_also_if_the_remote_names_it() {
    let url = Some(Url::parse("https://git.example.org").expect("an address"));
    let given = ForgeOptions { url, ..ForgeOptions::default() };
    let run =
        |reference| Run { reference, given: given.clone(), env: vec![TOKEN], origin: Some(HERE), ..Run::default() };
    assert_eq!(run(None).describe(), "https://git.example.org/ acme/api branch mine");
    for reference in ["7", "#7", "!7"] {
        assert_eq!(run(Some(reference)).describe(), "https://git.example.org/ acme/api #7 mine");
    }
    assert_eq!(run(Some("acme/web#7")).describe(), "https://git.example.org/ acme/web #7 mine");
    let forges = named(&[ForgeEntry { token: None, ..entry(ForgeKind::Gitea, "https://git.example.org", "") }]);
    let run = Run { env: vec![TOKEN], forges, origin: Some(HERE), ..Run::default() };
    assert_eq!(run.describe(), "https://git.example.org/ acme/api branch mine");
}

// spec: D45 @core
#[test]
fn a_forges_own_variable_goes_to_its_public_server_or_the_one_its_companion_names() {
    let (gitea, forgejo) = (("GITEA_TOKEN", "gitea"), ("FORGEJO_TOKEN", "forgejo"));
    let here = ("GITEA_SERVER_URL", "https://git.example.org/");
    for (env, origin, want) in [
        (vec![gitea], "https://gitea.com/acme/api", "https://gitea.com/ acme/api branch gitea"),
        (vec![forgejo], "git@codeberg.org:acme/api", "https://codeberg.org/ acme/api branch forgejo"),
        (vec![gitea, here], HERE, "https://git.example.org/ acme/api branch gitea"),
        (vec![("GITEA_SERVER_TOKEN", "tea"), here], HERE, "https://git.example.org/ acme/api branch tea"),
        (vec![gitea, ("GITEA_INSTANCE_URL", here.1)], HERE, "https://git.example.org/ acme/api branch gitea"),
        (vec![forgejo, ("FORGEJO_SERVER_URL", here.1)], HERE, "https://git.example.org/ acme/api branch forgejo"),
        // Another forge's server, another host, and the same host without TLS.
        (vec![gitea], "https://codeberg.org/acme/api", "no token for https://codeberg.org/"),
        (vec![forgejo, here], HERE, "no token for https://git.example.org/"),
        (
            vec![gitea, here],
            "https://git.example.org.evil.example/a/b",
            "no token for https://git.example.org.evil.example/",
        ),
        (vec![gitea, here], "http://git.example.org/acme/api", "no token for http://git.example.org/"),
        (vec![TOKEN, here], HERE, "no token for https://git.example.org/"),
    ] {
        let run = Run { env, origin: Some(origin), ..Run::default() };
        assert_eq!(run.describe(), want, "{origin}");
    }
    let typed = Run { reference: Some("https://git.example.org/a/b/pulls/1"), env: vec![gitea], ..Run::default() };
    assert!(typed.describe().contains("`GITEA_SERVER_URL`"), "{}", typed.describe());
}

// spec: D45 @core
#[test]
fn the_token_of_an_https_server_is_not_sent_over_http() {
    let forges = named(&[entry(ForgeKind::Gitea, "https://git.example.org", "WORK")]);
    let reference = Some("http://git.example.org/acme/api/pulls/7");
    let run = Run { reference, env: vec![("WORK", "work")], forges, ..Run::default() };
    assert!(run.describe().contains("only sent over `https`"), "{}", run.describe());
    let job = [("GITEA_ACTIONS", "true"), ("GITHUB_SERVER_URL", "https://git.example.org"), ("GITHUB_TOKEN", "job")];
    let run = Run { reference, env: job.to_vec(), ..Run::default() };
    assert!(run.describe().contains("there is no token for it"), "{}", run.describe());
}

// spec: D45 @core
#[test]
fn tokens_of_identities_go_only_to_servers_of_the_operator_file() {
    let server = |text: &str| Url::parse(text).expect("an address");
    let forges = named(&[entry(ForgeKind::Gitea, "https://git.example.org", "WORK")]);
    assert!(may_use_identities(&server("https://git.example.org"), &forges));
    for other in ["https://evil.example.org", "http://git.example.org", "https://git.example.org:8443"] {
        assert!(!may_use_identities(&server(other), &forges), "{other}");
    }
    assert!(may_use_identities(&server("https://any.example.org"), &BTreeMap::new()));
}

#[test]
fn without_a_token_or_a_forge_pulls_are_local() {
    for run in [
        Run { origin: Some(HERE), ..Run::default() },
        Run { env: vec![TOKEN], ..Run::default() },
        Run { env: vec![TOKEN], origin: Some("/srv/git/api.git"), ..Run::default() },
        Run { reference: Some("7"), origin: Some(HERE), ..Run::default() },
        Run {
            reference: Some("7"),
            env: vec![("REFEREE_TOKEN", " "), ("GITHUB_TOKEN", "x")],
            origin: Some(HERE),
            ..Run::default()
        },
    ] {
        assert_eq!(run.describe(), "local", "{:?}", run.reference);
    }
}

#[test]
fn references_to_local_pulls_stay_local() {
    for reference in ["L7", "main..HEAD", ".", "staged"] {
        let env = [JOB, &[TOKEN]].concat();
        let run = Run { reference: Some(reference), env, origin: Some(HERE), ..Run::default() };
        assert_eq!(run.describe(), "local", "{reference}");
    }
    let given = ForgeOptions { kind: Some(ForgeKind::Local), ..ForgeOptions::default() };
    let run = Run { given: given.clone(), env: vec![TOKEN], origin: Some(HERE), ..Run::default() };
    assert_eq!(run.describe(), "local");
    let run = Run { reference: Some("acme/api#7"), given, env: vec![TOKEN], ..Run::default() };
    assert!(run.describe().contains("is not a local pull"), "{}", run.describe());
}

#[test]
fn ci_variables_win_over_the_operator_file_and_the_remote() {
    let forges = named(&[entry(ForgeKind::Gitea, "https://git.example.org", "WORK")]);
    let env = [JOB, &[("WORK", "of the operator")]].concat();
    let run = Run { env, forges, origin: Some(HERE), ..Run::default() };
    assert_eq!(run.describe(), "http://gitea:3000/ acme/web #9 of the job");
    let numbered = Run { reference: Some("7"), env: JOB.to_vec(), origin: Some(HERE), ..Run::default() };
    assert_eq!(numbered.describe(), "http://gitea:3000/ acme/web #7 of the job");
    let other = Run { reference: Some("acme/api#7"), env: JOB.to_vec(), ..Run::default() };
    assert_eq!(other.describe(), "http://gitea:3000/ acme/api #7 of the job");
}

#[test]
fn the_pull_of_a_ci_job_applies_to_its_repository_only() {
    let given = ForgeOptions { repo: Some("acme/api".parse().expect("a repository")), ..ForgeOptions::default() };
    assert_eq!(
        Run { given, env: JOB.to_vec(), ..Run::default() }.describe(),
        "http://gitea:3000/ acme/api branch of the job"
    );
}

#[test]
fn the_forge_of_the_operator_file_is_the_one_of_the_remote() {
    let forges = named(&[
        entry(ForgeKind::Gitea, "https://other.example.org", "OTHER"),
        entry(ForgeKind::Forgejo, "https://git.example.org:8443/git", "WORK"),
    ]);
    let env = vec![("OTHER", "other"), ("WORK", "work")];
    let ssh = Some("git@git.example.org:acme/api.git");
    let run = Run { env: env.clone(), forges: forges.clone(), origin: ssh, ..Run::default() };
    assert_eq!(run.describe(), "https://git.example.org:8443/git acme/api branch work");
    let Ok(SiteChoice::Server(site)) = run.choose() else { panic!("a forge") };
    assert_eq!(site.kind, Some(ForgeKind::Forgejo));
    let reference = Some("acme/api#7");
    assert!(
        Run { reference, env, forges, ..Run::default() }.describe().contains("no forge is known"),
        "two could be meant"
    );
}

#[test]
fn a_repository_name_alone_means_the_only_forge_of_the_operator_file() {
    let forges = named(&[entry(ForgeKind::Gitea, "https://work.example.org", "WORK")]);
    let env = vec![("WORK", "work")];
    let reference = Some("acme/api#7");
    let run = Run { reference, env: env.clone(), forges: forges.clone(), origin: Some(HERE), ..Run::default() };
    assert_eq!(run.describe(), "https://work.example.org/ acme/api #7 work");
    assert_eq!(
        Run { env, forges, origin: Some(HERE), ..Run::default() }.describe(),
        "local",
        "no token for the remote"
    );
}

#[test]
fn flags_win_over_inferred_values() {
    let given = ForgeOptions {
        kind: Some(ForgeKind::Gitea),
        url: Some(Url::parse("https://flag.example.org/git").expect("an address")),
        repo: Some("own/er".parse().expect("a repository")),
    };
    let env = [JOB, &[TOKEN]].concat();
    let run = Run { given: given.clone(), env, origin: Some(HERE), ..Run::default() };
    assert_eq!(run.describe(), "https://flag.example.org/git own/er branch mine");
    let run = Run { given: ForgeOptions { repo: None, ..given }, env: vec![TOKEN], ..Run::default() };
    assert!(run.describe().contains("no repository of"), "{}", run.describe());
}

#[test]
fn tokens_are_tried_in_order() {
    let forges = named(&[entry(ForgeKind::Gitea, "https://git.example.org", "WORK")]);
    let all = [
        TOKEN,
        ("FORGEJO_TOKEN", "forgejo"),
        ("GITEA_TOKEN", "gitea"),
        ("GITEA_SERVER_TOKEN", "tea"),
        ("WORK", "work"),
    ];
    let servers = [("FORGEJO_SERVER_URL", "https://git.example.org"), ("GITEA_SERVER_URL", "https://git.example.org")];
    for (from, token) in ["mine", "forgejo", "gitea", "tea", "work"].iter().enumerate() {
        let env = [&all[from..], &servers].concat();
        let run = Run { env, forges: forges.clone(), origin: Some(HERE), ..Run::default() };
        assert!(run.describe().ends_with(token), "{}", run.describe());
    }
    let own = [("FORGEJO_TOKEN", "forgejo"), ("GITEA_TOKEN", "gitea")];
    for (from, token) in ["forgejo", "gitea", "of the job"].iter().enumerate() {
        assert!(Run { env: [JOB, &own[from..]].concat(), ..Run::default() }.describe().ends_with(token), "{from}");
    }
}

#[test]
fn a_ci_jobs_token_is_sent_to_no_other_server() {
    let env = [JOB, &[("GITEA_TOKEN", "gitea")]].concat();
    let run = Run { reference: Some("https://evil.example.org/a/b/pulls/1"), env, ..Run::default() };
    let failure = run.choose().expect_err("no token");
    assert!(failure.render().contains("there is no token for it"), "{}", failure.render());
    assert_eq!(failure.to_json()["exit"], 4);
}

#[test]
fn a_missing_secret_is_reported_with_its_source() {
    let forges = named(&[entry(ForgeKind::Gitea, "https://git.example.org", "WORK")]);
    let run = Run { reference: Some("acme/api#7"), forges, ..Run::default() };
    assert!(run.describe().contains("the variable `WORK` is not set"), "{}", run.describe());
}

#[test]
fn an_unsupported_forge_is_reported_or_ignored() {
    let forges = named(&[ForgeEntry { url: None, ..entry(ForgeKind::Github, "", "HUB") }]);
    let env = vec![("HUB", "hub")];
    let origin = Some("https://github.com/acme/api");
    let asked =
        Run { reference: Some("acme/api#7"), env: env.clone(), forges: forges.clone(), origin, ..Run::default() };
    assert!(asked.describe().contains("does not support yet"), "{}", asked.describe());
    assert_eq!(Run { env, forges, origin, ..Run::default() }.describe(), "local");
    let job = vec![
        TOKEN,
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_SERVER_URL", "https://github.com"),
        ("GITHUB_REPOSITORY", "acme/api"),
    ];
    assert_eq!(Run { env: job, origin, ..Run::default() }.describe(), "local");
}
