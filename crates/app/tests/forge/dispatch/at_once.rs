//! Concurrent passes, on one machine and several, with one token and two: one worker per cause and head.

use std::process::{Child, Command, Stdio};

use referee_testkit::server::ServerBuild;

use super::Project;
use crate::chance::times;
use crate::on_each_server;
use crate::site::RunOutput;

on_each_server! { concurrent_passes_name_one_worker }

// spec: DSP-16, DSP-17 @gitea @forgejo
fn concurrent_passes_name_one_worker(build: ServerBuild) {
    let project = Project::new(build);
    let other = by_another_token(&project);
    // Four at once: 204 passes on three servers with the full count.
    let names: Vec<String> = (0..times(2, 17)).map(|round| format!("red{round}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut started = 0;
    for (name, head) in names.iter().zip(project.branches(&names)) {
        let it = project.open(name, head);
        let alice = project.site.at("alice", it.pull);
        alice.report_check("ci", "failure");
        let machines = [("", &project.file), ("", &project.file), ("second", &project.file), ("third", &other)];
        let running: Vec<Child> =
            machines.iter().map(|(machine, file)| on(&project, machine, file).spawn().expect("it starts")).collect();
        let ended = running.into_iter().map(|child| RunOutput::from_output(child.wait_with_output().expect("it ends")));
        let ended: Vec<RunOutput> = ended.collect();
        assert!(ended.iter().all(|ran| matches!(ran.code, 0 | 75)), "{name}: {ended:#?}");
        let mut lines: Vec<&str> = ended.iter().flat_map(|ran| ran.out.lines()).collect();
        // A machine that knows nothing, and no label: the record on the pull is enough.
        project.site.forget();
        if !project.labels(it.pull).is_empty() {
            alice.unlabel("wip");
        }
        let after = project.lines(&[]);
        lines.extend(after.iter().map(String::as_str));
        assert!(
            lines.len() <= 1 && lines.iter().all(|line| *line == it.spawn("ci-fix")),
            "{name}: {lines:?} {ended:#?}"
        );
        started += lines.len();
        alice.close();
    }
    assert!(started * 2 >= names.len(), "one of them nearly always names it: {started} of {}", names.len());
    project.assert_harmless();
}

/// A file by which `sec` looks, and `referee` works.
fn by_another_token(project: &Project) -> String {
    let kind = if project.site.repo.server().build() == ServerBuild::Forgejo10 { "forgejo" } else { "gitea" };
    let operator = format!(
        "[forge.work.{kind}]\nurl = \"{}\"\ntoken = {{ env = \"SEC_TOKEN\" }}\nauthor_token = {{ env = \"FIX_TOKEN\" }}\n",
        project.site.proxy.url()
    );
    std::fs::write(project.site.path("operator.toml"), operator).expect("a file");
    let text = std::fs::read_to_string(&project.file).expect("the project");
    let lines = text.lines().filter(|line| !line.starts_with("api_base:") && !line.starts_with("token_path:"));
    let path = project.site.path("other.yaml");
    std::fs::write(&path, format!("forge: work\n{}\n", lines.collect::<Vec<_>>().join("\n"))).expect("a file");
    path.display().to_string()
}

/// A pass on a machine that shares nothing with those of another name.
fn on(project: &Project, machine: &str, file: &str) -> Command {
    let mut command = project.command_for(file, &[]);
    let home = project.site.path(machine);
    std::fs::create_dir_all(&home).expect("a folder");
    let token = |login: &str| project.site.repo.server().token(login).to_owned();
    command.env("HOME", &home).env("REFEREE_OPERATOR", project.site.path("operator.toml"));
    command.env("SEC_TOKEN", token("sec")).env("FIX_TOKEN", token("referee"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}
