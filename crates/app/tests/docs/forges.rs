//! The forge pages show the tables that the adapter uses. `docs/forges/render` updates them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use referee_core::model::Support;
use referee_forge::{CapabilityRow, CapabilityTable, ForgeKind, VersionSupport, capability_table};

use crate::sandbox::{house, text};

const BEGIN: &str = "<!-- table: `docs/forges/render` writes it -->\n";
const END: &str = "<!-- end of the table -->\n";

#[test]
fn the_forge_pages_show_the_adapters_tables() {
    for (kind, path) in [(ForgeKind::Gitea, "docs/forges/gitea.md"), (ForgeKind::Forgejo, "docs/forges/forgejo.md")] {
        let page = text(path);
        let (before, rest) = page.split_once(BEGIN).unwrap_or_else(|| panic!("{path} has no beginning of a table"));
        let (shown, after) = rest.split_once(END).unwrap_or_else(|| panic!("{path} has no end of a table"));
        let table = table(&capability_table(kind).expect("an adapter"));
        if std::env::var_os("REFEREE_FORGES").is_some() {
            std::fs::write(house().join(path), format!("{before}{BEGIN}{table}{END}{after}")).expect("a page");
        } else {
            assert_eq!(shown, table, "{path}: `docs/forges/render` writes it anew");
        }
    }
}

/// One line for each thing, one column for each run of versions that do everything alike.
fn table(capabilities: &CapabilityTable) -> String {
    let runs = runs(capabilities);
    let mut out = String::from("| what |");
    for (first, last) in &runs {
        let last = if first == last { String::new() } else { format!("–{}", version(capabilities, *last)) };
        let _ = write!(out, " {}{last} |", version(capabilities, *first));
    }
    let _ = writeln!(out, " how | needed by |\n|---|{}---|---|", "---|".repeat(runs.len()));
    for row in capabilities.rows {
        let _ = write!(out, "| {} |", row.operation);
        for (first, _) in &runs {
            let way = row.support_at(*first).unwrap_or_else(|| panic!("`{}` has no way at {first}", row.operation));
            let _ = write!(out, " {} |", sign(way.support));
        }
        let _ = writeln!(out, " {} | {} |", hows(capabilities, row), row.spec.join(", "));
    }
    out
}

/// From where to where nothing changes.
fn runs(capabilities: &CapabilityTable) -> Vec<(u32, u32)> {
    let known = capabilities.versions;
    let changes = capabilities.rows.iter().flat_map(|row| row.ways).map(|way| way.since.max(known.first));
    let firsts: BTreeSet<u32> = changes.filter(|since| *since <= known.last).collect();
    let lasts = firsts.iter().skip(1).map(|next| next - 1).chain([known.last]);
    firsts.iter().copied().zip(lasts).collect()
}

fn hows(capabilities: &CapabilityTable, row: &CapabilityRow) -> String {
    let how = |way: &VersionSupport| match way.since {
        0 => way.how.to_owned(),
        since => format!("from {} on: {}", version(capabilities, since), way.how),
    };
    row.ways.iter().map(how).collect::<Vec<_>>().join("; ")
}

fn version(capabilities: &CapabilityTable, number: u32) -> String {
    format!("{}{number}", capabilities.version_prefix)
}

fn sign(support: Support) -> &'static str {
    match support {
        Support::Native => "✓",
        Support::Emulated => "~",
        Support::Unsupported => "–",
    }
}
