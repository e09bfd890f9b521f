//! The same text under another heading, in languages that the engine has no rule for. Only the layout shows that a line is a
//! heading.

use rstest::rstest;
use slipstitch_core::outcome::Status;

use super::{applied, refused};
use crate::rig::Rig;

const BODY: &str = "    check_value(a)\n    open_connection(a)\n    send_value(a)\n    close_connection(a)\n";

/// A file with the body below the name `alpha_one`, and something else below `beta_two`.
fn file(heading: &str) -> String {
    let (first, second) = (heading.replace("NAME", "alpha_one"), heading.replace("NAME", "beta_two"));
    format!("top of the file\n\n{first}\n{BODY}\n\n{second}\n    other_thing(1)\n    last_thing(2)\n")
}

#[rstest]
#[case::ssh("Host NAME")]
#[case::make("NAME: prerequisites")]
#[case::ocaml("let NAME x =")]
#[case::haskell("NAME x =")]
#[case::erlang("NAME(X) ->")]
#[case::prolog("NAME(X) :-")]
#[case::tex("\\section{NAME}")]
#[case::underlined("NAME\n=========")]
#[case::ada("procedure NAME is")]
#[case::pascal("procedure NAME;")]
#[case::vhdl("entity NAME is")]
#[case::case_of_a_shell("NAME)")]
#[case::case_of_c("case NAME:")]
#[case::xml("<bean id=\"NAME\">")]
#[case::apache("<Directory /NAME>")]
#[case::gherkin("Scenario: NAME")]
#[case::catalogue("msgid \"NAME\"")]
#[case::bibliography("@article{NAME,")]
#[case::objective_c("- (void)NAME:(int)x {")]
#[case::property("NAME: function () {")]
#[case::r("NAME <- function(x) {")]
#[case::terraform("module \"NAME\" {")]
#[case::macros("#define NAME(x) \\")]
#[case::cmake("function(NAME x)")]
fn a_line_that_encloses_the_change_names_the_place(
    #[case] heading: &str,
    // Another name, the other name of the file, and a name that differs by a letter.
    #[values("gamma_six", "beta_two", "alpha_ome")] name: &str,
) {
    let file = file(heading);
    let old = format!("{}\n{BODY}", heading.replace("NAME", name));
    let rig = Rig::new(file.as_str());
    let answer = rig.edit(&old, &old.replace("send_value(a)", "send_value(b)"));
    assert_eq!(rig.bytes(), file.as_bytes(), "{}", answer.text);
    assert_eq!(answer.report.status(), Status::Refused, "{}", answer.text);
    let failure = &answer.report.failures[0];
    assert_eq!((&failure.resend, &failure.resend_edit), (&None, &None), "{}", answer.text);
    assert!(failure.candidates.iter().all(|one| !one.choosable), "{}", answer.text);
}

/// Two swapped letters are a slip of the pen even there.
#[test]
fn swapped_letters_in_a_heading_are_recovered() {
    let file = file("Host NAME");
    let old = format!("Host alpah_one\n{BODY}");
    applied(
        file.as_str(),
        &old,
        &old.replace("send_value(a)", "send_value(b)"),
        file.replace("send_value(a)", "send_value(b)"),
    );
}

/// A title may be marked as a comment is.
#[test]
fn a_comment_that_stands_alone_is_a_title() {
    let file = file("# How to set up NAME\n");
    let old = format!("# How to set up gamma_six\n\n{BODY}");
    refused(file.as_str(), &old, &old.replace("send_value(a)", "send_value(b)"), "no_match");
}

/// The stages of a Dockerfile have no depth of their own.
#[test]
fn the_first_line_of_one_of_several_paragraphs_names_the_place() {
    let steps = "RUN install_packages\nRUN build_everything\nRUN test_everything\nCMD start_server\n";
    let file = format!("FROM base AS first_stage\n{steps}\nFROM base AS last_stage\nRUN other_things\n");
    let old = format!("FROM base AS third_one\n{steps}");
    refused(file.as_str(), &old, &old.replace("build_everything", "build_some"), "no_match");
}

/// Two comments with words of the file in place of others are those of another block.
#[test]
fn two_comments_with_swapped_words_belong_to_another_block() {
    let file = "\
# Widgets are drawn here.
setup_everything()
# Reads the labels of the input.
first_call(a)
second_call(b)
third_call(c)
fourth_call(d)
fifth_call(e)
sixth_call(f)
seventh_call(g)
# Sends the widgets to the server.
eighth_call(h)
ninth_call(i)
tenth_call(j)
eleventh_call(k)
twelfth_call(l)
thirteenth_call(m)
# The output has headers.
";
    let from = file.find("# Reads").unwrap();
    let until = file.find("# The output").unwrap();
    let old = file[from..until].replace("input", "output").replace("server", "input");
    refused(file, &old, &old.replace("fifth_call(e)", "fifth_call(x)"), "no_match");
}

/// A lone bracket is paired with the one at its own depth, so an invented line above the change does no harm.
#[test]
fn brackets_are_paired_by_their_depth() {
    let file = "\
@media (min-width: 768px) {
  .search > .results {
    max-height: 18em;
  }
}
@media (min-width: 1920px) {
  .search > .results {
    max-height: 36em;
  }
}
@media (max-width: 767px) {
  .search.short > .results {
    max-height: 12em;
  }
}
";
    let old = "\
}
 * https://example.org/license
@media (min-width: 1920px) {
  .search > .results {
    max-height: 36em;
  }
}
@media (max-width: 767px) {
  .search.short > .results {
    max-height: 12em;
";
    let rig = Rig::new(file);
    let answer = rig.edit(old, &old.replace("36em", "40em"));
    let after = rig.bytes();
    let after = String::from_utf8_lossy(&after);
    match answer.report.status() {
        Status::Applied => assert_eq!(after, file.replace("36em", "40em")),
        _ => {
            assert_eq!(after, file);
            assert!(answer.report.failures[0].candidates[0].choosable, "{}", answer.text);
        }
    }
}

/// `);` is the end of many lines, so it does not prove that the lines below it are the ones that are meant.
#[test]
fn a_bracket_is_no_part_of_a_line() {
    let file = "let app = Router::new()\n    .layer(third);\nlet _ = app;\ndone();\n";
    let (old, new) = ("    );\nlet _ = app;\ndone();", "    );\nlet _: Router = app;\ndone();");
    refused(file, old, new, "no_match");
}
