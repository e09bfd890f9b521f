//! JSON and JSONC, by way of jsonc-parser's concrete syntax tree.
//!
//! The tree tells where properties, commas, comments and line breaks are. The edits themselves are splices of the
//! text, because the tree's own `append` and `remove` change more than the entry: `append` spreads an object written
//! on one line over several lines and drops blank lines inside the braces, and `remove` deletes the comments on the
//! property's line.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{
    CstComment, CstContainerNode, CstLeafNode, CstNode, CstObject, CstObjectProp, CstRootNode, CstStringLit,
};
use serde_json::{Map, Number, Value};
use slipstitch::core::text::Splice;

use super::edit::{Leaf, Place, deletion, insertion};
use super::error::FormatError;
use super::layout::{DEFAULT_INDENT, dominant_newline, line_indent};

const NAME: &str = "JSON";

/// Comments and trailing commas are the only extensions that settings files use.
const PARSE_OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Parses a document. One without a value, such as an empty file, is an empty object.
pub(super) fn parse(text: &str) -> Result<Map<String, Value>, FormatError> {
    match parse_tree(text)?.value() {
        None => Ok(Map::new()),
        Some(value) => match convert(&value)? {
            Value::Object(fields) => Ok(fields),
            _ => Err(FormatError::NotAMapping("a JSON object")),
        },
    }
}

/// Adds a value to its object or array, and those around it that the document does not have.
pub(super) fn insert(text: &str, place: &Place, value: &Value) -> Result<Vec<Splice>, FormatError> {
    let root = parse_tree(text)?;
    let layout = Layout::of(text, &root);
    if root.value().is_none() {
        return Ok(vec![layout.insert_document(&place.wrap(0, value))]);
    }
    let document = root.object_value().ok_or(FormatError::NotAMapping("a JSON object"))?;
    let (container, depth) = descend(document, place)?;
    if depth == place.parents.len() {
        let name = match &place.leaf {
            Leaf::Field(name) => Some(name.as_str()),
            Leaf::Item(_) => None,
        };
        return Ok(layout.insert_element(&container, &Element { name, value }));
    }
    let wrapped = place.wrap(depth + 1, value);
    Ok(layout.insert_element(&container, &Element { name: Some(&place.parents[depth]), value: &wrapped }))
}

/// Removes a property of an object or an element of an array.
pub(super) fn remove(text: &str, place: &Place) -> Result<Vec<Splice>, FormatError> {
    let missing = || FormatError::Missing(place.leaf.name().into());
    // Nodes refer to their parents weakly, so the root has to outlive them.
    let root = parse_tree(text)?;
    let document = root.object_value().ok_or_else(missing)?;
    let (container, depth) = descend(document, place)?;
    if depth < place.parents.len() {
        return Err(missing());
    }
    let element = match &place.leaf {
        Leaf::Field(name) => container.as_object().and_then(|object| object.get(name)).map(CstNode::from),
        Leaf::Item(_) => elements_of(&container)
            .into_iter()
            .find(|element| convert(element).is_ok_and(|value| place.leaf.matches(&value))),
    };
    Ok(remove_element(&container, &element.ok_or_else(missing)?))
}

/// The innermost of the place's parents that exists, and how many of them do.
fn descend(document: CstObject, place: &Place) -> Result<(CstNode, usize), FormatError> {
    let mut node = CstNode::from(document);
    for (depth, key) in place.parents.iter().enumerate() {
        let object = node.as_object().ok_or_else(|| place.wrong_container(&place.parents[depth - 1]))?;
        match object.get(key).and_then(|property| property.value()) {
            Some(value) => node = value,
            None => return Ok((node, depth)),
        }
    }
    let is_right_kind = if place.is_field() { node.as_object().is_some() } else { node.as_array().is_some() };
    let last = place.parents.last().map_or("", String::as_str);
    if is_right_kind { Ok((node, place.parents.len())) } else { Err(place.wrong_container(last)) }
}

/// The properties of an object or the elements of an array.
fn elements_of(container: &CstNode) -> Vec<CstNode> {
    match container {
        CstNode::Container(CstContainerNode::Object(object)) => {
            object.properties().into_iter().map(CstNode::from).collect()
        }
        CstNode::Container(CstContainerNode::Array(array)) => array.elements(),
        _ => Vec::new(),
    }
}

fn parse_tree(text: &str) -> Result<CstRootNode, FormatError> {
    let root = CstRootNode::parse(text, &PARSE_OPTIONS)
        .map_err(|error| FormatError::Syntax { format: NAME, reason: error.to_string() })?;
    // Offsets are computed from the lengths of nodes, so the tree must contain every byte.
    if root.to_string() == text { Ok(root) } else { Err(FormatError::Layout) }
}

/// Converts a node to data. A repeated key is an error, because hosts differ in which value they use.
fn convert(node: &CstNode) -> Result<Value, FormatError> {
    match node {
        CstNode::Container(CstContainerNode::Object(object)) => {
            let mut fields = Map::new();
            for property in object.properties() {
                let (name, value) = convert_property(&property)?;
                if fields.insert(name.clone(), value).is_some() {
                    return Err(FormatError::DuplicateKey(name));
                }
            }
            Ok(Value::Object(fields))
        }
        CstNode::Container(CstContainerNode::Array(array)) => {
            Ok(Value::Array(array.elements().iter().map(convert).collect::<Result<_, _>>()?))
        }
        CstNode::Leaf(CstLeafNode::StringLit(string)) => Ok(Value::String(decode(string)?)),
        CstNode::Leaf(CstLeafNode::NumberLit(number)) => {
            let number = number.to_string();
            let parsed: Result<Number, _> = number.parse();
            parsed.map(Value::Number).map_err(|_| FormatError::Incomparable(format!("the number {number}")))
        }
        CstNode::Leaf(CstLeafNode::BooleanLit(boolean)) => Ok(Value::Bool(boolean.value())),
        CstNode::Leaf(CstLeafNode::NullKeyword(_)) => Ok(Value::Null),
        other => Err(FormatError::Incomparable(format!("`{other}`"))),
    }
}

fn convert_property(property: &CstObjectProp) -> Result<(String, Value), FormatError> {
    let incomplete = || FormatError::Incomparable(format!("`{property}`"));
    let name = property.decoded_name().ok_or_else(incomplete)?;
    let value = property.value().ok_or_else(incomplete)?;
    Ok((name, convert(&value)?))
}

fn decode(string: &CstStringLit) -> Result<String, FormatError> {
    string.decoded_value().map_err(|_| FormatError::Incomparable(format!("the string {string}")))
}

/// How a document is laid out.
struct Layout<'a> {
    text: &'a str,
    newline: &'static str,
    /// One level of indentation.
    indent: String,
    /// Whether the whole document is on one line.
    is_one_line: bool,
}

impl<'a> Layout<'a> {
    fn of(text: &'a str, root: &CstRootNode) -> Self {
        let document = root.object_value();
        Self {
            text,
            newline: dominant_newline(text),
            indent: root.single_indent_text().unwrap_or_else(|| DEFAULT_INDENT.into()),
            is_one_line: document.is_some_and(|document| {
                !document.properties().is_empty() && !document.to_string().contains('\n')
            }),
        }
    }

    /// Adds a value to a document that consists of whitespace and comments.
    fn insert_document(&self, value: &Value) -> Splice {
        let (text, newline) = (self.text, self.newline);
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
        insertion(text.len(), format!("{gap}{}{newline}", self.pretty(value, "")))
    }

    /// Adds an element at the end of an object or array.
    fn insert_element(&self, container: &CstNode, element: &Element<'_>) -> Vec<Splice> {
        let Some(last) = elements_of(container).pop() else {
            return vec![self.insert_only_element(container, element)];
        };
        let comma = last.trailing_comma().map(CstNode::from);
        // Comments behind the last element or its comma stay on that line.
        let comments = comma.as_ref().unwrap_or(&last).trailing_comments_same_line().last();
        let is_below_line_comment = comments.as_ref().is_some_and(CstComment::is_line_comment);
        let text = if is_below_line_comment || starts_with_newline(container) {
            let indent = line_indent(self.text, start_of(&last));
            format!("{}{indent}{}", self.newline, self.pretty_element(element, indent))
        } else {
            format!(" {}", element.compact())
        };
        let end_of_comments = comments.map(|comment| end_of(&comment.into()));
        match comma {
            Some(comma) => {
                let at = end_of_comments.unwrap_or_else(|| end_of(&comma));
                vec![insertion(at, format!("{text},"))]
            }
            None => {
                let at = end_of_comments.unwrap_or_else(|| end_of(&last));
                vec![insertion(end_of(&last), ","), insertion(at, text)]
            }
        }
    }

    /// Adds an element to an object or array that has none, after the comments in it.
    fn insert_only_element(&self, container: &CstNode, element: &Element<'_>) -> Splice {
        let (at, end) = inner_end(container);
        if self.is_one_line {
            return insertion(at, element.compact());
        }
        let outer = line_indent(self.text, start_of(container));
        let indent = format!("{outer}{}", self.indent);
        let closing = match self.text[at..end].contains('\n') {
            true => String::new(),
            false => format!("{}{outer}", self.newline),
        };
        let text = self.pretty_element(element, &indent);
        insertion(at, format!("{}{indent}{text}{closing}", self.newline))
    }

    fn pretty_element(&self, element: &Element<'_>, indent: &str) -> String {
        format!("{}{}", element.prefix(), self.pretty(element.value, indent))
    }

    /// A value on several lines, all but the first indented by `indent`.
    fn pretty(&self, value: &Value, indent: &str) -> String {
        let reindent = |line: &str| {
            // Only indentation can start a line: line breaks inside strings are escaped.
            let content = line.trim_start_matches(' ');
            let level = (line.len() - content.len()) / 2;
            format!("{}{content}", self.indent.repeat(level))
        };
        let lines: Vec<String> = format!("{value:#}").lines().map(reindent).collect();
        lines.join(&format!("{}{indent}", self.newline))
    }
}

/// A property, or an element of an array, which has no name.
struct Element<'a> {
    name: Option<&'a str>,
    value: &'a Value,
}

impl Element<'_> {
    fn prefix(&self) -> String {
        self.name.map(|name| format!("{}: ", Value::from(name))).unwrap_or_default()
    }

    /// The element on one line.
    fn compact(&self) -> String {
        format!("{}{}", self.prefix(), self.value)
    }
}

/// Removes an element with the whitespace before it and one comma.
fn remove_element(container: &CstNode, node: &CstNode) -> Vec<Splice> {
    let children = container.children();
    let elements = elements_of(container);
    let has_comments = children.iter().any(CstNode::is_comment);
    if elements.len() == 1 && !has_comments {
        return vec![deletion(end_of(&children[0])..start_of(&children[children.len() - 1]))];
    }
    let comma = node.trailing_comma().map(CstNode::from);
    let entry = deletion(start_of_blank_before(node, comma.as_ref())..end_of(node));
    let before = elements.iter().take_while(|element| start_of(element) < start_of(node)).last();
    let comma_before = || before?.trailing_comma().map(CstNode::from);
    match (comma, comma_before()) {
        (Some(comma), _) => vec![entry, delete_node(&comma)],
        (None, Some(comma)) => vec![delete_node(&comma), entry],
        (None, None) => vec![entry],
    }
}

/// Where the whitespace before a property starts. It does not count if it separates a line comment from what follows
/// the property on its line.
fn start_of_blank_before(property: &CstNode, comma: Option<&CstNode>) -> usize {
    let mut after = comma.unwrap_or(property).next_siblings();
    let is_last_in_line = after.find(|node| !node.is_whitespace()).is_some_and(|node| node.is_newline());
    match property.previous_siblings().find(|node| !is_blank(node)) {
        Some(CstNode::Leaf(CstLeafNode::Comment(comment)))
            if comment.is_line_comment() && !is_last_in_line =>
        {
            start_of(property)
        }
        Some(before) => end_of(&before),
        None => start_of(property),
    }
}

fn delete_node(node: &CstNode) -> Splice {
    deletion(start_of(node)..end_of(node))
}

/// Whether the first element of an object or array is below the opening bracket.
fn starts_with_newline(container: &CstNode) -> bool {
    let children = container.children();
    let is_opening = |node: &CstNode| matches!(node.token_char(), Some('{' | '['));
    let mut before_first = children.iter().take_while(|node| node.is_trivia() || is_opening(node));
    before_first.any(CstNode::is_newline)
}

fn is_blank(node: &CstNode) -> bool {
    node.is_whitespace() || node.is_newline()
}

/// Where the content of an object or array ends, without trailing whitespace, and where its closing bracket is.
fn inner_end(container: &CstNode) -> (usize, usize) {
    let start = start_of(container);
    let children = container.children();
    let inner = &children[..children.len() - 1];
    let blank = inner.iter().rev().take_while(|node| is_blank(node)).map(length_of).sum::<usize>();
    let end = start + inner.iter().map(length_of).sum::<usize>();
    (end - blank, end)
}

/// Where a node starts in the text.
fn start_of(node: &CstNode) -> usize {
    let before: usize = node.previous_siblings().map(|sibling| length_of(&sibling)).sum();
    before + node.parent().map_or(0, |parent| start_of(&parent.into()))
}

fn end_of(node: &CstNode) -> usize {
    start_of(node) + length_of(node)
}

fn length_of(node: &CstNode) -> usize {
    node.to_string().len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::edit::apply;
    use serde_json::json;

    fn place() -> Place {
        Place::field(&["mcp"], "slipstitch")
    }

    fn add(text: &str) -> String {
        apply(text, insert(text, &place(), &json!({"on": true})).unwrap()).unwrap()
    }

    fn take_out(text: &str) -> String {
        apply(text, remove(text, &place()).unwrap()).unwrap()
    }

    /// Adds an item to a list two levels down and removes it again.
    fn add_item(text: &str) -> String {
        let place = Place::item(&["permissions", "deny"], "Edit");
        let after = apply(text, insert(text, &place, &json!("Edit")).unwrap()).unwrap();
        let document = parse(&after).unwrap();
        assert_eq!(place.find(&document), Ok(Some(json!("Edit"))), "{after}");
        after
    }

    #[test]
    fn an_added_item_matches_the_list_s_layout() {
        for (before, after) in [
            ("{\"a\":1}", "{\"a\":1, \"permissions\": {\"deny\":[\"Edit\"]}}"),
            (
                "{\n  \"permissions\": {}\n}\n",
                "{\n  \"permissions\": {\n    \"deny\": [\n      \"Edit\"\n    ]\n  }\n}\n",
            ),
            (
                "{\n  \"permissions\": {\n    \"deny\": [\"A\"]\n  }\n}\n",
                "{\n  \"permissions\": {\n    \"deny\": [\"A\", \"Edit\"]\n  }\n}\n",
            ),
            (
                "{\n  \"permissions\": {\n    \"deny\": [\n      \"A\" // why\n    ]\n  }\n}\n",
                "{\n  \"permissions\": {\n    \"deny\": [\n      \"A\", // why\n      \"Edit\"\n    ]\n  }\n}\n",
            ),
        ] {
            assert_eq!(add_item(before), after);
        }
    }

    #[test]
    fn removing_an_added_item_restores_the_file() {
        let place = Place::item(&["permissions", "deny"], "Edit");
        for list in [
            "[\"A\"]",
            "[ \"A\", {\"b\": 1} ]",
            "[\n  \"A\",\n  \"B\" // b\n]",
            "[\n  \"A\", // a\n]",
            "[]",
            "[ // none\n]",
        ] {
            let text = format!("{{\n  \"permissions\": {{ \"deny\": {list} }}\n}}\n");
            let added = add_item(&text);
            assert_eq!(apply(&added, remove(&added, &place).unwrap()).unwrap(), text);
        }
    }

    #[test]
    fn an_added_entry_matches_the_file_s_layout() {
        for (before, after) in [
            ("", "{\n  \"mcp\": {\n    \"slipstitch\": {\n      \"on\": true\n    }\n  }\n}\n"),
            ("{}", "{\n  \"mcp\": {\n    \"slipstitch\": {\n      \"on\": true\n    }\n  }\n}"),
            ("{\"mcp\":{}}", "{\"mcp\":{\"slipstitch\": {\"on\":true}}}"),
            ("{\"mcp\":{\"a\":1}}\n", "{\"mcp\":{\"a\":1, \"slipstitch\": {\"on\":true}}}\n"),
            (
                "{\n\t\"mcp\": {\n\t\t\"a\": 1\n\t}\n}\n",
                "{\n\t\"mcp\": {\n\t\t\"a\": 1,\n\t\t\"slipstitch\": {\n\t\t\t\"on\": true\n\t\t}\n\t}\n}\n",
            ),
            (
                "{\r\n  \"mcp\": {\r\n    \"a\": 1\r\n  }\r\n}",
                "{\r\n  \"mcp\": {\r\n    \"a\": 1,\r\n    \"slipstitch\": {\r\n      \"on\": true\r\n    }\r\n  }\r\n}",
            ),
            (
                "{\n  \"mcp\": {\n    \"a\": 1, // one, \"two\"\n  },\n}\n",
                "{\n  \"mcp\": {\n    \"a\": 1, // one, \"two\"\n    \"slipstitch\": {\n      \"on\": true\n    },\n  },\n}\n",
            ),
            (
                "{\n  \"mcp\": {\n    \"a\": 1 /* one */ // two\n    // three\n  }\n}\n",
                "{\n  \"mcp\": {\n    \"a\": 1, /* one */ // two\n    \"slipstitch\": {\n      \"on\": true\n    }\n    // three\n  }\n}\n",
            ),
            (
                "{\"mcp\": {\"a\": 1,\n  \"b\": 2\n}}",
                "{\"mcp\": {\"a\": 1,\n  \"b\": 2, \"slipstitch\": {\"on\":true}\n}}",
            ),
            (
                "{\"mcp\": {\"a\": 1 // one\n}}",
                "{\"mcp\": {\"a\": 1, // one\n\"slipstitch\": {\n  \"on\": true\n}\n}}",
            ),
            (
                "{\n  \"mcp\": {\n\n    \"a\": 1\n\n  }\n}\n",
                "{\n  \"mcp\": {\n\n    \"a\": 1,\n    \"slipstitch\": {\n      \"on\": true\n    }\n\n  }\n}\n",
            ),
            (
                "// none yet\n{\n  \"mcp\": {\n    // none\n  }\n}\n",
                "// none yet\n{\n  \"mcp\": {\n    // none\n    \"slipstitch\": {\n      \"on\": true\n    }\n  }\n}\n",
            ),
        ] {
            assert_eq!(add(before), after, "{before:?}");
        }
    }

    /// Every combination of what may surround the neighbours of an added entry.
    #[test]
    fn removing_an_added_entry_restores_the_file() {
        let gaps =
            ["", " ", "\n", "\r\n    ", "\n\n\t", "/* c */", " // c, \"}\"\n  ", "\n  // c\n  /* d */ "];
        let mut count = 0;
        for (before, after) in gaps.iter().flat_map(|before| gaps.map(|after| (before, after))) {
            for trailing in ["", ",", " ,", "// t\n,", ", // t\n"] {
                for neighbours in ["\"a\": 1", "\"a\": {\"x\": []}, \"b\": \"//\"", "\"a\": 1,\n    \"b\": 2"]
                {
                    let servers = format!("{{{before}{neighbours}{trailing}{after}}}");
                    for text in [
                        format!("{{\"mcp\":{servers}}}"),
                        format!("// mine\n{{\n  \"z\": 1,\n  \"mcp\": {servers}, // mine\n}}\n"),
                    ] {
                        let added = add(&text);
                        let document = parse(&added).unwrap();
                        assert_eq!(document["mcp"]["slipstitch"], json!({"on": true}), "{text:?}: {added:?}");
                        assert_eq!(take_out(&added), text, "{added:?}");
                        count += 1;
                    }
                }
            }
        }
        assert_eq!(count, 8 * 8 * 5 * 3 * 2);
    }

    #[test]
    fn removing_the_only_entry_leaves_the_comments() {
        for before in
            ["{\n  \"mcp\": {}\n}\n", "{\n  \"mcp\": {\n    // none\n  }\n}\n", "{\"mcp\":{/* none */}}"]
        {
            assert_eq!(take_out(&add(before)), before);
        }
        assert_eq!(take_out("{\"mcp\": {\n  \"slipstitch\": 1,\n}}"), "{\"mcp\": {}}");
    }

    #[test]
    fn removing_an_entry_keeps_its_neighbours() {
        for (before, after) in [
            ("{\"mcp\": {\"slipstitch\": 1, \"b\": 2}}", "{\"mcp\": { \"b\": 2}}"),
            ("{\"mcp\": {\"a\": 1, \"slipstitch\": 1, \"b\": 2}}", "{\"mcp\": {\"a\": 1, \"b\": 2}}"),
            ("{\"mcp\": { // c\n\"slipstitch\": 1, \"b\": 2}}", "{\"mcp\": { // c\n \"b\": 2}}"),
            ("{\"mcp\": {\"a\": 1, // c\n\"slipstitch\": 1}}", "{\"mcp\": {\"a\": 1 // c\n}}"),
            ("{\"mcp\": {\"slipstitch\": 1 /* c */, \"b\": 2}}", "{\"mcp\": { /* c */ \"b\": 2}}"),
            (
                "{\n \"mcp\": {\n  \"a\": 1,\n  // ours\n  \"slipstitch\": 1\n }\n}",
                "{\n \"mcp\": {\n  \"a\": 1\n  // ours\n }\n}",
            ),
        ] {
            assert_eq!(take_out(before), after);
        }
    }

    #[test]
    fn values_survive_conversion() {
        let text = r#"{"a": [1, -2.50, 1e3, true, null, "\u00e9\n\""], "b": {"": {}}}"#;
        assert_eq!(Value::Object(parse(text).unwrap()), serde_json::from_str::<Value>(text).unwrap());
    }
}
