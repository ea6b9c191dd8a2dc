//! Text that is cut to the room that there is.

use std::cmp::Reverse;

use crate::report::Tone;

/// Minimum number of lines that are left to each part of a text that may be cut.
const MIN_LINES: usize = 3;

/// Maximum number of bytes that earlier parts leave to each part.
const MIN_BYTES: usize = 20_000;

/// A part of a text.
#[derive(Clone, Debug, Default)]
pub(in crate::work::report) struct Piece {
    /// Text that is shown if there is any item, or if it is all there is.
    pub(in crate::work::report) head: String,
    /// Texts of which some may be left out.
    pub(in crate::work::report) items: Vec<WholeText>,
    /// Text behind the items.
    pub(in crate::work::report) end: String,
    /// Maximum number of items where the text is cut.
    pub(in crate::work::report) most: usize,
    /// Number of further items, for which no text was made.
    pub(in crate::work::report) hidden: usize,
}

/// A text that is shown as a whole or not at all.
#[derive(Clone, Debug)]
pub(in crate::work::report) struct WholeText {
    pub(in crate::work::report) text: String,
    /// Items of the worst tone are shown first, then those of the most roots.
    pub(in crate::work::report) rank: Reverse<(Option<Tone>, usize)>,
}

/// The size that a text may have.
#[derive(Clone, Copy, Debug)]
pub(in crate::work::report) struct Room {
    pub(in crate::work::report) bytes: usize,
    pub(in crate::work::report) lines: usize,
}

impl Piece {
    /// Makes a part of items alone.
    pub(in crate::work::report) fn of_items(items: Vec<WholeText>) -> Self {
        Self {
            items,
            most: usize::MAX,
            ..Self::default()
        }
    }

    /// Adds an item to the last part, or to a new one.
    pub(in crate::work::report) fn add(
        pieces: &mut Vec<Self>,
        to_last: bool,
        text: String,
        tone: Tone,
    ) {
        if !to_last {
            pieces.push(Self::of_items(Vec::new()));
        }
        if let Some(last) = pieces.last_mut() {
            last.items.push(WholeText {
                text,
                rank: Reverse((Some(tone), 0)),
            });
        }
    }

    /// Makes a part that is always shown.
    pub(in crate::work::report) fn fixed(text: String) -> Self {
        Self {
            head: text,
            ..Self::default()
        }
    }
}

impl Piece {
    /// Returns the room that earlier parts leave to the items.
    fn least_room(&self) -> Room {
        let items = || self.items.iter().map(|item| &item.text);
        Room {
            lines: items()
                .map(|text| height(text))
                .sum::<usize>()
                .min(MIN_LINES),
            bytes: items().map(String::len).sum::<usize>().min(MIN_BYTES),
        }
    }
}

impl Room {
    fn take(&mut self, text: &str) {
        self.bytes = self.bytes.saturating_sub(text.len());
        self.lines = self.lines.saturating_sub(height(text));
    }
}

/// Returns the number of lines of a text.
pub(in crate::work::report) fn height(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// Puts parts together, and leaves out items for which there is no room; `more` says how many.
pub(in crate::work::report) fn cut(
    pieces: Vec<Piece>,
    room: Option<Room>,
    more: &dyn Fn(usize) -> String,
) -> String {
    let Some(mut room) = room else {
        let whole = |piece: Piece| {
            let items: String = piece.items.into_iter().map(|item| item.text).collect();
            piece.head + &items + &piece.end
        };
        return pieces.into_iter().map(whole).collect();
    };
    let screen_is_limited = room.lines < usize::MAX;
    for piece in &pieces {
        room.take(&piece.head);
        room.take(&piece.end);
        if !piece.items.is_empty() {
            room.take(&more(0));
        }
    }
    // Later parts keep a little room, however long the earlier ones are.
    let least: Vec<Room> = pieces.iter().map(Piece::least_room).collect();
    let mut text = String::new();
    for (at, piece) in pieces.into_iter().enumerate() {
        let later = &least[at + 1..];
        let later_lines: usize = later.iter().map(|least| least.lines).sum();
        let later_bytes: usize = later.iter().map(|least| least.bytes).sum();
        let mut own = Room {
            lines: room.lines.saturating_sub(later_lines).max(MIN_LINES),
            bytes: room.bytes.saturating_sub(later_bytes),
        };
        let before = own;
        // Without a screen, only the size of the text matters.
        let most = if screen_is_limited {
            piece.most
        } else {
            usize::MAX
        };
        let all = piece.items.len() + piece.hidden;
        let shown = chosen(piece.items, most, &mut own);
        let left_out = all - shown.len();
        room.lines = room.lines.saturating_sub(before.lines - own.lines);
        room.bytes = room.bytes.saturating_sub(before.bytes - own.bytes);
        text += &piece.head;
        text.extend(shown.into_iter().map(|item| item.text));
        text += &piece.end;
        if left_out > 0 {
            text += &more(left_out);
        }
    }
    text
}

/// Returns the items for which there is room, in their order.
fn chosen(items: Vec<WholeText>, most: usize, room: &mut Room) -> Vec<WholeText> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|at| items[*at].rank);
    let mut is_shown = vec![false; items.len()];
    for (count, at) in order.into_iter().enumerate() {
        // What is less bad must not take the place of what is worse, and one item is always shown.
        let text = &items[at].text;
        let is_first = count == 0 && text.len() <= room.bytes;
        let fits = text.len() <= room.bytes && height(text) <= room.lines;
        if !is_first && (count == most || !fits) {
            break;
        }
        room.take(text);
        is_shown[at] = true;
    }
    items
        .into_iter()
        .zip(is_shown)
        .filter_map(|(item, is_shown)| is_shown.then_some(item))
        .collect()
}
