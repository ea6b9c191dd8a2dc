//! The tree, put together while the text is walked over.

use std::mem;

use super::{JsonValue, Member, Members, ValueKind};
use crate::diag::Span;

/// The tree as far as it was read.
pub(super) struct Build {
    /// The members that are wanted of the whole text.
    wanted: &'static Members,
    /// The objects and arrays that are open and wanted, each inside the one before.
    open: Vec<OpenValue>,
    /// The number of open brackets in a value that is left out; the name or bracket that began it counts.
    skipped: usize,
    root: Option<JsonValue>,
}

/// An object or array that is not complete.
struct OpenValue {
    start: usize,
    wanted: &'static Members,
    content: OpenContent,
}

enum OpenContent {
    Array(Vec<JsonValue>),
    /// The members, and the name of the next one.
    Object(Vec<Member>, Next),
}

/// The member whose value comes next.
enum Next {
    Unnamed,
    Named {
        name: String,
        span: Span,
        wanted: &'static Members,
    },
    /// Its value is left out.
    Unwanted,
}

impl Build {
    pub(super) fn new(wanted: &'static Members) -> Self {
        Self {
            wanted,
            open: Vec::new(),
            skipped: 0,
            root: None,
        }
    }

    /// Returns whether the value that comes next is left out.
    pub(super) fn skips(&self) -> bool {
        let top = self.open.last().map(|open| &open.content);
        self.skipped > 0 || matches!(top, Some(OpenContent::Object(_, Next::Unwanted)))
    }

    pub(super) fn begin(&mut self, is_object: bool, start: usize) {
        if self.skips() {
            self.skipped += 1;
            return;
        }
        let wanted = match self.open.last() {
            None => self.wanted,
            Some(OpenValue {
                content: OpenContent::Object(_, Next::Named { wanted, .. }),
                ..
            }) => wanted,
            // What is wanted of an array is wanted of each of its elements.
            Some(array) => array.wanted,
        };
        let content = if is_object {
            OpenContent::Object(Vec::new(), Next::Unnamed)
        } else {
            OpenContent::Array(Vec::new())
        };
        self.open.push(OpenValue {
            start,
            wanted,
            content,
        });
    }

    pub(super) fn name(&mut self, name: String, span: Span) {
        if self.skipped > 0 {
            return;
        }
        let Some(OpenValue {
            wanted,
            content: OpenContent::Object(_, next),
            ..
        }) = self.open.last_mut()
        else {
            return;
        };
        // The name is decoded: `"\u0076ersion"` is the member `version` as well (RFC 8259 section 8.3), and
        // must not be skipped.
        let wanted: Option<&'static Members> = match wanted {
            Members::All => Some(&Members::All),
            Members::Only(names) => names
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, wanted)| wanted),
        };
        *next = match wanted {
            Some(wanted) => Next::Named { name, span, wanted },
            None => Next::Unwanted,
        };
    }

    /// Ends what was begun last.
    pub(super) fn end(&mut self, end: usize) {
        if self.skipped > 0 {
            self.skipped -= 1;
            if self.skipped == 0 {
                self.forget();
            }
            return;
        }
        let Some(OpenValue { start, content, .. }) = self.open.pop() else {
            return;
        };
        let kind = match content {
            OpenContent::Array(elements) => ValueKind::Array(elements),
            OpenContent::Object(members, _) => ValueKind::Object(members),
        };
        let span = Span::new(start, end);
        self.put(JsonValue { kind, span });
    }

    /// Takes a value that is no object or array; `kind` is asked only where it is wanted.
    pub(super) fn scalar(&mut self, span: Span, kind: impl FnOnce() -> ValueKind) {
        if self.skips() {
            self.forget();
        } else {
            self.put(JsonValue { kind: kind(), span });
        }
    }

    /// Drops the member whose value was left out, unless more of it comes.
    fn forget(&mut self) {
        if self.skipped > 0 {
            return;
        }
        if let Some(OpenValue {
            content: OpenContent::Object(_, next),
            ..
        }) = self.open.last_mut()
        {
            *next = Next::Unnamed;
        }
    }

    fn put(&mut self, value: JsonValue) {
        match self.open.last_mut().map(|open| &mut open.content) {
            None => self.root = Some(value),
            Some(OpenContent::Array(elements)) => elements.push(value),
            Some(OpenContent::Object(members, next)) => {
                if let Next::Named { name, span, .. } = mem::replace(next, Next::Unnamed) {
                    members.push(Member {
                        name,
                        name_span: span,
                        value,
                    });
                }
            }
        }
    }

    pub(super) fn finish(self) -> Option<JsonValue> {
        self.root
    }
}
