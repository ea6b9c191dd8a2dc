//! Long texts that repeat a few bytes.

use super::*;

const FLOODS: &[&str] = &[
    "E)\n",
    " E\n",
    ";\n",
    "'",
    "\"\n",
    "\"",
    "\"x\\",
    "<<E\n",
    "a = <<E\n",
    "/*",
    "*/",
    "}\n",
    "}",
    "a\n",
    "a",
    "a = \n",
    "a = 1\n",
    "[",
    "]",
    "([",
    "[)",
    "(]",
    "{",
    "${",
    "\"${",
    "\"${\n",
    "\"${x}",
    "#\n",
    "=======\n",
    "<<<<<<< \n",
    ">>>>>>> \n",
    "a=1,",
    "\u{e9}",
    "\u{e9}\u{301} ",
    "\u{1}",
    "b {\n",
    "b {",
    "b \"x\n",
    "b \"x {\n",
    "b \"${\n",
    "b \"\\q\" {}\n",
    "resource {\n",
    "a={a=1,",
    "a={a=1,a=1\n",
    "a = [1,\n",
    "f(",
    "1.",
    "1e",
    "~}",
    "%{",
    "\"%{if x}",
    "a ? ",
    "-",
    ".a",
    "\r",
    "\\",
    "variable \"a\" {\n b = [\n",
];

/// A walk whose time grew with the square would be felt here: each text has 20,000 bytes.
#[test]
fn floods_are_cut_off() {
    for flood in FLOODS {
        for before in ["", "a = ", "a = {", "a = \"", "a = <<E\n", "b {\n"] {
            let text = format!("{before}{}", flood.repeat(20_000 / flood.len()));
            let (_, problems, _) = read(text.as_bytes());
            assert!(problems.len() <= MAX_PROBLEMS, "{before:?} {flood:?}");
        }
    }
}
