use super::*;

const MAGIC: &[u8] = b"\xff Go buildinf:";

const TEXT: &str = "path\tx.example/p\nmod\tx.example/p\tv1.0.0+dirty\t\ndep\ta.example/a\tv1.2.3\th1:AAA=\n\
    dep\tb.example/b\tv0.0.0\n=>\t./b\t(devel)\t\n\nbuild\t-ldflags=\"-X 'main.v=1 \\\"x\\\"'\"\nbuild\tvcs=git\n\
    build\tvcs.revision=abc\nbuild\tvcs.time=2024-05-06T07:08:09Z\nbuild\tvcs.modified=true\n";

/// A length as Go writes it.
fn number(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// The block of build information.
fn block(version: &str, text: &str) -> Vec<u8> {
    let text = format!("{0}{text}{0}", "=".repeat(16));
    let mut block = [MAGIC, &[8, 2], &[0; 16]].concat();
    for string in [version, &text] {
        block.extend(number(string.len()));
        block.extend_from_slice(string.as_bytes());
    }
    block
}

/// An ELF program with one writable segment, which begins at 0x100 of the file.
fn elf(data: &[u8]) -> Vec<u8> {
    let mut program = vec![0; 0x100];
    program[..6].copy_from_slice(b"\x7fELF\x02\x01");
    program[32] = 64;
    program[54] = 56;
    program[56] = 1;
    program[64] = 1;
    program[68] = 6;
    program[64 + 9] = 1;
    program[64 + 17] = 1;
    program[64 + 32..64 + 40].copy_from_slice(&(data.len() as u64).to_le_bytes());
    program.extend_from_slice(data);
    program
}

/// Reads a program in pieces of a length.
fn scan(program: &[u8], piece: usize) -> ProgramContents {
    let mut scanner = ProgramScanner::new();
    for bytes in program.chunks(piece) {
        scanner.push(bytes);
    }
    scanner.finish()
}

fn info(program: &[u8]) -> Option<BuildInfo> {
    scan(program, usize::MAX).build_info().cloned()
}

#[track_caller]
fn check_unknown(data: &[u8]) {
    for piece in [1, 15, usize::MAX] {
        assert_eq!(
            scan(&elf(data), piece),
            ProgramContents::Unknown,
            "by {piece}"
        );
    }
}

#[test]
fn what_go_wrote_is_read() {
    let info = info(&elf(&block("go1.22.3", TEXT))).expect("sound");
    assert_eq!(info.go_version, "go1.22.3");
    assert_eq!(info.commit(), Some("abc"));
    assert_eq!(info.time(), Some("2024-05-06T07:08:09Z"));
    assert_eq!(info.is_dirty(), Some(true));
    assert_eq!(info.deps.len(), 2);
    assert_eq!(
        info.deps[1].replacement.as_ref().expect("replaced").path,
        "./b"
    );
    assert_eq!(info.setting("-ldflags"), Some("-X 'main.v=1 \"x\"'"));
    // Without a replacement there is a column for the checksum, even if it is empty.
    let lines: String = TEXT.lines().map(|line| format!("\t{line}\n")).collect();
    assert_eq!(info.to_string(), lines);
    assert_eq!(BuildInfo::parse_printed("go1.22.3", &lines), Some(info));
    assert_eq!(BuildInfo::parse_printed("go1.22.3", TEXT), None);
}

#[test]
fn pieces_of_any_size_give_the_same() {
    let mut data = vec![0xff; 48];
    data.extend(block("go1.22.3", TEXT));
    let program = elf(&data);
    let whole = scan(&program, usize::MAX);
    assert!(whole.build_info().is_some());
    for piece in 1..200 {
        assert_eq!(scan(&program, piece), whole, "by {piece}");
    }
    for at in 0..program.len() {
        let mut scanner = ProgramScanner::new();
        scanner.push(&program[..at]);
        scanner.push(&program[at..]);
        assert_eq!(scanner.finish(), whole, "cut at {at}");
    }
}

#[test]
fn the_first_aligned_magic_in_the_data_counts() {
    let block = block("go1.22.3", "");
    let mut misplaced = vec![0; 7];
    misplaced.extend_from_slice(MAGIC);
    misplaced.resize(32, 0);
    assert!(info(&elf(&[&misplaced, &block[..]].concat())).is_some());
    // `go version -m` gives up here, too.
    let mut void = MAGIC.to_vec();
    void.resize(32, 0);
    check_unknown(&[&void, &block[..]].concat());
    // Outside of the data it means nothing.
    let mut program = elf(&[0; 64]);
    program.extend_from_slice(&block);
    assert_eq!(scan(&program, 100), ProgramContents::Unknown);
    let mut program = elf(&block);
    program[68] = 5;
    assert_eq!(scan(&program, 100), ProgramContents::Unknown);
}

#[test]
fn all_segments_with_data_are_searched_in_the_order_of_the_file() {
    // As a program that is independent of its position: what is fixed at the start is a segment of its own.
    let mut program = elf(&[&[0xff; 64], &block("go1.22.3", "")[..]].concat());
    let row: Vec<u8> = program[64..64 + 56].to_vec();
    program[56] = 2;
    program[64 + 56..64 + 112].copy_from_slice(&row);
    program[64 + 32] = 64;
    program[64 + 33] = 0;
    program[64 + 56 + 8] = 64;
    program[64 + 56 + 16] = 64;
    for piece in [1, 7, 64, usize::MAX] {
        assert!(scan(&program, piece).build_info().is_some(), "by {piece}");
    }
    // Segments that share places are read once.
    program[64 + 56 + 8] = 32;
    assert_eq!(scan(&program, 7), ProgramContents::Unknown);
}

#[test]
fn places_are_aligned_by_address() {
    let shifted = [&[0; 8], &block("go1.22.3", "")[..]].concat();
    check_unknown(&shifted);
    let mut program = elf(&shifted);
    program[64 + 16] = 8;
    assert!(info(&program).is_some());
}

#[test]
fn a_program_cut_at_any_byte_is_unknown() {
    let program = elf(&block("go1.22.3", TEXT));
    for length in 0..program.len() {
        assert_eq!(
            scan(&program[..length], 64),
            ProgramContents::Unknown,
            "{length} bytes"
        );
    }
}

#[test]
fn lengths_that_lie_are_unknown() {
    let header = [MAGIC, &[8, 2], &[0; 16]].concat();
    for number in [
        &b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"[..],
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\xff\xff\xff\xff\x0f",
        b"\x7f",
        b"\x80",
        b"",
    ] {
        check_unknown(&[&header, number].concat());
        check_unknown(&[&header, &b"\x06go1.22"[..], number].concat());
    }
    check_unknown(&[&header, &b"\x00\x00"[..]].concat());
    // A segment that ends behind the file, too.
    let mut program = elf(&[&header, &b"\xff\xff\xff\x7f"[..]].concat());
    program[64 + 32..64 + 40].fill(0x7f);
    assert_eq!(scan(&program, 9), ProgramContents::Unknown);
}

#[test]
fn text_has_a_limit() {
    let line = format!("dep\t{}\tv1.0.0\th1:=\n", "x".repeat(1000));
    let fits = line.repeat(MAX_TEXT_BYTES / line.len() - 1);
    assert!(info(&elf(&block("go1.22.3", &fits))).is_some());
    check_unknown(&block("go1.22.3", &fits.repeat(2)));
}

/// 1 GiB of data before the information is passed over: memory stays at one piece, and nothing is searched twice.
#[test]
fn a_gigabyte_before_the_information_is_passed_over() {
    const PIECE: usize = 1 << 20;
    const PIECES: usize = 1024;
    let data = block("go1.22.3", TEXT);
    let start = 0x100 + PIECE * PIECES;
    // Either all of it is data, or only what follows.
    for (offset, length) in [(0x100, PIECE * PIECES + data.len()), (start, data.len())] {
        let mut head = elf(&[]);
        for place in [64 + 8, 64 + 16] {
            head[place..place + 8].copy_from_slice(&(offset as u64).to_le_bytes());
        }
        head[64 + 32..64 + 40].copy_from_slice(&(length as u64).to_le_bytes());
        let mut scanner = ProgramScanner::new();
        scanner.push(&head);
        let padding = vec![0; PIECE];
        for _ in 0..PIECES {
            scanner.push(&padding);
        }
        scanner.push(&data);
        let contents = scanner.finish();
        let info = contents.build_info().expect("sound");
        assert_eq!(info.go_version, "go1.22.3");
    }
}

#[test]
fn a_thousand_magics_are_one() {
    let mut header = [MAGIC, &[8, 2], &[0; 16]].concat();
    header.extend(number(1 << 20));
    header.resize(48, 0);
    check_unknown(&header.repeat(1000));
    let misplaced = [&[0; 8], MAGIC, &[0; 10]].concat();
    let data = [&misplaced.repeat(1000), &block("go1.22.3", TEXT)[..]].concat();
    assert!(info(&elf(&data)).is_some());
}

#[test]
fn a_text_that_go_did_not_write_is_unknown() {
    for text in [
        "mod\ta\n",
        "dep\ta\tb\tc\td\n",
        "=>\ta\tb\tc\n",
        "dep\ta\tb\n=>\ta\tb\n",
        "dep\ta\tb\n=>\ta\tb\tc\n=>\ta\tb\tc\n",
        "build\tx\n",
        "build\t=x\n",
        "build\ta b=x\n",
        "build\ta=x y\n",
        "build\ta=\"x\n",
        "build\ta=\"\\q\"\n",
        "build\ta=\"\\xff\"\n",
        "build\ta=\"\\ud800\"\n",
        "build\t\"a\"b=c\n",
        "path\tx\x1b[2J\n",
        "dep\ta\tb\u{9b}31m\n",
        "path\tx\r\n",
    ] {
        assert_eq!(BuildInfo::parse("go1.22.3", text), None, "{text:?}");
    }
    assert_eq!(BuildInfo::parse("", TEXT), None);
    assert_eq!(BuildInfo::parse("go1\x1b", TEXT), None);
    check_unknown(&block("go1.22.3", "path\tx\x1b[2J\n"));
}

#[test]
fn settings_are_quoted_as_go_does() {
    #[track_caller]
    fn check(written: &str, value: &str) {
        let text = format!("build\tk={written}\n");
        let info = BuildInfo::parse("go1.22.3", &text).expect("sound");
        assert_eq!(info.settings[0].value, value);
        assert_eq!(info.to_string(), format!("\t{text}"));
    }
    check("", "");
    check("a=b\\c'é", "a=b\\c'é");
    check("\"a b\"", "a b");
    check(
        r#""a\tb\n\r\a\b\f\v\x00\x7f""#,
        "a\tb\n\r\x07\x08\x0c\x0b\0\x7f",
    );
    check(
        r#""\"`\\ é\u0301'""#.replace("\\u0301", "\u{301}").as_str(),
        "\"`\\ é\u{301}'",
    );
    check(r#""\u200b\u00a0 \U000e0001""#, "\u{200b}\u{a0} \u{e0001}");
    let info =
        BuildInfo::parse("go1.22.3", "build\t`a b`=`c`\nbuild\tk=\"\\x1b\\101\"\n").expect("sound");
    assert_eq!(
        info.to_string(),
        "\tbuild\t\"a b\"=c\n\tbuild\tk=\"\\x1bA\"\n"
    );
}

#[test]
fn kinds_of_lines_that_are_not_known_are_skipped() {
    let info = BuildInfo::parse("go1.30", "new\tx\n\npath\tp\nmod\t\t\npath\tlast").expect("sound");
    assert_eq!(info.path, "p");
    assert_eq!(info.main, None);
}
