//! The rule table of `docs/dispatch.md` matches the code.

use crate::sandbox::{Sandbox, referee, text};

/// Number, name, condition and workers of each row.
type Rows = Vec<[String; 4]>;

#[test]
fn the_dispatch_page_lists_the_rules() {
    assert_eq!(listed_rules(), decided_rules());
}

#[test]
fn the_operator_example_of_the_dispatch_page_is_valid() {
    let page = text("docs/dispatch.md");
    let blocks: Vec<&str> = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.iter().any(|block| block.contains("[agents.codex]")), "{page}");
    let sandbox = Sandbox::new("operator", &[]);
    for (number, block) in blocks.iter().enumerate() {
        let operator = sandbox.path(&format!("operator-{number}.toml"));
        std::fs::write(&operator, block).expect("a file");
        let arguments = ["doctor", "--values", "--operator", operator.to_str().expect("a path")];
        let said = sandbox.run(&referee(), &arguments, &sandbox.repository("operator"));
        assert!(said.contains("workers."), "{said}");
    }
}

fn listed_rules() -> Rows {
    let page = text("docs/dispatch.md");
    let rows = page.lines().map(cells).filter(|row| row.first().is_some_and(|it| it.parse::<u8>().is_ok()));
    rows.map(|row| [row[0].clone(), row[1].replace('`', ""), row[2].clone(), row[3].replace(['`', '–'], "")]).collect()
}

/// The rows of the code's table that carry a number: `` | `conflict` (3) | … | spawn `rebase` | `health` | ``. The lease
/// (rule 0) is not one of the page's rows: it applies after whichever rule matched.
fn decided_rules() -> Rows {
    let code = text("crates/core/src/decide/rules/mod.rs");
    let rows = code.lines().filter_map(|line| line.strip_prefix("//! ")).map(cells);
    let numbered = rows.filter_map(|row| {
        let (name, number) = row.first()?.strip_suffix(')')?.rsplit_once(" (").filter(|(_, number)| *number != "0")?;
        let spawns = row.get(2)?.split_once("spawn ").map_or("", |(_, workers)| workers);
        let workers: Vec<&str> = spawns.split('`').skip(1).step_by(2).collect();
        Some([number.to_owned(), name.replace('`', ""), row.get(1)?.clone(), workers.join(", ")])
    });
    numbered.collect()
}

fn cells(line: &str) -> Vec<String> {
    let inner = line.trim().strip_prefix('|').and_then(|line| line.strip_suffix('|'));
    inner.map(|inner| inner.split('|').map(|cell| cell.trim().to_owned()).collect()).unwrap_or_default()
}
