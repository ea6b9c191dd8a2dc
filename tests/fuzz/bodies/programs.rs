//! A slow, literal reading of where programs have their data (`src/core/words/contents/rules.md`).

/// The first bytes of build information.
pub(crate) const MAGIC: &[u8] = b"\xff Go buildinf:";

/// Bytes at the beginning in which headers count.
const HEAD: usize = 64 * 1024;

/// Data of a program by offset, length in the file, length that is searched, and address.
struct Data {
    offset: u128,
    bytes: u128,
    searched: u128,
    address: u128,
}

/// Returns build information with everything behind it in its segment.
pub(crate) fn block_of(program: &[u8]) -> Option<&[u8]> {
    let head = &program[..program.len().min(HEAD)];
    for data in data_of(head) {
        let end = data.offset + data.bytes;
        // Addresses of 64 bits do not go on at 0.
        if end > u128::from(u64::MAX) {
            continue;
        }
        let searched = (data.offset + data.searched).min(end);
        for place in 0..program.len() {
            let at = place as u128;
            let is_aligned =
                at >= data.offset && (data.address + at - data.offset).is_multiple_of(16);
            if is_aligned && at + 32 <= searched && program[place..].starts_with(MAGIC) {
                let end = usize::try_from(end)
                    .unwrap_or(usize::MAX)
                    .min(program.len());
                // A header that is cut off by the end of the file is none.
                return program.get(place..end).filter(|block| block.len() >= 32);
            }
        }
    }
    None
}

fn data_of(head: &[u8]) -> Vec<Data> {
    if head.starts_with(b"\x7fELF") {
        let mut all = elf(head);
        let start = |data: &Data| data.offset + (16 - data.address % 16) % 16;
        let end = |data: &Data| data.offset + data.bytes;
        all.retain(|data| end(data) <= u128::from(u64::MAX));
        all.truncate(16);
        all.sort_by_key(|data| (start(data), end(data)));
        let mut taken = 0;
        all.retain(|data| {
            let is_free = start(data) >= taken;
            taken = taken.max(end(data));
            is_free
        });
        return all;
    }
    let one = if head.starts_with(b"MZ") {
        pe(head)
    } else if head.starts_with(b"\xca\xfe\xba\xbe") {
        fat(head)
    } else {
        mach_o(head)
    };
    one.into_iter().collect()
}

/// Reads a number; `None` behind the end.
fn number(head: &[u8], at: u128, length: usize, is_big: bool) -> Option<u128> {
    let at = usize::try_from(at).ok()?;
    let mut bytes = head.get(at..)?.get(..length)?.to_vec();
    if is_big {
        bytes.reverse();
    }
    bytes.resize(16, 0);
    Some(u128::from_le_bytes(bytes.try_into().expect("16 bytes")))
}

fn elf(head: &[u8]) -> Vec<Data> {
    let mut all = Vec::new();
    let mut read = || {
        let is_wide = matches!(head.get(4)?, 2);
        let is_big = matches!(head.get(5)?, 2);
        if !matches!(head[4], 1 | 2) || !matches!(head[5], 1 | 2) {
            return None;
        }
        let get = |at: u128, length| number(head, at, length, is_big);
        let (table, bytes, rows) = if is_wide {
            (get(32, 8)?, get(54, 2)?, get(56, 2)?)
        } else {
            (get(28, 4)?, get(42, 2)?, get(44, 2)?)
        };
        for row in 0..rows {
            let row = table + row * bytes;
            let (kind, flags) = (get(row, 4), get(row + if is_wide { 4 } else { 24 }, 4)?);
            if kind? != 1 || flags & 3 != 2 {
                continue;
            }
            let (offset, address, bytes) = if is_wide {
                (get(row + 8, 8)?, get(row + 16, 8)?, get(row + 32, 8)?)
            } else {
                (get(row + 4, 4)?, get(row + 8, 4)?, get(row + 16, 4)?)
            };
            all.push(Data {
                offset,
                bytes,
                searched: bytes,
                address,
            });
        }
        Some(())
    };
    // Rows before a cut count.
    read();
    all
}

fn pe(head: &[u8]) -> Option<Data> {
    let get = |at: u128, length| number(head, at, length, false);
    let header = get(0x3c, 4)?;
    if get(header, 4)? != 0x4550 {
        return None;
    }
    let table = header + 24 + get(header + 20, 2)?;
    for row in 0..get(header + 6, 2)? {
        let row = table + row * 40;
        let (searched, address) = (get(row + 8, 4), get(row + 12, 4)?);
        let (bytes, offset) = (get(row + 16, 4)?, get(row + 20, 4));
        if get(row + 36, 4)? & !0x60_0000 == 0xc000_0040 && address != 0 && bytes != 0 {
            let (searched, offset) = (searched?, offset?);
            return Some(Data {
                offset,
                bytes,
                searched,
                address,
            });
        }
    }
    None
}

fn fat(head: &[u8]) -> Option<Data> {
    if number(head, 4, 4, true)? == 0 {
        return None;
    }
    let base = number(head, 16, 4, true)?;
    let data = mach_o(head.get(usize::try_from(base).ok()?..)?)?;
    Some(Data {
        offset: data.offset + base,
        ..data
    })
}

fn mach_o(head: &[u8]) -> Option<Data> {
    let (is_big, is_wide) = match head.get(..4)? {
        b"\xce\xfa\xed\xfe" => (false, false),
        b"\xcf\xfa\xed\xfe" => (false, true),
        b"\xfe\xed\xfa\xce" => (true, false),
        b"\xfe\xed\xfa\xcf" => (true, true),
        _ => return None,
    };
    let get = |at: u128, length| number(head, at, length, is_big);
    let word = if is_wide { 8 } else { 4 };
    let wide = word as u128;
    let mut at = if is_wide { 32 } else { 28 };
    let mut writable = None;
    for _ in 0..get(16, 4)? {
        let (kind, length) = (get(at, 4)?, get(at + 4, 4)?);
        if length < 8 {
            return None;
        }
        if kind == if is_wide { 0x19 } else { 1 } {
            let address = get(at + 24, word)?;
            let offset = get(at + 24 + 2 * wide, word)?;
            let bytes = get(at + 24 + 3 * wide, word)?;
            let rights = [get(at + 24 + 4 * wide, 4)?, get(at + 28 + 4 * wide, 4)?];
            for section in 0..get(at + 32 + 4 * wide, 4)? {
                let section = at + 40 + 4 * wide + section * if is_wide { 80 } else { 68 };
                let name = head.get(usize::try_from(section).ok()?..)?;
                if name.starts_with(b"__go_buildinfo\0\0") {
                    let start = get(section + 32, word)?;
                    let searched = get(section + 32 + wide, word)?;
                    let skipped = start.checked_sub(address)?;
                    return Some(Data {
                        offset: offset + skipped,
                        bytes: bytes.checked_sub(skipped)?,
                        searched,
                        address: start,
                    });
                }
            }
            if writable.is_none() && address != 0 && bytes != 0 && rights == [3, 3] {
                writable = Some(Data {
                    offset,
                    bytes,
                    searched: bytes,
                    address,
                });
            }
        }
        at += length;
    }
    writable
}
