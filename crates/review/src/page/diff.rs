//! Diffs side by side, which become unified on narrow screens.

use maud::{Markup, html};

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
    html! {
        @if row.is_changed {
            div.row.d.gap[row.old.is_none()] { (cell(row, row.old.as_ref(), "−")) }
            div.row.a.gap[row.new.is_none()] { (cell(row, row.new.as_ref(), "+")) }
        } @else {
            div.row.left { (cell(row, row.old.as_ref(), " ")) }
            div.row.right { (cell(row, row.new.as_ref(), " ")) }
        }
    }
}

fn cell(row: &Row, line: Option<&Line>, sign: &str) -> Markup {
    html! {
        @if let Some(line) = line {
            i { (line.number) }
            span.sign aria-label=[(sign == "−").then_some("removed").or((sign == "+").then_some("added"))] { (sign) }
            code {
                @for (text, part) in row.shown_parts(line) {
                    @if part.is_changed { em class=[part.class.map(|class| class.name())] { (text) } }
                    @else if let Some(class) = part.class { span class=(class.name()) { (text) } }
                    @else { (text) }
                }
                @if let Some(note) = row.end_note(line) { " " span.mark { (note) } }
            }
        } @else { i {} span.sign {} code {} }
    }
}
