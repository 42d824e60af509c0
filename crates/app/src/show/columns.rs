//! Rows in columns: as wide as their longest cell, or one sentence a row where nobody looks at a table.

use crate::console::Console;

/// Rows of cells. The last column is not padded.
pub(crate) fn render_columns<const N: usize>(rows: &[[String; N]], out: &Console) -> String {
    if out.accessible {
        return rows.iter().map(|row| format!("{}\n", row.join(", "))).collect();
    }
    let wide = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(wide).collect();
    let line = |row: &[String; N]| {
        let cells: String = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}  ")).collect();
        format!("{}\n", cells.trim_end())
    };
    rows.iter().map(line).collect()
}
