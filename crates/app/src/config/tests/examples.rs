//! The examples, the schema and the table are one.

use serde_json::Value;

use super::super::key::{ConfigKey, ValueType};
use super::super::key_table::{OPERATOR_KEYS, REPOSITORY_KEYS};
use super::super::*;
use super::{empty_env, load_pair};

/// The example with every key switched on.
fn example_with_all_keys() -> String {
    let on = |line: &str| match line.strip_prefix('#') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_lowercase() || c == '[') => rest.to_owned(),
        _ => line.to_owned(),
    };
    repository_example().lines().map(on).collect::<Vec<_>>().join("\n")
}

fn toml_to_json(text: &str) -> Value {
    serde_json::to_value(text.parse::<toml::Table>().expect("it is TOML")).expect("it has no dates")
}

fn check_both(text: &str, operator: Option<&str>) -> (bool, bool) {
    let both = build_config_schema();
    let of_operator = serde_json::json!({ "$ref": "#/$defs/operator", "$defs": both["$defs"] });
    let by_schema = jsonschema::is_valid(&both, &toml_to_json(text))
        && operator.is_none_or(|text| jsonschema::is_valid(&of_operator, &toml_to_json(text)));
    (by_schema, load_pair(text, operator).is_ok())
}

#[test]
fn the_example_as_it_is_says_nothing_but_the_defaults() {
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
    let on = example_with_all_keys();
    let mut with = load_pair(&on, Some(operator_example())).expect("right");
    let mut without = load_pair("", Some(operator_example())).expect("right");
    let roles: Vec<&str> = with.policy.roles.iter().map(|role| role.name.as_str()).collect();
    assert_eq!(roles, ["static", "security", "lint"]);
    assert_eq!(with.policy.roles[0], without.policy.roles[0]);
    // What has no default is shown by an example of its own.
    assert_eq!(with.policy.operator.take().map(|who| who.to_string()).as_deref(), Some("carol"));
    assert_eq!(with.checks.remove("test").expect("shown"), ["cargo", "test"]);
    for setup in [&mut with, &mut without] {
        setup.policy.roles.clear();
        setup.roles.clear();
        setup.origins.clear();
    }
    assert_eq!(with, without);
    assert_eq!(find_missing_keys(REPOSITORY_KEYS, &toml_to_json(&on), ""), Vec::<String>::new());
    assert_eq!(find_missing_keys(OPERATOR_KEYS, &toml_to_json(operator_example()), ""), Vec::<String>::new());
}

/// Keys of the table that a file does not show.
fn find_missing_keys(keys: &[ConfigKey], file: &Value, path: &str) -> Vec<String> {
    let mut all = Vec::new();
    for key in keys {
        let path = format!("{path}/{}", key.name);
        // Entries of a list or map may each show a part.
        let entries: Vec<&Value> = match &key.value_type {
            ValueType::Map(_) => file[key.name].as_object().into_iter().flat_map(|map| map.values()).collect(),
            ValueType::Roles(_) => file[key.name].as_array().into_iter().flatten().collect(),
            _ => file.get(key.name).into_iter().collect(),
        };
        let keys = match &key.value_type {
            ValueType::Map(entry) if !matches!(entry, ValueType::OneOf(_)) => entry.keys(),
            ValueType::Table(keys) | ValueType::Roles(keys) => keys,
            _ => &[],
        };
        if entries.is_empty() {
            all.push(path.clone());
        }
        let shown = entries.iter().map(|entry| find_missing_keys(keys, entry, &path));
        all.extend(
            shown.reduce(|one, other| one.into_iter().filter(|it| other.contains(it)).collect()).unwrap_or_default(),
        );
    }
    all
}

#[test]
fn schema_and_reading_agree() {
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
