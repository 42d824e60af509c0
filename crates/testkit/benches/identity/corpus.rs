//! Real sources: the files of published packages.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Crates with an older and a newer published version.
const CRATES: &[(&str, &str, &str)] = &[
    ("aho-corasick", "1.0.0", "1.1.3"),
    ("anyhow", "1.0.70", "1.0.98"),
    ("axum", "0.6.20", "0.8.4"),
    ("base64", "0.21.0", "0.22.1"),
    ("bstr", "1.5.0", "1.12.0"),
    ("bytes", "1.4.0", "1.10.1"),
    ("chrono", "0.4.26", "0.4.41"),
    ("clap_builder", "4.3.0", "4.5.40"),
    ("crossbeam-channel", "0.5.8", "0.5.15"),
    ("h2", "0.3.20", "0.4.10"),
    ("hyper", "1.0.0", "1.6.0"),
    ("ignore", "0.4.20", "0.4.23"),
    ("indexmap", "2.0.0", "2.10.0"),
    ("itertools", "0.11.0", "0.14.0"),
    ("memchr", "2.5.0", "2.7.5"),
    ("nom", "7.1.0", "8.0.0"),
    ("rayon", "1.7.0", "1.10.0"),
    ("regex-automata", "0.3.0", "0.4.9"),
    ("reqwest", "0.11.18", "0.12.20"),
    ("rustls", "0.21.0", "0.23.28"),
    ("semver", "1.0.17", "1.0.26"),
    ("serde_json", "1.0.100", "1.0.140"),
    ("smallvec", "1.10.0", "1.15.1"),
    ("syn", "2.0.20", "2.0.104"),
    ("thiserror-impl", "1.0.40", "2.0.12"),
    ("time", "0.3.20", "0.3.41"),
    ("tokio", "1.30.0", "1.45.1"),
    ("toml_edit", "0.19.10", "0.22.27"),
    ("tower", "0.4.13", "0.5.2"),
    ("tracing-subscriber", "0.3.17", "0.3.19"),
    ("url", "2.3.1", "2.5.4"),
    ("uuid", "1.3.0", "1.17.0"),
];

/// Python packages with an older and a newer published version.
const WHEELS: &[(&str, &str, &str)] = &[
    ("attrs", "22.2.0", "25.3.0"),
    ("click", "8.0.4", "8.1.8"),
    ("flask", "2.2.5", "3.1.0"),
    ("httpx", "0.23.3", "0.28.1"),
    ("jinja2", "3.0.3", "3.1.6"),
    ("packaging", "21.3", "24.2"),
    ("requests", "2.28.0", "2.32.3"),
    ("rich", "12.6.0", "14.0.0"),
];

const EXTENSIONS: &[&str] = &["rs", "py", "c", "h", "js", "ts"];

/// The source files of a package, by path.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) files: BTreeMap<String, String>,
}

pub(crate) struct Corpus {
    /// All packages, in one version each.
    pub(crate) packages: Vec<Package>,
    /// The older and newer version of a package.
    pub(crate) versions: Vec<(Package, Package)>,
}

impl Corpus {
    /// Downloads missing packages; needs the registries the first time.
    pub(crate) fn load() -> Self {
        let cache = cache_folder();
        let older = fetch_crates(&cache.join("older"), |(_, older, _)| older);
        let newer = fetch_crates(&cache.join("newer"), |(_, _, newer)| newer);
        let mut versions = Vec::new();
        for (name, _, _) in CRATES {
            if let (Some(older), Some(newer)) = (older.get(*name), newer.get(*name)) {
                versions.push((package(name, older), package(name, newer)));
            }
        }
        for (name, older, newer) in WHEELS {
            if let (Some(older), Some(newer)) = (fetch_wheel(&cache, name, older), fetch_wheel(&cache, name, newer)) {
                versions.push((package(name, &older), package(name, &newer)));
            }
        }
        let mut folders =
            registry_packages(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml"), |_, _| true);
        folders.extend(newer);
        let mut packages: Vec<Package> = folders.iter().map(|(name, folder)| package(name, folder)).collect();
        packages.extend(
            WHEELS.iter().filter_map(|(name, _, newer)| Some(package(name, &fetch_wheel(&cache, name, newer)?))),
        );
        packages.retain(|package| !package.files.is_empty());
        Corpus { packages, versions }
    }
}

fn cache_folder() -> PathBuf {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
    base.unwrap_or_else(std::env::temp_dir).join("referee-bench")
}

fn fetch_crates(
    folder: &Path,
    version: impl Fn(&(&str, &'static str, &'static str)) -> &'static str,
) -> BTreeMap<String, PathBuf> {
    std::fs::create_dir_all(folder.join("src")).expect("the cache folder");
    let mut manifest = String::from("[package]\nname = \"sources\"\nedition = \"2021\"\n[workspace]\n[dependencies]\n");
    for entry in CRATES {
        manifest += &format!("{} = {{ version = \"={}\", default-features = false }}\n", entry.0, version(entry));
    }
    std::fs::write(folder.join("src/lib.rs"), "").expect("the cache folder");
    std::fs::write(folder.join("Cargo.toml"), manifest).expect("the cache folder");
    let manifest = folder.join("Cargo.toml");
    let fetched = cargo(&["fetch", "--quiet"], &manifest).status().expect("cargo runs");
    assert!(fetched.success(), "the registry is needed once");
    let asked = |name: &str, found: &str| CRATES.iter().any(|entry| entry.0 == name && version(entry) == found);
    registry_packages(&manifest, asked)
}

/// Returns the folders of a workspace's registry packages.
fn registry_packages(manifest: &Path, wanted: impl Fn(&str, &str) -> bool) -> BTreeMap<String, PathBuf> {
    let output = cargo(&["metadata", "--format-version=1", "--quiet"], manifest).output().expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    packages
        .iter()
        .filter(|package| !package["source"].is_null())
        .filter_map(|package| {
            let folder = Path::new(package["manifest_path"].as_str()?).parent()?.to_owned();
            let name = package["name"].as_str()?;
            wanted(name, package["version"].as_str()?).then(|| (name.to_owned(), folder))
        })
        .collect()
}

fn cargo(arguments: &[&str], manifest: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).arg("--manifest-path").arg(manifest);
    command
}

/// Downloads a wheel and unpacks it with Python.
fn fetch_wheel(cache: &Path, name: &str, version: &str) -> Option<PathBuf> {
    let folder = cache.join(format!("{name}-{version}"));
    if folder.exists() {
        return Some(folder);
    }
    let wheels = cache.join("wheels").join(format!("{name}-{version}"));
    let ran = Command::new("pip")
        .args(["download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest"])
        .arg(&wheels)
        .arg(format!("{name}=={version}"))
        .status();
    if !ran.is_ok_and(|status| status.success()) {
        return None;
    }
    let wheel = std::fs::read_dir(&wheels).ok()?.next()?.ok()?.path();
    let unpacked = Command::new("python3").args(["-m", "zipfile", "-e"]).arg(wheel).arg(&folder).status();
    unpacked.is_ok_and(|status| status.success()).then_some(folder)
}

fn package(name: &str, folder: &Path) -> Package {
    let mut files = BTreeMap::new();
    collect(folder, folder, &mut files);
    Package { name: name.to_owned(), files }
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let wanted = path.extension().and_then(|extension| extension.to_str()).is_some_and(|e| EXTENSIONS.contains(&e));
        if path.is_dir() {
            collect(root, &path, files);
        } else if wanted
            && let Ok(text) = std::fs::read_to_string(&path)
            && let Ok(relative) = path.strip_prefix(root)
        {
            files.insert(relative.to_string_lossy().replace('\\', "/"), text);
        }
    }
}
