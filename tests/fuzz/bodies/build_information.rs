//! Build information: a scanner that sees a program in pieces reads what a slow reader of the whole file does.

use arbitrary::{Result, Unstructured};
use lockctl::contents::{BuildInfo, MAX_TEXT_BYTES, ProgramContents, ProgramScanner};

use super::Budget;
use super::programs::{MAGIC, block_of};

const BUDGET: Budget = Budget {
    // The beginning of the program, which is kept until the headers are read.
    base_bytes: 512 * 1024,
    bytes: 64,
    base_allocations: 200,
    allocations: 4,
};

const LINES: &[&str] = &[
    "path\tx.example/p\n",
    "mod\tx.example/p\tv1.0.0\t\n",
    "dep\ta.example/a\tv1.2.3\th1:AAA=\n",
    "dep\ta.example/a\tv1.2.3\n",
    "=>\t./a\t(devel)\t\n",
    "\n",
    "build\tvcs.revision=abc\n",
    "build\tvcs.modified=true\n",
    "build\t-ldflags=\"-X 'a=\\u200b\\x1b\\\"'\"\n",
    "build\t`a b`=`c`\n",
    "dep\tx\x1b[2J\tv1\n",
];

/// An input that begins as a program does is one, with lengths of pieces in its last byte; any other makes a program
/// with sound headers.
pub fn run(data: &[u8]) {
    let is_program = [
        &b"\x7fELF"[..],
        b"MZ",
        b"\xca\xfe\xba\xbe",
        b"\xcf\xfa",
        b"\xce\xfa",
        b"\xfe\xed",
    ]
    .iter()
    .any(|magic| data.starts_with(magic));
    if is_program {
        check(data, data.last().map_or(1, |byte| usize::from(*byte) + 1));
    } else if let Ok((program, piece)) = program(&mut Unstructured::new(data)) {
        check(&program, piece);
    }
}

fn check(program: &[u8], piece: usize) {
    let expected = reference(program);
    let whole = BUDGET.spend(program, || scan(program.chunks(program.len().max(1))));
    assert_eq!(whole, expected, "in one piece");
    assert_eq!(
        scan(program.chunks(piece)),
        expected,
        "in pieces of {piece} bytes"
    );
    let (first, rest) = program.split_at(program.len() / 2);
    assert_eq!(scan([first, rest].into_iter()), expected, "in two pieces");
    let Some(info) = expected.build_info() else {
        return;
    };
    let printed = info.to_string();
    assert!(
        !printed.contains(|c: char| c.is_control() && c != '\t' && c != '\n'),
        "{printed:?}"
    );
    assert_eq!(
        BuildInfo::parse_printed(&info.go_version, &printed).as_ref(),
        Some(info),
        "{printed:?}"
    );
}

fn scan<'p>(pieces: impl Iterator<Item = &'p [u8]>) -> ProgramContents {
    let mut scanner = ProgramScanner::new();
    for piece in pieces {
        scanner.push(piece);
    }
    scanner.finish()
}

/// Reads a program with all of it in memory (`contents` rules 1 and 2).
fn reference(program: &[u8]) -> ProgramContents {
    let read = || {
        let block = block_of(program)?;
        if block[15] & 2 == 0 {
            return None;
        }
        let (version, rest) = string(&block[32..])?;
        let (text, rest) = string(rest)?;
        if block.len() - rest.len() > 32 + MAX_TEXT_BYTES {
            return None;
        }
        let text = if text.len() >= 33 && text[text.len() - 17] == b'\n' {
            &text[16..text.len() - 16]
        } else {
            b""
        };
        BuildInfo::parse(
            std::str::from_utf8(version).ok()?,
            std::str::from_utf8(text).ok()?,
        )
    };
    read().map_or(ProgramContents::Unknown, |info| {
        ProgramContents::Go(Box::new(info))
    })
}

/// Splits a string with its length off.
fn string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut length = 0_u128;
    for (index, byte) in bytes.iter().enumerate().take(10) {
        length |= u128::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            let length = usize::try_from(length).ok()?;
            return bytes[index + 1..].split_at_checked(length);
        }
    }
    None
}

/// Makes a program of 64-bit ELF, and the length of its pieces.
fn program(input: &mut Unstructured<'_>) -> Result<(Vec<u8>, usize)> {
    let mut data = input.arbitrary::<Vec<u8>>()?;
    data.resize(
        data.len() * usize::from(input.int_in_range(1..=8_u8)?),
        0xff,
    );
    for _ in 0..input.int_in_range(0..=2)? {
        if input.ratio(7, 8)? {
            data.resize(data.len().next_multiple_of(16), 0);
        }
        data.extend_from_slice(MAGIC);
        data.extend_from_slice(&[8, if input.ratio(7, 8)? { 2 } else { 0 }]);
        data.extend_from_slice(&[0; 16]);
        let mut text = "=".repeat(16);
        for _ in 0..input.int_in_range(0..=6)? {
            text += *input.choose(LINES)?;
        }
        text += &"=".repeat(16);
        for string in ["go1.22.3", &text] {
            let lie: u8 = if input.ratio(1, 8)? {
                input.arbitrary()?
            } else {
                0
            };
            let length = string.len() ^ usize::from(lie);
            data.extend([0x80 | (length & 0x7f) as u8, (length >> 7 & 0x7f) as u8]);
            data.extend_from_slice(string.as_bytes());
        }
    }
    let mut program = vec![0; 64];
    program[..6].copy_from_slice(b"\x7fELF\x02\x01");
    program[32] = 64;
    program[54] = 56;
    program[56] = input.int_in_range(1..=3)?;
    let rows = usize::from(program[56]);
    let start = 64 + 56 * rows;
    for row in 0..rows {
        let (address, skipped): (u8, u8) = if row == 0 {
            (16, 0)
        } else {
            (input.arbitrary()?, input.arbitrary()?)
        };
        let bytes = (data.len() as u64).saturating_sub(u64::from(skipped));
        let mut fields = [0; 7];
        fields[0] = 1 | if input.ratio(7, 8)? { 6 } else { 5_u64 } << 32;
        fields[1] = start as u64 + u64::from(skipped);
        fields[2] = u64::from(address);
        fields[4] = if input.ratio(1, 8)? {
            input.arbitrary()?
        } else {
            bytes
        };
        program.extend(fields.iter().flat_map(|field: &u64| field.to_le_bytes()));
    }
    program.extend(data);
    Ok((program, usize::from(input.arbitrary::<u8>()?) + 1))
}
