//! Resolved values and their origins.

use std::collections::BTreeSet;

use referee_core::model::{Class, Login, Severity, Span};
use referee_core::plan::Gate;
use referee_core::policy::{ApprovalMode, GateSetting, Policy, ReviewStart, Role};

use super::super::key::{KeyDefault, ValueType};
use super::super::layers::collect_policy_keys;
use super::super::resolved::{
    CommandEntry, IdentityEntry, ModelEntry, ModelProvider, OnError, QueueBackend, ServeConfig, WebhookEntry,
};
use super::super::validate::parse_default;
use super::super::*;
use super::{build_layers, empty_env, load_pair, operator_example};

fn find_origin<'a>(config: &'a ResolvedConfig, key: &str) -> (&'a str, &'a str) {
    let origin = config.origins.iter().find(|origin| origin.key == key).expect("every value has an origin");
    (&origin.value, &origin.origin)
}

fn load_defaults(local: bool) -> ResolvedConfig {
    let user = Some(Login::from("alice"));
    load_config(&ConfigLayers { repository: None, operator: None, flags: &[], is_local: local, user, env: &empty_env })
        .expect("nothing is wrong")
}

fn static_role(config: &ResolvedConfig) -> Role {
    // Which hash it is does not matter here.
    Role { free: true, inputs: config.policy.roles[0].inputs.clone(), ..Role::new("static") }
}

#[test]
fn without_config_the_defaults_apply() {
    let config = load_defaults(false);
    let policy = Policy { roles: vec![static_role(&config)], ..Policy::default() };
    assert_eq!(config.policy, policy);
    assert_eq!(config.exclude, ["**/*.lock"]);
    assert_eq!((config.max_threads, config.on_error, config.journal_texts), (100, OnError::Retry, true));
    assert_eq!((config.serve, config.queue, config.reply_template), (None, QueueBackend::Embedded, None));
    assert_eq!(config.warnings, Vec::<String>::new());
}

#[test]
fn local_pulls_have_other_defaults() {
    let config = load_defaults(true);
    let mut policy = Policy {
        roles: vec![static_role(&config)],
        ci_required: false,
        operator: Some(Login::from("alice")),
        approve: ApprovalMode::On,
        author_may_accept: true,
        ..Policy::default()
    };
    policy.gates.extend([Gate::Reply, Gate::Resolve, Gate::Label].map(|gate| (gate, GateSetting::On)));
    assert_eq!(config.policy, policy);
    assert_eq!(config.policy.gates[&Gate::Work], GateSetting::Ask);
    assert_eq!(find_origin(&config, "review.ci"), ("\"optional\"", "default on local pulls"));
    assert_eq!(find_origin(&config, "loop.operator"), ("\"alice\"", "the git user, by default on local pulls"));
}

/// No model reviewer exists yet, so a role for it could only fail.
#[test]
fn a_model_key_in_the_environment_adds_no_role_yet() {
    let env = |name: &str| (name == "OPENAI_API_KEY").then(|| "sk-1".to_owned());
    let config = load_config(&build_layers("", None, &[], &env)).expect("nothing is wrong");
    assert_eq!(config.policy.roles, [static_role(&config)]);
    assert_eq!(config.roles[0].reviewer, ReviewerKind::Builtin);
    assert_eq!(find_origin(&config, "role.static.builtin"), ("true", "default"));
}

#[test]
fn the_operator_caps_the_gates_of_the_repository_and_never_raises_them() {
    let repository = "[gates]\nreply = \"on\"\nresolve = \"off\"\n[budget]\npull = { usd = 9.5, runs = 3 }\n";
    let operator = "[gates]\nreview = \"off\"\napprove = \"off\"\nreply = \"ask\"\nresolve = \"on\"\n\
                    [budget]\npull = { usd = 2, runs = 5 }\n";
    let config = load_pair(repository, Some(operator)).expect("nothing is wrong");
    let gates = &config.policy.gates;
    assert_eq!(gates[&Gate::Review], GateSetting::Off);
    assert_eq!(gates[&Gate::Reply], GateSetting::Ask);
    assert_eq!(gates[&Gate::Resolve], GateSetting::Off);
    assert_eq!(gates[&Gate::Label], GateSetting::Ask);
    assert_eq!(config.policy.approve, ApprovalMode::Off);
    assert_eq!((config.policy.budget.micro_usd, config.policy.budget.runs), (2_000_000, 3));
    let capped = "operator.toml, line 4 (a ceiling; referee.toml at main@3f2c1e9, line 2 says \"on\")";
    assert_eq!(find_origin(&config, "gates.reply"), ("\"ask\"", capped));
    assert_eq!(
        find_origin(&config, "gates.review"),
        ("\"off\"", "operator.toml, line 2 (a ceiling; default says \"on\")")
    );
    assert_eq!(find_origin(&config, "gates.resolve"), ("\"off\"", "referee.toml at main@3f2c1e9, line 3"));
    assert_eq!(find_origin(&config, "budget.pull.usd").0, "2.00");
}

#[test]
fn a_flag_beats_the_environment_which_beats_the_file_which_beats_the_default() {
    let file = "[loop]\nrounds = 4\n";
    let env = |name: &str| (name == "REFEREE_LOOP_ROUNDS").then(|| "5".to_owned());
    let flags = [FlagOverride { name: "--rounds", key: "loop.rounds", value: "6" }];
    let rounds = |config: ResolvedConfig| (config.policy.rounds, find_origin(&config, "loop.rounds").1.to_owned());
    let load = |layers: ConfigLayers<'_>| rounds(load_config(&layers).expect("nothing is wrong"));
    assert_eq!(load(build_layers("", None, &[], &empty_env)), (3, "default".into()));
    assert_eq!(load(build_layers(file, None, &[], &empty_env)), (4, "referee.toml at main@3f2c1e9, line 2".into()));
    assert_eq!(load(build_layers(file, None, &[], &env)), (5, "the variable REFEREE_LOOP_ROUNDS".into()));
    assert_eq!(load(build_layers(file, None, &flags, &env)), (6, "--rounds".into()));
    let empty = |_: &str| Some(String::new());
    assert_eq!(load(build_layers(file, None, &[], &empty)).0, 4);
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_accepted() {
    let config = load_pair("\u{feff}version = 1\r\n[loop]\r\nrounds = 4\r\n", None).expect("nothing is wrong");
    assert_eq!(find_origin(&config, "loop.rounds"), ("4", "referee.toml at main@3f2c1e9, line 3"));
}

#[test]
fn a_ceiling_caps_flags_and_the_environment_too() {
    let flags = [FlagOverride { name: "--gate-work", key: "gates.work", value: "on" }];
    let env = |name: &str| (name == "REFEREE_GATES_LABEL").then(|| "on".to_owned());
    let config = load_config(&build_layers("", Some("[gates]\nwork = \"off\"\nlabel = \"ask\"\n"), &flags, &env))
        .expect("right");
    assert_eq!(config.policy.gates[&Gate::Work], GateSetting::Off);
    assert_eq!(config.policy.gates[&Gate::Label], GateSetting::Ask);
}

#[test]
fn every_policy_key_changes_the_policy() {
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
    let config = load_pair(text, None).expect("nothing is wrong");
    let Policy { threads, budget, gates, .. } = &config.policy;
    assert_eq!(
        (config.policy.start, config.policy.max_inline, config.policy.risk_warnings),
        (ReviewStart::CiGreen, 0, 7)
    );
    assert_eq!((config.policy.status, config.policy.notify, config.policy.ci_required), (false, false, false));
    assert_eq!(config.policy.floor, [Severity::Warning, Severity::Warning, Severity::Critical]);
    assert_eq!((config.policy.rounds, &config.policy.operator), (9, &Some(Login::from("carol"))));
    assert_eq!(config.policy.approve, ApprovalMode::On);
    let settings = [GateSetting::Ask, GateSetting::On, GateSetting::On, GateSetting::Off, GateSetting::On];
    assert_eq!(gates.values().copied().collect::<Vec<_>>(), settings);
    assert_eq!((threads.enabled, threads.resolve_invalid, threads.require_checks), (false, true, false));
    assert_eq!((threads.reply_needs_human, threads.max_resolve), (true, 1));
    assert_eq!(threads.auto_resolve, BTreeSet::from([Class::Stale, Class::AlreadyFixed]));
    assert_eq!((budget.tokens, budget.micro_usd, budget.runs, budget.writes), (1, 250_000, 2, 3));
    assert_eq!(config.policy.break_glass, BTreeSet::from([Login::from("dave")]));
    assert_eq!(config.policy.protected, ["x"]);
    assert_eq!((config.max_threads, config.reply_template.as_deref()), (5, Some("reply.txt")));
    assert_eq!((config.on_error, config.policy.people_write), (OnError::Review, BTreeSet::from([Login::from("erin")])));
    assert_eq!(
        (config.exclude.as_slice(), config.checks["test"].as_slice()),
        (&["a".into()][..], &["make".into(), "test".into()][..])
    );
}

#[test]
fn every_entry_of_the_operator_file_is_read() {
    let config = load_pair("", Some(operator_example())).expect("nothing is wrong");
    let env = |name: &str| Some(SecretSource::Env(name.to_owned()));
    let forge = ForgeEntry {
        kind: referee_forge::ForgeKind::Gitea,
        url: Some("https://git.example.org".into()),
        token: env("REFEREE_TOKEN"),
        author_token: env("AUTHOR_TOKEN"),
        ca: Some("/etc/ssl/our-ca.pem".into()),
        proxy: Some("http://127.0.0.1:3128".into()),
        timeout: Some(Span(60)),
    };
    assert_eq!(config.forges["work"], forge);
    let identity = IdentityEntry { token: env("SEC_TOKEN"), login: Some(Login::from("sec-bot")) };
    assert_eq!(config.identities["sec"], identity);
    let model = ModelEntry {
        provider: ModelProvider::Openai,
        model: "large".into(),
        base_url: Some("http://127.0.0.1:8080/v1".into()),
        key: env("OPENAI_API_KEY"),
        fallback: vec!["second".into()],
    };
    assert_eq!(config.models["default"], model);
    let argv = ["cargo", "clippy", "--message-format=json"].map(String::from).to_vec();
    let command =
        CommandEntry { argv, format: "cargo".into(), ok_codes: vec![0, 101], timeout: Span::from_minutes(10) };
    assert_eq!(config.commands["clippy"], command);
    assert_eq!(config.agents["claude"], ["claude", "-p"]);
    let worker = WorkerEntry {
        agent: "claude".into(),
        timeout: Span::from_minutes(50),
        sandbox: 2,
        egress: vec!["127.0.0.1:8080".into()],
        env: vec!["ANTHROPIC_API_KEY".into()],
    };
    assert_eq!(config.workers["findings"], worker);
    let hook = WebhookEntry { forge: "work".into(), secret: SecretSource::Env("ACME_HOOK_SECRET".into()) };
    let serve = ServeConfig {
        listen: "127.0.0.1:7300".into(),
        sweep: Span::from_minutes(15),
        projects: vec!["api.yaml".into()],
        hooks: [("acme".to_owned(), hook)].into(),
    };
    assert_eq!(config.serve, Some(serve));
    assert_eq!(config.mark_keys, [SecretSource::File("~/.config/referee/mark.key".into())]);
    assert_eq!(config.mark_since.map(|since| since.to_string()).as_deref(), Some("2026-11-15 00:00 UTC"));
    assert_eq!(find_origin(&config, "models.second.fallback"), ("[]", "default"));
    let (value, place) = find_origin(&config, "forge.work.gitea.token.env");
    assert_eq!(value, "\"REFEREE_TOKEN\"");
    assert!(place.starts_with("operator.toml, line "), "{place}");
}

#[test]
fn short_entries_get_their_defaults() {
    let operator = "[commands.a]\nargv = [\"a\"]\n[serve]\n[store]\nqueue = { nats = \"nats://n:1\" }\n[journal]\ntexts = \"off\"\n";
    let config = load_pair("", Some(operator)).expect("nothing is wrong");
    let command = &config.commands["a"];
    assert_eq!((command.format.as_str(), command.ok_codes.as_slice()), ("referee", &[0][..]));
    assert_eq!(config.serve.expect("configured").listen, "127.0.0.1:7300");
    assert_eq!((config.queue, config.journal_texts), (QueueBackend::Nats("nats://n:1".into()), false));
}

#[test]
fn keys_that_this_version_does_not_use_are_named() {
    let repository = "guards.on_error = \"review\"\n[[role]]\nname = \"a\"\nbuiltin = true\nrules = [\"R.md\"]\n";
    let operator = "[models.m]\nprovider = \"ollama\"\nmodel = \"m\"\n[serve]\n";
    let warnings = load_pair(repository, Some(operator)).expect("nothing is wrong").warnings;
    assert_eq!(
        warnings,
        [
            "`guards.on_error = \"review\"` has no effect: a pull that cannot be read is read again, and not reviewed",
            "`[serve]` or `[store]` has no effect: this version has no daemon",
            "`[models]` has no effect: this version runs no models",
            "`rules` of the role `a` has no effect: only workers get the guidance, not the reviewer",
        ]
    );
}

#[test]
fn roles_keep_their_order_and_get_the_login_of_their_identity() {
    let text = "[[role]]\nname = \"z\"\nmodel = \"default\"\nidentity = \"sec\"\npaths = [\"src/**\"]\nrules = [\"R.md\"]\n\
                [[role]]\nname = \"a\"\ncommand = \"clippy\"\nblocks = false\n";
    let config = load_pair(text, Some(operator_example())).expect("nothing is wrong");
    let (z, a) = (&config.policy.roles[0], &config.policy.roles[1]);
    assert_eq!((z.name.as_str(), z.identity.as_ref(), z.blocks), ("z", Some(&Login::from("sec-bot")), true));
    assert_eq!((a.name.as_str(), a.identity.as_ref(), a.blocks), ("a", None, false));
    assert_eq!(z.paths, ["src/**"]);
    let z = RoleConfig {
        name: "z".into(),
        reviewer: ReviewerKind::Model("default".into()),
        tool_levels: BTreeMap::new(),
        rules: vec!["R.md".into()],
        identity: Some("sec".into()),
    };
    assert_eq!((&config.roles[0], &config.roles[1].reviewer), (&z, &ReviewerKind::Command("clippy".into())));
    assert_eq!(find_origin(&config, "role.a.command"), ("\"clippy\"", "referee.toml at main@3f2c1e9, line 9"));
}

#[test]
fn without_an_operator_file_a_role_that_needs_it_is_a_warning() {
    let config = load_pair("[[role]]\nname = \"lint\"\ncommand = \"clippy\"\n", None).expect("the rest can go on");
    let warning =
        "`[commands.clippy]` is missing: referee.toml at main@3f2c1e9, line 3, names it, but there is no operator file";
    assert_eq!(config.warnings, [warning]);
    assert_eq!(config.roles[0].reviewer, ReviewerKind::Command("clippy".into()));
}

#[test]
fn every_default_has_the_type_of_its_key() {
    let mut count = 0;
    for (path, key) in collect_policy_keys() {
        let KeyDefault::Layered { forge, local } = key.default else { panic!("{path} has no default") };
        for default in [forge, local].into_iter().filter(|default| !default.is_empty()) {
            assert!(parse_default(&key.value_type, default).is_some(), "{path}: {default}");
            count += 1;
        }
    }
    assert!(count > 50);
}

/// A word that its enum does not know would silently become the default.
#[test]
fn every_word_of_an_enum_key_has_its_own_effect() {
    for (path, key) in collect_policy_keys() {
        let ValueType::Enum(words) = key.value_type else { continue };
        let loaded: Vec<ResolvedConfig> = words
            .iter()
            .map(|word| {
                let flags = [FlagOverride { name: "--flag", key: &path, value: word }];
                let mut config = load_config(&build_layers("", None, &flags, &empty_env)).expect("the word is known");
                config.origins.clear();
                config
            })
            .collect();
        for (index, config) in loaded.iter().enumerate() {
            let same = loaded.iter().filter(|other| *other == config).count();
            assert_eq!(same, 1, "{path} = {}", words[index]);
        }
    }
}
