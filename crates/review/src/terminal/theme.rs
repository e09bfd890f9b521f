//! Styles. Only the terminal's own palette is used, so that text stays readable on dark and light backgrounds.

use ratatui::style::{Color, Modifier, Style};

use crate::line_part::Class;

/// Whether colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colors {
    /// Colours of the terminal's palette.
    On,
    /// Only bold, underlined and reversed text.
    Off,
}

/// What a piece of text is, for its style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Plain,
    Soft,
    Strong,
    Added,
    Removed,
    Warning,
    /// The selected item.
    Selected,
    Code(Class),
}

impl Colors {
    pub(super) fn style(self, role: Role) -> Style {
        let style = Style::new();
        let colored = |color: Color| if self == Self::On { style.fg(color) } else { style };
        match role {
            Role::Plain => style,
            Role::Soft => style.add_modifier(Modifier::DIM),
            Role::Strong | Role::Selected => style.add_modifier(Modifier::BOLD),
            Role::Added => colored(Color::Green),
            Role::Removed => colored(Color::Red),
            Role::Warning => colored(Color::Yellow).add_modifier(Modifier::BOLD),
            Role::Code(Class::Keyword) => colored(Color::Magenta),
            Role::Code(Class::String) => colored(Color::Cyan),
            Role::Code(Class::Comment) => style.add_modifier(Modifier::DIM | Modifier::ITALIC),
            Role::Code(Class::Number) => colored(Color::Blue),
            Role::Code(Class::Name) => colored(Color::Yellow),
        }
    }

    /// The style of a word that differs from the line beside it.
    pub(super) fn changed(self, role: Role) -> Style {
        self.style(role).add_modifier(Modifier::BOLD | Modifier::UNDERLINED)
    }
}
