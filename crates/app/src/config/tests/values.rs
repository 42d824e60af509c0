//! What holds in the end, and where it comes from.

use std::collections::BTreeSet;

use referee_core::model::{Class, Login, RoleName, Severity, Span};
use referee_core::plan::Gate;
use referee_core::policy::{ApprovalMode, GateSetting, Policy, ReviewStart, Role};

use super::super::key::{KeyDefault, ValueType};
use super::super::layers::collect_policy_keys;
use super::super::validate::parse_default;
use super::super::*;
use super::{build_layers, empty_env, load_pair};

fn find_origin<'a>(setup: &'a ResolvedConfig, key: &str) -> (&'a str, &'a str) {
    let origin = setup.origins.iter().find(|origin| origin.key == key).expect("every value has an origin");
    (&origin.value, &origin.origin)
}

fn load_defaults(local: bool) -> ResolvedConfig {
    let user = Some(Login::from("alice"));
    load_config(&ConfigLayers { repository: None, operator: None, flags: &[], is_local: local, user, env: &empty_env })
        .expect("nothing is wrong")
}

fn static_role() -> Role {
    Role { name: RoleName::from("static"), identity: None, blocks: true, paths: Vec::new(), ad_hoc: false }
}

fn protected() -> Vec<String> {
    [".github/**", ".gitea/**", ".forgejo/**", ".gitlab-ci.yml", "referee.toml", "CODEOWNERS"].map(String::from).into()
}

#[test]
fn without_config_the_defaults_hold() {
    let setup = load_defaults(false);
    let policy = Policy { roles: vec![static_role()], protected: protected(), ..Policy::default() };
    assert_eq!(setup.policy, policy);
    assert_eq!(setup.exclude, ["**/*.lock"]);
    assert_eq!((setup.max_threads, setup.on_error, setup.journal_texts), (100, OnError::Retry, true));
    assert_eq!((setup.serve, setup.queue, setup.reply_template), (None, QueueBackend::Embedded, None));
    assert_eq!(setup.warnings, Vec::<String>::new());
}

#[test]
fn on_local_pulls_other_defaults_hold() {
    let setup = load_defaults(true);
    let mut policy = Policy {
        roles: vec![static_role()],
        protected: protected(),
        ci_required: false,
        operator: Some(Login::from("alice")),
        approve: ApprovalMode::On,
        author_may_accept: true,
        ..Policy::default()
    };
    policy.gates.extend([Gate::Reply, Gate::Resolve, Gate::Label].map(|gate| (gate, GateSetting::On)));
    assert_eq!(setup.policy, policy);
    assert_eq!(setup.policy.gates[&Gate::Work], GateSetting::Ask);
    assert_eq!(find_origin(&setup, "review.ci"), ("\"optional\"", "default on local pulls"));
    assert_eq!(find_origin(&setup, "loop.operator"), ("\"alice\"", "the git user, by default on local pulls"));
}

/// Until a model can be run, its key in the environment adds no role that could only fail.
#[test]
fn a_model_key_in_the_environment_adds_no_role_yet() {
    let env = |name: &str| (name == "OPENAI_API_KEY").then(|| "sk-1".to_owned());
    let setup = load_config(&build_layers("", None, &[], &env)).expect("nothing is wrong");
    assert_eq!(setup.policy.roles, [static_role()]);
    assert_eq!(setup.roles[0].reviewer, ReviewerKind::Builtin);
    assert_eq!(find_origin(&setup, "role.static.builtin"), ("true", "default"));
}

#[test]
fn the_operator_caps_the_gates_of_the_repository_and_never_raises_them() {
    let repository = "[gates]\nreply = \"on\"\nresolve = \"off\"\n[budget]\npull = { usd = 9.5, runs = 3 }\n";
    let operator = "[gates]\nreview = \"off\"\napprove = \"off\"\nreply = \"ask\"\nresolve = \"on\"\n\
                    [budget]\npull = { usd = 2, runs = 5 }\n";
    let setup = load_pair(repository, Some(operator)).expect("nothing is wrong");
    let gates = &setup.policy.gates;
    assert_eq!(gates[&Gate::Review], GateSetting::Off);
    assert_eq!(gates[&Gate::Reply], GateSetting::Ask);
    assert_eq!(gates[&Gate::Resolve], GateSetting::Off);
    assert_eq!(gates[&Gate::Label], GateSetting::Ask);
    assert_eq!(setup.policy.approve, ApprovalMode::Off);
    assert_eq!((setup.policy.budget.micro_usd, setup.policy.budget.runs), (2_000_000, 3));
    let capped = "operator.toml, line 4 (a ceiling; referee.toml at main@3f2c1e9, line 2 says \"on\")";
    assert_eq!(find_origin(&setup, "gates.reply"), ("\"ask\"", capped));
    assert_eq!(
        find_origin(&setup, "gates.review"),
        ("\"off\"", "operator.toml, line 2 (a ceiling; default says \"on\")")
    );
    assert_eq!(find_origin(&setup, "gates.resolve"), ("\"off\"", "referee.toml at main@3f2c1e9, line 3"));
    assert_eq!(find_origin(&setup, "budget.pull.usd").0, "2.00");
}

#[test]
fn a_flag_beats_the_environment_which_beats_the_file_which_beats_the_default() {
    let file = "[loop]\nrounds = 4\n";
    let env = |name: &str| (name == "REFEREE_LOOP_ROUNDS").then(|| "5".to_owned());
    let flags = [FlagOverride { name: "--rounds", key: "loop.rounds", value: "6" }];
    let rounds = |setup: ResolvedConfig| (setup.policy.rounds, find_origin(&setup, "loop.rounds").1.to_owned());
    let load = |layers: ConfigLayers<'_>| rounds(load_config(&layers).expect("nothing is wrong"));
    assert_eq!(load(build_layers("", None, &[], &empty_env)), (3, "default".into()));
    assert_eq!(load(build_layers(file, None, &[], &empty_env)), (4, "referee.toml at main@3f2c1e9, line 2".into()));
    assert_eq!(load(build_layers(file, None, &[], &env)), (5, "the variable REFEREE_LOOP_ROUNDS".into()));
    assert_eq!(load(build_layers(file, None, &flags, &env)), (6, "--rounds".into()));
    let empty = |_: &str| Some(String::new());
    assert_eq!(load(build_layers(file, None, &[], &empty)).0, 4);
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_taken() {
    let setup = load_pair("\u{feff}version = 1\r\n[loop]\r\nrounds = 4\r\n", None).expect("nothing is wrong");
    assert_eq!(find_origin(&setup, "loop.rounds"), ("4", "referee.toml at main@3f2c1e9, line 3"));
}

#[test]
fn a_ceiling_caps_flags_and_the_environment_too() {
    let flags = [FlagOverride { name: "--gate-work", key: "gates.work", value: "on" }];
    let env = |name: &str| (name == "REFEREE_GATES_LABEL").then(|| "on".to_owned());
    let setup = load_config(&build_layers("", Some("[gates]\nwork = \"off\"\nlabel = \"ask\"\n"), &flags, &env))
        .expect("right");
    assert_eq!(setup.policy.gates[&Gate::Work], GateSetting::Off);
    assert_eq!(setup.policy.gates[&Gate::Label], GateSetting::Ask);
}

#[test]
fn every_key_of_the_policy_reaches_it() {
    let text = r#"
        version = 1
        review = { start = "ci_green", exclude = ["a"], max_inline = 0, status = false, notify = false, ci = "optional",
                   floor = ["warning", "warning", "critical"], risk_warnings = 7 }
        loop = { rounds = 9, operator = "carol" }
        gates = { review = "ask", approve = "on", reply = "on", resolve = "on", label = "off", work = "on" }
        threads = { enabled = false, max_threads = 5, auto_resolve = ["stale", "already_fixed"], resolve_invalid = true,
                    reply_needs_human = true, require_checks = false, max_resolve = 1, reply_template = "reply.txt" }
        budget.pull = { tokens = 1, usd = 0.25, runs = 2, writes = 3 }
        guards.on_error = "review"
        break_glass.who = ["dave"]
        people.write = ["erin"]
        work.protected = ["x"]
        checks.test = ["make", "test"]
    "#;
    let setup = load_pair(text, None).expect("nothing is wrong");
    let Policy { threads, budget, gates, .. } = &setup.policy;
    assert_eq!((setup.policy.start, setup.policy.max_inline, setup.policy.risk_warnings), (ReviewStart::CiGreen, 0, 7));
    assert_eq!((setup.policy.status, setup.policy.notify, setup.policy.ci_required), (false, false, false));
    assert_eq!(setup.policy.floor, [Severity::Warning, Severity::Warning, Severity::Critical]);
    assert_eq!((setup.policy.rounds, &setup.policy.operator), (9, &Some(Login::from("carol"))));
    assert_eq!(setup.policy.approve, ApprovalMode::On);
    let settings = [GateSetting::Ask, GateSetting::On, GateSetting::On, GateSetting::Off, GateSetting::On];
    assert_eq!(gates.values().copied().collect::<Vec<_>>(), settings);
    assert_eq!((threads.enabled, threads.resolve_invalid, threads.require_checks), (false, true, false));
    assert_eq!((threads.reply_needs_human, threads.max_resolve), (true, 1));
    assert_eq!(threads.auto_resolve, BTreeSet::from([Class::Stale, Class::AlreadyFixed]));
    assert_eq!((budget.tokens, budget.micro_usd, budget.runs, budget.writes), (1, 250_000, 2, 3));
    assert_eq!(setup.policy.break_glass, BTreeSet::from([Login::from("dave")]));
    assert_eq!(setup.policy.protected, ["x"]);
    assert_eq!((setup.max_threads, setup.reply_template.as_deref()), (5, Some("reply.txt")));
    assert_eq!((setup.on_error, setup.policy.people_write), (OnError::Review, BTreeSet::from([Login::from("erin")])));
    assert_eq!(
        (setup.exclude.as_slice(), setup.checks["test"].as_slice()),
        (&["a".into()][..], &["make".into(), "test".into()][..])
    );
}

#[test]
fn every_entry_of_the_operator_file_is_read() {
    let setup = load_pair("", Some(operator_example())).expect("nothing is wrong");
    let env = |name: &str| Some(SecretSource::Env(name.to_owned()));
    let forge = ForgeEntry {
        kind: referee_forge::ForgeKind::Gitea,
        url: Some("https://git.example.org".into()),
        token: env("REFEREE_TOKEN"),
        author_token: env("AUTHOR_TOKEN"),
        ca: Some("/etc/ssl/our-ca.pem".into()),
        proxy: Some("http://127.0.0.1:3128".into()),
    };
    assert_eq!(setup.forges["work"], forge);
    let identity = IdentityEntry { token: env("SEC_TOKEN"), login: Some(Login::from("sec-bot")) };
    assert_eq!(setup.identities["sec"], identity);
    let model = ModelEntry {
        provider: ModelProvider::Openai,
        model: "large".into(),
        base_url: Some("http://127.0.0.1:8080/v1".into()),
        key: env("OPENAI_API_KEY"),
        fallback: vec!["second".into()],
    };
    assert_eq!(setup.models["default"], model);
    let argv = ["cargo", "clippy", "--message-format=json"].map(String::from).to_vec();
    let command =
        CommandEntry { argv, format: "cargo".into(), ok_codes: vec![0, 101], timeout: Span::from_minutes(10) };
    assert_eq!(setup.commands["clippy"], command);
    assert_eq!(setup.agents["claude"], ["claude", "-p"]);
    let worker = WorkerEntry {
        agent: "claude".into(),
        timeout: Span::from_minutes(50),
        sandbox: 2,
        egress: vec!["127.0.0.1:8080".into()],
        env: vec!["ANTHROPIC_API_KEY".into()],
    };
    assert_eq!(setup.workers["findings"], worker);
    let hook = WebhookEntry { forge: "work".into(), secret: SecretSource::Env("ACME_HOOK_SECRET".into()) };
    let serve = ServeConfig {
        listen: "127.0.0.1:7300".into(),
        sweep: Span::from_minutes(15),
        projects: vec!["api.yaml".into()],
        hooks: [("acme".to_owned(), hook)].into(),
    };
    assert_eq!(setup.serve, Some(serve));
    assert_eq!(setup.mark_keys, [SecretSource::File("~/.config/referee/mark.key".into())]);
    assert_eq!(setup.mark_since.map(|since| since.to_string()).as_deref(), Some("2026-11-15 00:00 UTC"));
    assert_eq!(find_origin(&setup, "models.second.fallback"), ("[]", "default"));
    let (value, place) = find_origin(&setup, "forge.work.gitea.token.env");
    assert_eq!(value, "\"REFEREE_TOKEN\"");
    assert!(place.starts_with("operator.toml, line "), "{place}");
}

#[test]
fn short_entries_get_their_defaults() {
    let operator = "[commands.a]\nargv = [\"a\"]\n[serve]\n[store]\nqueue = { nats = \"nats://n:1\" }\n[journal]\ntexts = \"off\"\n";
    let setup = load_pair("", Some(operator)).expect("nothing is wrong");
    let command = &setup.commands["a"];
    assert_eq!((command.format.as_str(), command.ok_codes.as_slice()), ("referee", &[0][..]));
    assert_eq!(setup.serve.expect("configured").listen, "127.0.0.1:7300");
    assert_eq!((setup.queue, setup.journal_texts), (QueueBackend::Nats("nats://n:1".into()), false));
}

#[test]
fn roles_keep_their_order_and_speak_as_their_identity() {
    let text = "[[role]]\nname = \"z\"\nmodel = \"default\"\nidentity = \"sec\"\npaths = [\"src/**\"]\nrules = [\"R.md\"]\n\
                [[role]]\nname = \"a\"\ncommand = \"clippy\"\nblocks = false\n";
    let setup = load_pair(text, Some(operator_example())).expect("nothing is wrong");
    let (z, a) = (&setup.policy.roles[0], &setup.policy.roles[1]);
    assert_eq!((z.name.as_str(), z.identity.as_ref(), z.blocks), ("z", Some(&Login::from("sec-bot")), true));
    assert_eq!((a.name.as_str(), a.identity.as_ref(), a.blocks), ("a", None, false));
    assert_eq!(z.paths, ["src/**"]);
    let z = RoleConfig {
        name: "z".into(),
        reviewer: ReviewerKind::Model("default".into()),
        rules: vec!["R.md".into()],
        identity: Some("sec".into()),
    };
    assert_eq!((&setup.roles[0], &setup.roles[1].reviewer), (&z, &ReviewerKind::Command("clippy".into())));
    assert_eq!(find_origin(&setup, "role.a.command"), ("\"clippy\"", "referee.toml at main@3f2c1e9, line 9"));
}

#[test]
fn without_an_operator_file_a_role_that_needs_it_is_a_warning() {
    let setup = load_pair("[[role]]\nname = \"lint\"\ncommand = \"clippy\"\n", None).expect("the rest can go on");
    let warning =
        "`[commands.clippy]` is missing: referee.toml at main@3f2c1e9, line 3, names it, and there is no operator file";
    assert_eq!(setup.warnings, [warning]);
    assert_eq!(setup.roles[0].reviewer, ReviewerKind::Command("clippy".into()));
}

#[test]
fn every_default_is_of_its_shape() {
    let mut count = 0;
    for (path, key) in collect_policy_keys() {
        let KeyDefault::Layered { forge, local } = key.default else { panic!("{path} is no leaf") };
        for default in [forge, local].into_iter().filter(|default| !default.is_empty()) {
            assert!(parse_default(&key.value_type, default).is_some(), "{path}: {default}");
            count += 1;
        }
    }
    assert!(count > 50);
}

/// A word of the table that no type knows would be taken for the default.
#[test]
fn every_word_of_a_key_is_told_apart() {
    for (path, key) in collect_policy_keys() {
        let ValueType::Enum(words) = key.value_type else { continue };
        let loaded: Vec<ResolvedConfig> = words
            .iter()
            .map(|word| {
                let flags = [FlagOverride { name: "--it", key: &path, value: word }];
                let mut setup = load_config(&build_layers("", None, &flags, &empty_env)).expect("the word is known");
                setup.origins.clear();
                setup
            })
            .collect();
        for (one, setup) in loaded.iter().enumerate() {
            let same = loaded.iter().filter(|other| *other == setup).count();
            assert_eq!(same, 1, "{path} = {}", words[one]);
        }
    }
}
