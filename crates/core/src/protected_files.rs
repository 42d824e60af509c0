//! Files that no worker may change, whatever the policy says: they control how a repository is built, run, reviewed or
//! trusted. Globs in lower case; `decide::deliver` compares them.

pub(crate) const PROTECTED_FILES: [&[&str]; 4] = [CI, POLICY, AGENT_INSTRUCTIONS, LOCK_FILES];

/// Configuration of continuous integration and of programs that merge.
const CI: &[&str] = &[
    "**/.github/**",
    "**/.gitea/**",
    "**/.forgejo/**",
    "**/.gitlab/**",
    "**/{*,}.gitlab-ci.y{a,}ml",
    ".woodpecker/**",
    ".woodpecker{.*,}.y{a,}ml",
    ".drone/**",
    ".drone.{yml,yaml,star,jsonnet,starlark}",
    "**/jenkinsfile{.*,-*,_*,}",
    "**/*.jenkinsfile",
    ".jenkins/**",
    ".circleci/**",
    "circle.y{a,}ml",
    ".travis{.*,}.y{a,}ml",
    ".travis/**",
    "**/{.,}azure-pipelines{.,-}*",
    "{.,}azure-pipelines/**",
    ".azuredevops/**",
    ".vsts-ci.y{a,}ml",
    ".buildkite/**",
    "buildkite.y{a,}ml",
    "bitbucket-pipelines.y{a,}ml",
    "{.,}appveyor.y{a,}ml",
    ".cirrus.{yml,yaml,star}",
    ".semaphore/**",
    ".teamcity/**",
    ".tekton/**",
    "{.,}zuul.{yaml,d/**}",
    ".prow{.yaml,/**}",
    ".build{.yml,s/**}",
    "**/cloudbuild.{yaml,yml,json}",
    "**/buildspec.y{a,}ml",
    "codefresh.y{a,}ml",
    ".onedev-buildspec.yml",
    ".ci/**",
    ".mergify{.yml,/**}",
    "{bors,.kodiak}.toml",
    "{renovate.json,.renovaterc}*",
];

/// Code owners, policies of reviewers and scanners, hooks, and what hides a change from a reader.
const POLICY: &[&str] = &[
    "**/codeowners",
    "referee.toml",
    ".referee/**",
    "**/.gitleaks{.toml,ignore}",
    "**/.semgrep{ignore,.yml,.yaml,/**}",
    "**/.trivyignore{.*,}",
    ".gitguardian.y{a,}ml",
    ".secrets.baseline",
    ".snyk",
    "**/.gitattributes",
    ".gitmodules",
    ".githooks/**",
    ".husky/**",
    "**/.pre-commit-{config,hooks}.y{a,}ml",
    "**/{.,}lefthook{-local,}.{yml,yaml,toml,json}",
    ".devcontainer{.json,/**}",
];

/// Instructions and settings of agents: the next worker, or a person's agent, would follow them.
const AGENT_INSTRUCTIONS: &[&str] = &[
    "**/{agent,agents,claude,gemini,qwen,crush,warp,codex}{.*,}.md",
    "**/.{agent,agents,claude,gemini,qwen,crush,codex,opencode}/**",
    "**/.cursor{rules,ignore,/**}",
    "**/.windsurf{rules,/**}",
    "**/.cline{rules,/**}",
    "**/.clinerules/**",
    "**/.roo{rules*,modes,/**}",
    "**/.{kilocode,continue,junie,augment,amazonq,kiro,trae,goose}/**",
    "**/.augment-guidelines",
    "**/.aider*",
    "**/.goosehints",
    "**/opencode.json{c,}",
    "**/.{mcp.json,rules}",
    "**/copilot-instructions.md",
    ".vscode/**",
];

/// Lock files: they select code that nobody sees in the diff.
const LOCK_FILES: &[&str] = &[
    "**/*.lock",
    "**/*.lockb",
    "**/*.lockfile",
    "**/*-lock.{json,yaml}",
    "**/*.lock.{json,hcl}",
    "**/npm-shrinkwrap.json",
    "**/go.sum",
    "**/gradle/verification-metadata.xml",
];
