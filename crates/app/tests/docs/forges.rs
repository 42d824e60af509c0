//! The pages about forges show the tables that the adapter goes by. `docs/forges/render` writes them anew.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use referee_core::model::Support;
use referee_forge::{CapabilityRow, Flavour, VersionSupport, capability_rows, known_versions};

use crate::sandbox::{house, text};

const BEGIN: &str = "<!-- table: `docs/forges/render` writes it -->\n";
const END: &str = "<!-- end of the table -->\n";

#[test]
fn the_pages_about_forges_show_what_the_adapter_goes_by() {
    for (flavour, path) in [(Flavour::Gitea, "docs/forges/gitea.md"), (Flavour::Forgejo, "docs/forges/forgejo.md")] {
        let page = text(path);
        let (before, rest) = page.split_once(BEGIN).unwrap_or_else(|| panic!("{path} has no beginning of a table"));
        let (shown, after) = rest.split_once(END).unwrap_or_else(|| panic!("{path} has no end of a table"));
        let table = table(flavour);
        if std::env::var_os("REFEREE_FORGES").is_some() {
            std::fs::write(house().join(path), format!("{before}{BEGIN}{table}{END}{after}")).expect("a page");
        } else {
            assert_eq!(shown, table, "{path}: `docs/forges/render` writes it anew");
        }
    }
}

/// One line for each thing, one column for each run of versions that do everything alike.
fn table(flavour: Flavour) -> String {
    let rows = capability_rows(flavour);
    let runs = runs(flavour, rows);
    let mut out = String::from("| what |");
    for (first, last) in &runs {
        let last = if first == last { String::new() } else { format!("–{}", version(flavour, *last)) };
        let _ = write!(out, " {}{last} |", version(flavour, *first));
    }
    let _ = writeln!(out, " how | needed by |\n|---|{}---|---|", "---|".repeat(runs.len()));
    for row in rows {
        let _ = write!(out, "| {} |", row.operation);
        for (first, _) in &runs {
            let way = row.support_at(*first).unwrap_or_else(|| panic!("`{}` has no way at {first}", row.operation));
            let _ = write!(out, " {} |", sign(way.support));
        }
        let _ = writeln!(out, " {} | {} |", hows(flavour, row), row.spec.join(", "));
    }
    out
}

/// From where to where nothing changes.
fn runs(flavour: Flavour, rows: &[CapabilityRow]) -> Vec<(u32, u32)> {
    let known = known_versions(flavour);
    let changes = rows.iter().flat_map(|row| row.ways).map(|way| way.since.max(known.first));
    let firsts: BTreeSet<u32> = changes.filter(|since| *since <= known.last).collect();
    let lasts = firsts.iter().skip(1).map(|next| next - 1).chain([known.last]);
    firsts.iter().copied().zip(lasts).collect()
}

fn hows(flavour: Flavour, row: &CapabilityRow) -> String {
    let how = |way: &VersionSupport| match way.since {
        0 => way.how.to_owned(),
        since => format!("from {} on: {}", version(flavour, since), way.how),
    };
    row.ways.iter().map(how).collect::<Vec<_>>().join("; ")
}

fn version(flavour: Flavour, number: u32) -> String {
    match flavour {
        Flavour::Gitea => format!("1.{number}"),
        Flavour::Forgejo => number.to_string(),
    }
}

fn sign(support: Support) -> &'static str {
    match support {
        Support::Native => "✓",
        Support::Emulated => "~",
        Support::Unsupported => "–",
    }
}
