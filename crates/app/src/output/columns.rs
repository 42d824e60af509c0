//! Rows in aligned columns, or one sentence per row with `--accessible`.

use crate::console::Console;
use crate::printable::to_one_line;

/// Renders rows with each column as wide as its longest cell. The last column is not padded. A cell stays on its line.
pub(crate) fn render_columns<const N: usize>(rows: &[[String; N]], out: &Console) -> String {
    let rows: Vec<[String; N]> = rows.iter().map(|row| row.each_ref().map(|cell| to_one_line(cell))).collect();
    if out.accessible {
        return rows.iter().map(|row| format!("{}\n", row.join(", "))).collect();
    }
    let column_width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(column_width).collect();
    let line = |row: &[String; N]| {
        let cells: String = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}  ")).collect();
        format!("{}\n", cells.trim_end())
    };
    rows.iter().map(line).collect()
}
