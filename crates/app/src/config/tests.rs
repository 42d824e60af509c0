//! What the config promises.

mod errors;
mod examples;
mod secrets;
mod values;

use super::{Errors, File, Flag, Layers, Setup, load};

fn none(_: &str) -> Option<String> {
    None
}

fn read(repository: &str, operator: Option<&str>) -> Result<Setup, Errors> {
    load(&layers(repository, operator, &[], &none))
}

fn layers<'a>(
    repository: &'a str,
    operator: Option<&'a str>,
    flags: &'a [Flag<'a>],
    env: &'a dyn Fn(&str) -> Option<String>,
) -> Layers<'a> {
    Layers {
        repository: Some(File { name: "referee.toml at main@3f2c1e9", text: repository }),
        operator: operator.map(|text| File { name: "operator.toml", text }),
        flags,
        local: false,
        user: None,
        env,
    }
}
