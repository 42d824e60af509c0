//! Tests of the config: values and their layers, error messages, secrets, and the examples.

mod errors;
mod examples;
mod rules;
mod secrets;
mod values;

use super::{ConfigErrors, ConfigFile, ConfigLayers, FlagOverride, ResolvedConfig, load_config};

/// Returns the operator file with every key, which `docs/config.md` shows.
fn operator_example() -> &'static str {
    include_str!("example/operator.toml")
}

fn empty_env(_: &str) -> Option<String> {
    None
}

fn load_pair(repository: &str, operator: Option<&str>) -> Result<ResolvedConfig, ConfigErrors> {
    load_config(&build_layers(repository, operator, &[], &empty_env))
}

fn build_layers<'a>(
    repository: &'a str,
    operator: Option<&'a str>,
    flags: &'a [FlagOverride<'a>],
    env: &'a dyn Fn(&str) -> Option<String>,
) -> ConfigLayers<'a> {
    ConfigLayers {
        repository: Some(ConfigFile { name: "referee.toml at main@3f2c1e9", text: repository }),
        operator: operator.map(|text| ConfigFile { name: "operator.toml", text }),
        flags,
        is_local: false,
        user: None,
        env,
    }
}
