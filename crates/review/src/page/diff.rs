//! Diffs side by side, which become unified on narrow screens.

use maud::{Markup, html};

use super::visible;
use crate::diff_view::{HunkView, Line, Row};

/// A hunk's rows.
pub(super) fn rows(view: &HunkView) -> Markup {
    html! {
        div.split role="group" aria-label="Changed lines" tabindex="0" {
            @for row in &view.rows { (diff_row(row)) }
        }
    }
}

fn diff_row(row: &Row) -> Markup {
    let only_spaces = row.is_changed && differs_in_spaces(row);
    html! {
        @if row.is_changed {
            div.row.d.gap[row.old.is_none()] { (cell(row.old.as_ref(), "−", only_spaces)) }
            div.row.a.gap[row.new.is_none()] { (cell(row.new.as_ref(), "+", only_spaces)) }
        } @else {
            div.row.left { (cell(row.old.as_ref(), " ", false)) }
            div.row.right { (cell(row.new.as_ref(), " ", false)) }
        }
    }
}

fn cell(line: Option<&Line>, sign: &str, show_spaces: bool) -> Markup {
    html! {
        @if let Some(line) = line {
            i { (line.number) }
            span.sign aria-label=[(sign == "−").then_some("removed").or((sign == "+").then_some("added"))] { (sign) }
            code {
                @for part in &line.parts {
                    @let text = if show_spaces && part.is_changed { show_blanks(&part.text) } else { visible_text(&part.text) };
                    @if part.is_changed { em class=[part.class.map(|class| class.name())] { (text) } }
                    @else if let Some(class) = part.class { span class=(class.name()) { (text) } }
                    @else { (text) }
                }
                @if line.lacks_newline { span.mark { " no newline at the end" } }
            }
        } @else { i {} span.sign {} code {} }
    }
}

/// Tabs stay; other characters that a reader cannot see are escaped.
fn visible_text(text: &str) -> String {
    text.split('\t').map(visible).collect::<Vec<_>>().join("\t")
}

fn show_blanks(text: &str) -> String {
    visible_text(text).replace('\t', "→\t").replace(' ', "·")
}

/// Whether two lines differ in whitespace alone, which nobody sees otherwise.
fn differs_in_spaces(row: &Row) -> bool {
    let text = |line: &Option<Line>| -> Option<String> {
        let line = line.as_ref()?;
        let text = line.parts.iter().flat_map(|part| part.text.chars());
        Some(text.filter(|c| !c.is_whitespace()).collect())
    };
    row.old.is_some() && text(&row.old) == text(&row.new)
}
