//! The pictures of the README are what lockctl prints. `scripts/pictures` draws them again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anstyle::{Color, RgbColor};
use anstyle_svg::Term;
use pulldown_cmark::{Options, Parser, html};

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// Colours of a picture: on a light page, or on a dark one.
struct Theme {
    name: &'static str,
    text: RgbColor,
    page: RgbColor,
    /// Lines of the tables, and the ground of code.
    line: RgbColor,
    code: RgbColor,
    /// Those of a terminal that the programs use, by the number of the escape sequence.
    terminal: [(&'static str, RgbColor); 5],
}

const THEMES: [Theme; 2] = [
    Theme {
        name: "light",
        text: RgbColor(0x1f, 0x23, 0x28),
        page: RgbColor(0xff, 0xff, 0xff),
        line: RgbColor(0xd1, 0xd9, 0xe0),
        code: RgbColor(0xef, 0xf1, 0xf3),
        terminal: [
            ("31", RgbColor(0xcf, 0x22, 0x2e)),
            ("33", RgbColor(0x9a, 0x67, 0x00)),
            ("91", RgbColor(0xcf, 0x22, 0x2e)),
            ("36", RgbColor(0x1b, 0x7c, 0x83)),
            ("94", RgbColor(0x09, 0x69, 0xda)),
        ],
    },
    Theme {
        name: "dark",
        text: RgbColor(0xf0, 0xf6, 0xfc),
        page: RgbColor(0x0d, 0x11, 0x17),
        line: RgbColor(0x3d, 0x44, 0x4d),
        code: RgbColor(0x25, 0x2b, 0x33),
        terminal: [
            ("31", RgbColor(0xff, 0x7b, 0x72)),
            ("33", RgbColor(0xd2, 0x99, 0x22)),
            ("91", RgbColor(0xff, 0x7b, 0x72)),
            ("36", RgbColor(0x39, 0xc5, 0xcf)),
            ("94", RgbColor(0x58, 0xa6, 0xff)),
        ],
    },
];

#[test]
#[cfg_attr(windows, ignore = "the pictures show paths with slashes")]
fn the_pictures_show_what_is_printed() {
    let root = Path::new("fixtures/pictures/root");
    let verify = printed(root, &["verify", "--color", "always"]);
    let (before, after) = ("fixtures/review/before.hcl", "fixtures/review/after.hcl");
    let comment = printed(
        Path::new(""),
        &["diff", before, after, "--format", "markdown"],
    );
    for theme in &THEMES {
        compare(&format!("verify-{}", theme.name), &terminal(&verify, theme));
        compare(
            &format!("comment-{}", theme.name),
            &page(&comment, 250, theme),
        );
    }
}

/// Runs lockctl in a directory of the checkout, and returns both of its outputs, remarks last.
fn printed(dir: &Path, args: &[&str]) -> String {
    let cache = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_lockctl"))
        .args(args)
        .current_dir(Path::new(HERE).join(dir))
        // Made by the run itself, so that nobody else may write it.
        .env("LOCKCTL_CACHE_DIR", cache.path().join("store"))
        .env_remove("NO_COLOR")
        .output()
        .unwrap();
    let both = [output.stdout, output.stderr].concat();
    String::from_utf8(both).unwrap()
}

/// Draws a terminal in which `lockctl verify` was typed.
fn terminal(output: &str, theme: &Theme) -> String {
    let mut output = format!("\x1b[1m$ lockctl verify\x1b[0m\n{}", output.trim_end());
    for (number, RgbColor(red, green, blue)) in &theme.terminal {
        let colour = format!("\x1b[38;2;{red};{green};{blue}m");
        output = output.replace(&format!("\x1b[{number}m"), &colour);
    }
    Term::new()
        .fg_color(Color::Rgb(theme.text))
        .bg_color(Color::Rgb(theme.page))
        .render_svg(&output)
}

/// Draws Markdown as a page shows it, in a box of this height in pixels.
fn page(markdown: &str, height: u32, theme: &Theme) -> String {
    let mut body = String::new();
    html::push_html(&mut body, Parser::new_ext(markdown, Options::ENABLE_TABLES));
    // SVG is XML, which knows few names of characters.
    let body = body.replace("&nbsp;", "&#160;");
    let [text, ground, line, code] = [theme.text, theme.page, theme.line, theme.code]
        .map(|RgbColor(red, green, blue)| format!("#{red:02x}{green:02x}{blue:02x}"));
    format!(
        r##"<svg width="900px" height="{height}px" xmlns="http://www.w3.org/2000/svg">
<style>
.page {{ box-sizing: border-box; height: {height}px; padding: 0 16px; overflow: hidden; color: {text}; background: {ground};
  border: 1px solid {line}; border-radius: 6px; font: 14px/1.5 -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif }}
table {{ border-collapse: collapse }}
th, td {{ padding: 6px 13px; border: 1px solid {line}; text-align: left; vertical-align: top }}
code {{ padding: 2px 5px; border-radius: 6px; background: {code}; font: 12px ui-monospace, Menlo, Consolas, "Liberation Mono", monospace }}
</style>
<foreignObject width="900" height="{height}"><div class="page" xmlns="http://www.w3.org/1999/xhtml">
{body}</div></foreignObject>
</svg>
"##
    )
}

/// Holds a picture against its file, or writes the file if asked to.
fn compare(name: &str, picture: &str) {
    let path: PathBuf = [HERE, ".github/pictures", &format!("{name}.svg")]
        .iter()
        .collect();
    if std::env::var("SNAPSHOTS").is_ok_and(|action| action == "overwrite") {
        fs::write(&path, picture).unwrap();
    }
    let drawn = fs::read_to_string(&path).unwrap_or_default();
    // A checkout on Windows may have other line ends.
    let is_same = drawn.replace("\r\n", "\n") == picture;
    assert!(
        is_same,
        "{name}.svg is not what is printed now: run scripts/pictures and look at it"
    );
}
