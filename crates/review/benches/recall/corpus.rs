//! Real sources: files of published packages, fetched once.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const CRATES: &[(&str, &str)] = &[
    ("aho-corasick", "1.1.3"),
    ("axum", "0.8.4"),
    ("chrono", "0.4.41"),
    ("clap_builder", "4.5.40"),
    ("crossbeam-channel", "0.5.15"),
    ("h2", "0.4.10"),
    ("hyper", "1.6.0"),
    ("ignore", "0.4.23"),
    ("indexmap", "2.10.0"),
    ("rayon", "1.10.0"),
    ("regex-automata", "0.4.9"),
    ("reqwest", "0.12.20"),
    ("rustls", "0.23.28"),
    ("serde_json", "1.0.140"),
    ("syn", "2.0.104"),
    ("time", "0.3.41"),
    ("tokio", "1.45.1"),
    ("toml_edit", "0.22.27"),
    ("tower", "0.5.2"),
    ("tracing-subscriber", "0.3.19"),
    ("url", "2.5.4"),
];

const WHEELS: &[(&str, &str)] = &[
    ("aiohttp", "3.14.5"),
    ("ansible-core", "2.18.0"),
    ("botocore", "1.44.0"),
    ("buildbot", "4.3.0"),
    ("celery", "5.7.0"),
    ("django", "5.2"),
    ("docker", "7.2.0"),
    ("flask", "3.1.0"),
    ("gunicorn", "27.0.0"),
    ("httpx", "0.28.1"),
    ("itsdangerous", "2.2.0"),
    ("paramiko", "5.1.0"),
    ("peewee", "4.5.3"),
    ("pip", "26.3"),
    ("psycopg", "3.3.8"),
    ("pymysql", "1.2.4"),
    ("pytest", "9.2.0"),
    ("redis", "8.1.0"),
    ("requests", "2.32.3"),
    ("scrapy", "2.19.0"),
    ("setuptools", "84.2.1"),
    ("sqlalchemy", "2.1.8"),
    ("starlette", "1.10.0"),
    ("tornado", "6.6.1"),
    ("twisted", "26.10.0"),
    ("urllib3", "2.8.0"),
    ("virtualenv", "21.15.6"),
    ("werkzeug", "3.1.9"),
];

/// JavaScript first, then packages that carry their TypeScript.
const NPM: &[(&str, &str)] = &[
    ("axios", "1.21.1"),
    ("backbone", "1.6.1"),
    ("cookie-signature", "1.2.2"),
    ("cross-spawn", "7.0.6"),
    ("eslint", "10.14.0"),
    ("express", "5.3.0"),
    ("express-session", "1.19.0"),
    ("fastify", "5.12.8"),
    ("fs-extra", "11.4.1"),
    ("grunt", "1.6.3"),
    ("jsonwebtoken", "9.0.3"),
    ("karma", "6.4.4"),
    ("knex", "3.3.0"),
    ("koa", "3.2.1"),
    ("mocha", "12.0.3"),
    ("mongoose", "9.12.0"),
    ("multer", "2.5.0"),
    ("mysql2", "3.24.5"),
    ("nodemailer", "10.4.0"),
    ("pg", "8.23.1"),
    ("pm2", "7.0.4"),
    ("send", "1.2.1"),
    ("sequelize", "6.37.8"),
    ("shelljs", "0.10.0"),
    ("ssh2", "1.17.0"),
    ("undici", "7.30.2"),
    ("webpack", "5.112.2"),
    ("ws", "8.22.2"),
    ("@grpc/grpc-js", "1.14.7"),
    ("@reduxjs/toolkit", "2.14.0"),
    ("@tanstack/query-core", "5.107.1"),
    ("@trpc/server", "11.23.0"),
    ("ajv", "8.20.0"),
    ("bson", "7.3.4"),
    ("ethers", "6.17.0"),
    ("graphql-request", "7.4.0"),
    ("immer", "11.2.10"),
    ("mobx", "7.1.3"),
    ("mongodb", "7.8.0"),
    ("openai", "6.49.0"),
    ("rxjs", "7.8.2"),
    ("viem", "2.57.13"),
    ("zod", "4.6.7"),
];

const GO: &[(&str, &str)] = &[
    ("github.com/caddyserver/caddy/v2", "v2.11.7"),
    ("github.com/dgraph-io/badger/v4", "v4.9.6"),
    ("github.com/gin-gonic/gin", "v1.12.0"),
    ("github.com/go-git/go-git/v5", "v5.19.3"),
    ("github.com/golang-migrate/migrate/v4", "v4.20.1"),
    ("github.com/hashicorp/go-getter", "v1.8.10"),
    ("github.com/hashicorp/raft", "v1.8.0"),
    ("github.com/jackc/pgx/v5", "v5.12.0"),
    ("github.com/jmoiron/sqlx", "v1.4.0"),
    ("github.com/labstack/echo/v4", "v4.16.0"),
    ("github.com/minio/minio-go/v7", "v7.4.1"),
    ("github.com/nats-io/nats.go", "v1.55.0"),
    ("github.com/pressly/goose/v3", "v3.29.0"),
    ("github.com/prometheus/client_golang", "v1.25.0"),
    ("github.com/rclone/rclone", "v1.75.1"),
    ("github.com/spf13/cobra", "v1.10.2"),
    ("go.etcd.io/bbolt", "v1.5.0"),
    ("go.etcd.io/etcd/server/v3", "v3.7.3"),
    ("golang.org/x/crypto", "v0.58.0"),
    ("golang.org/x/net", "v0.62.0"),
    ("golang.org/x/tools", "v0.52.0"),
    ("google.golang.org/grpc", "v1.85.0"),
];

/// A package's source files.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) files: Vec<Source>,
}

pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) extension: &'static str,
    pub(crate) text: String,
}

/// Every package that can be had; needs the registries and their ordinary clients the first time.
pub(crate) fn load() -> Vec<Package> {
    let cache = cache_folder();
    let mut folders = fetch_crates(&cache.join("recall"));
    let npm = cache.join("npm");
    folders.extend(WHEELS.iter().map(|(name, version)| ((*name).to_owned(), fetch_wheel(&cache, name, version))));
    folders.extend(NPM.iter().map(|(name, version)| ((*name).to_owned(), fetch_npm(&npm, name, version))));
    folders.extend(GO.iter().map(|(name, version)| ((*name).to_owned(), fetch_go(&cache, name, version))));
    folders.into_iter().map(|(name, folder)| package(&name, &folder)).collect()
}

fn cache_folder() -> PathBuf {
    let own = std::env::var_os("REFEREE_CACHE").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let shared = || std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
    own.unwrap_or_else(|| shared().unwrap_or_else(std::env::temp_dir).join("referee-bench"))
}

fn fetch_crates(folder: &Path) -> Vec<(String, PathBuf)> {
    std::fs::create_dir_all(folder.join("src")).expect("the cache folder");
    let mut manifest = String::from("[package]\nname = \"sources\"\nedition = \"2021\"\n[workspace]\n[dependencies]\n");
    for (name, version) in CRATES {
        manifest += &format!("{name} = {{ version = \"={version}\", default-features = false }}\n");
    }
    std::fs::write(folder.join("src/lib.rs"), "").expect("the cache folder");
    std::fs::write(folder.join("Cargo.toml"), manifest).expect("the cache folder");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut metadata = Command::new(cargo);
    metadata.args(["metadata", "--format-version=1", "--quiet", "--manifest-path"]).arg(folder.join("Cargo.toml"));
    let metadata: Value = serde_json::from_slice(&run(&mut metadata)).expect("cargo metadata is JSON");
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let known = packages.filter_map(|package| {
        let folder = Path::new(package["manifest_path"].as_str()?).parent()?.to_owned();
        let (name, version) = (package["name"].as_str()?, package["version"].as_str()?);
        CRATES.contains(&(name, version)).then(|| (name.to_owned(), folder))
    });
    known.collect()
}

/// A wheel is a zip file; Python unpacks it.
fn fetch_wheel(cache: &Path, name: &str, version: &str) -> PathBuf {
    let folder = cache.join(format!("{name}-{version}"));
    if !folder.exists() {
        let wheels = cache.join("wheels").join(format!("{name}-{version}"));
        let mut download = Command::new("pip");
        download.args(["download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest"]).arg(&wheels);
        run(download.arg(format!("{name}=={version}")));
        run(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(only_file(&wheels)).arg(&folder));
    }
    folder
}

fn fetch_npm(npm: &Path, name: &str, version: &str) -> PathBuf {
    let named = format!("{}-{version}", name.replace(['@', '/'], "_"));
    let folder = npm.join(&named);
    if !folder.exists() {
        let packed = npm.join("packed").join(&named);
        std::fs::create_dir_all(&packed).expect("the cache folder");
        let mut pack = Command::new("npm");
        pack.args(["pack", "--silent"]).arg(format!("{name}@{version}")).arg("--pack-destination");
        run(pack.arg(&packed));
        std::fs::create_dir_all(&folder).expect("the cache folder");
        run(Command::new("tar").arg("-xzf").arg(only_file(&packed)).arg("-C").arg(&folder));
    }
    folder
}

/// The Go client keeps its own cache and says where.
fn fetch_go(cache: &Path, name: &str, version: &str) -> PathBuf {
    let mut download = Command::new("go");
    download.args(["mod", "download", "-json"]).arg(format!("{name}@{version}")).current_dir(cache);
    let answer: Value = serde_json::from_slice(&run(&mut download)).expect("go answers in JSON");
    PathBuf::from(answer["Dir"].as_str().expect("go says where"))
}

fn only_file(folder: &Path) -> PathBuf {
    let mut entries = std::fs::read_dir(folder).expect("a folder").flatten();
    entries.next().expect("a downloaded file").path()
}

fn run(command: &mut Command) -> Vec<u8> {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn package(name: &str, folder: &Path) -> Package {
    let mut files = Vec::new();
    collect(folder, folder, &mut files);
    // A package that carries its TypeScript carries what was compiled from it too, which nobody reviews.
    if files.iter().any(|file| file.extension == "ts") {
        files.retain(|file| file.extension != "js");
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Package { name: name.to_owned(), files }
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<Source>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let relative = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
        if path.is_dir() {
            collect(root, &path, files);
        } else if let Some(extension) = source_extension(&relative)
            && let Ok(text) = std::fs::read_to_string(&path)
            && is_written_by_people(&text)
        {
            files.push(Source { path: relative, extension, text });
        }
    }
}

/// What people write and review: no tests, no bundles, no copies of other packages.
fn source_extension(path: &str) -> Option<&'static str> {
    const OTHERS: &[&str] = &[
        "test",
        "bench",
        "example",
        "dist/",
        "build/",
        "vendor",
        "node_modules",
        "esm/",
        "cjs/",
        "umd/",
        "mock",
        "generated",
        "bundle",
        "fixture",
        ".min.",
        ".d.ts",
        ".pb.go",
        "/lib.commonjs/",
        "/lib.esm/",
    ];
    if OTHERS.iter().any(|other| path.contains(other)) {
        return None;
    }
    let (_, extension) = path.rsplit_once('.')?;
    let known = [("rs", "rs"), ("py", "py"), ("js", "js"), ("cjs", "js"), ("mjs", "js"), ("ts", "ts"), ("go", "go")];
    known.iter().find(|(other, _)| *other == extension).map(|(_, extension)| *extension)
}

/// Files of a length that people review, in lines that they write.
fn is_written_by_people(text: &str) -> bool {
    (40..=2_000).contains(&text.lines().count())
        && text.lines().all(|line| line.len() < 400)
        && !text.contains("Code generated")
        && !text.contains('\r')
}
