//! The examples, the JSON schema and the loader agree with the key table.

use serde_json::Value;

use super::super::key::{ConfigKey, ValueType};
use super::super::key_table::{OPERATOR_KEYS, REPOSITORY_KEYS};
use super::super::*;
use super::{empty_env, load_pair, operator_example};

/// The example with every key uncommented.
fn example_with_all_keys() -> String {
    let uncomment = |line: &str| match line.strip_prefix('#') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_lowercase() || c == '[' || c == '"') => rest.to_owned(),
        _ => line.to_owned(),
    };
    repository_example().lines().map(uncomment).collect::<Vec<_>>().join("\n")
}

fn toml_to_json(text: &str) -> Value {
    serde_json::to_value(text.parse::<toml::Table>().expect("it is TOML")).expect("it has no dates")
}

/// Whether the schema and the loader accept the files.
fn check_both(text: &str, operator: Option<&str>) -> (bool, bool) {
    let schema = build_config_schema();
    let operator_schema = serde_json::json!({ "$ref": "#/$defs/operator", "$defs": schema["$defs"] });
    let schema_accepts = jsonschema::is_valid(&schema, &toml_to_json(text))
        && operator.is_none_or(|text| jsonschema::is_valid(&operator_schema, &toml_to_json(text)));
    (schema_accepts, load_pair(text, operator).is_ok())
}

#[test]
fn the_unchanged_example_equals_the_defaults() {
    let without = load_config(&ConfigLayers {
        repository: None,
        operator: None,
        flags: &[],
        is_local: true,
        user: None,
        env: &empty_env,
    });
    let file = ConfigFile { name: "referee.toml", text: repository_example() };
    let with = load_config(&ConfigLayers {
        repository: Some(file),
        operator: None,
        flags: &[],
        is_local: true,
        user: None,
        env: &empty_env,
    });
    let (mut without, mut with) = (without.expect("right"), with.expect("right"));
    without.origins.clear();
    with.origins.clear();
    assert_eq!(with, without);
}

#[test]
fn the_example_shows_every_key_at_its_default() {
    let example = example_with_all_keys();
    let mut with = load_pair(&example, Some(operator_example())).expect("right");
    let mut without = load_pair("", Some(operator_example())).expect("right");
    let roles: Vec<&str> = with.policy.roles.iter().map(|role| role.name.as_str()).collect();
    assert_eq!(roles, ["static", "security", "lint"]);
    // Keys without a default are shown with a sample value.
    assert_eq!(with.rule_settings.drain(..).count(), 3);
    with.hash_role_inputs();
    assert_eq!(with.policy.roles[0], without.policy.roles[0]);
    assert_eq!(with.policy.operator.take().map(|who| who.to_string()).as_deref(), Some("carol"));
    assert_eq!(with.checks.remove("test").expect("shown"), ["cargo", "test"]);
    assert_eq!(with.policy.protected.drain(..).collect::<Vec<_>>(), ["SECURITY_REVIEW.md"], "the guidance of a role");
    for config in [&mut with, &mut without] {
        config.policy.roles.clear();
        config.roles.clear();
        config.origins.clear();
        config.warnings.clear();
    }
    assert_eq!(with, without);
    assert_eq!(find_missing_keys(REPOSITORY_KEYS, &toml_to_json(&example), ""), Vec::<String>::new());
    assert_eq!(find_missing_keys(OPERATOR_KEYS, &toml_to_json(operator_example()), ""), Vec::<String>::new());
}

/// Returns the keys of the table that a file does not show.
fn find_missing_keys(keys: &[ConfigKey], file: &Value, path: &str) -> Vec<String> {
    let mut missing = Vec::new();
    for key in keys {
        let path = format!("{path}/{}", key.name);
        // The entries of a list or map show all keys together, each of them a part.
        let entries: Vec<&Value> = match &key.value_type {
            ValueType::Map(_) => file[key.name].as_object().into_iter().flat_map(|map| map.values()).collect(),
            ValueType::Roles(_) => file[key.name].as_array().into_iter().flatten().collect(),
            _ => file.get(key.name).into_iter().collect(),
        };
        let keys = match &key.value_type {
            ValueType::Map(entry) if !matches!(entry, ValueType::OneOf(_)) => entry.keys(),
            // The levels of other tools: the example shows two of them.
            ValueType::Table(_) if key.name == "severity" => &[],
            ValueType::Table(keys) | ValueType::Roles(keys) | ValueType::Globs(keys, _) => keys,
            _ => &[],
        };
        if entries.is_empty() {
            missing.push(path.clone());
        }
        let missing_per_entry = entries.iter().map(|entry| find_missing_keys(keys, entry, &path));
        let missing_in_all =
            missing_per_entry.reduce(|one, other| one.into_iter().filter(|key| other.contains(key)).collect());
        missing.extend(missing_in_all.unwrap_or_default());
    }
    missing
}

#[test]
fn schema_and_loader_accept_and_refuse_the_same_files() {
    assert_eq!(check_both(&example_with_all_keys(), Some(operator_example())), (true, true));
    assert_eq!(check_both("", None), (true, true));
    for (repository, operator) in [
        ("version = 2", ""),
        ("reviw = 1", ""),
        ("models = {}", ""),
        ("[loop]\nrounds = 0", ""),
        ("[loop]\nrounds = \"3\"", ""),
        ("[review]\nstart = \"pull\"", ""),
        ("[review]\nfloor = [\"warning\"]", ""),
        ("[budget]\npull = { usd = -1 }", ""),
        ("[checks]\ntest = []", ""),
        ("[checks]\n\"a b\" = [\"x\"]", ""),
        ("[rules]\nx = \"error\"", ""),
        ("[rules]\nx = 1", ""),
        ("[rules]\nin = \"off\"", ""),
        ("[[rules.in]]\nx = \"off\"", ""),
        ("[[rules.in]]\npaths = \"a\"", ""),
        ("[[role]]\nname = \"a\"\nbuiltin = true\nseverity = { fatal = \"off\" }", ""),
        ("[[role]]\nname = \"a\"\nbuiltin = true\nseverity = { error = \"high\" }", ""),
        ("[[role]]\nname = \"a\"", ""),
        ("[[role]]\nbuiltin = true", ""),
        ("[[role]]\nname = \"a\"\nbuiltin = false", ""),
        ("[[role]]\nname = \"a b\"\nbuiltin = true", ""),
        (
            "[[role]]\nname = \"a\"\nbuiltin = true\nmodel = \"default\"",
            "[models.default]\nprovider = \"openai\"\nmodel = \"m\"",
        ),
        ("", "[review]"),
        ("", "[gates]\nreview = \"yes\""),
        ("", "[forge.a.gitea]\ntoken = { env = \"A\" }"),
        ("", "[forge.a.github]\ntoken = \"literal\""),
        ("", "[forge.a.github]\ntoken = { env = \"A\", file = \"/b\" }"),
        ("", "[forge.a.github]\nurl = \"https://me:secret@example.org\""),
        ("", "[forge.a]\ngithub = {}\ngitlab = {}"),
        ("", "[commands.a]\nargv = [\"a\"]\ntimeout = \"soon\""),
        ("", "[serve]\nlisten = \"localhost\""),
        ("", "[store]\nqueue = \"redis\""),
        ("", "[mark]\nkeys = [\"k\"]"),
        ("", "[mark]\nsince = \"tomorrow\""),
    ] {
        assert_eq!(check_both(repository, Some(operator)), (false, false), "{repository}\n---\n{operator}");
    }
}
