//! The probes of `docs/sandbox.md` are those that run, each with the tier that promises it.

use crate::sandbox::text;

/// Name, tier and what is tried, of each row.
type Rows = Vec<[String; 3]>;

#[test]
fn the_sandbox_page_lists_the_probes() {
    let tried = tried();
    assert!(tried.len() >= 40, "{}", tried.len());
    assert_eq!(told(), tried);
}

fn told() -> Rows {
    let page = text("docs/sandbox.md");
    let (_, table) = page.split_once("| probe | from tier | what is tried |\n").expect("the table");
    let rows = table.lines().skip(1).filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |"));
    let cells = |row: &str| {
        let mut cells = row.splitn(3, " | ").map(str::to_owned);
        let mut next = || cells.next().unwrap_or_else(|| panic!("three cells: {row}"));
        [next().replace('`', ""), next(), next()]
    };
    rows.map(cells).collect()
}

/// `probe("name", Tier, "what is tried", …)`, however it is broken into lines.
fn tried() -> Rows {
    let code = text("crates/sandbox/src/probe/table.rs");
    let (_, table) = code.split_once("PROBES: &[Probe]").expect("the table");
    let row = |row: &str| {
        let texts: Vec<&str> = row.split('"').collect();
        let tier =
            ["Scrubbed", "OwnHome", "Bubblewrap"].iter().position(|tier| texts[2].contains(tier)).expect("a tier");
        [texts[1].to_owned(), tier.to_string(), texts[3].to_owned()]
    };
    table.split("probe(").skip(1).map(row).collect()
}
