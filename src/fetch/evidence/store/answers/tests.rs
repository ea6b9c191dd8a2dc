use std::path::Path;

use super::*;
use crate::world::Disk;
use crate::world::mem::{MemClock, MemFiles};

const QUESTION: &str = "git::https://h.test/r.git abc";

fn cache<'a>(files: &'a MemFiles, clock: &'a MemClock) -> AnswerCache<'a> {
    AnswerCache::new(files.objects(Path::new("/c")), clock)
}

fn start() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_795_000_000)
}

#[test]
fn answers_are_found_by_kind_and_question() {
    let (files, clock) = (MemFiles::default(), MemClock::at(start()));
    let cache = cache(&files, &clock);
    cache.keep(AnswerKind::Packages, QUESTION, b"a\n\0b");
    let found = cache.find(AnswerKind::Packages, QUESTION).expect("kept");
    assert_eq!(found.answer, b"a\n\0b");
    assert_eq!(found.since, start());
    assert_eq!(cache.find(AnswerKind::Refs, QUESTION), None);
    assert_eq!(cache.find(AnswerKind::Packages, "other"), None);
    assert_eq!(cache.notes(), [""; 0]);
}

#[test]
fn old_answers_and_those_of_the_future_do_not_count() {
    let files = MemFiles::default();
    let (early, late) = (MemClock::at(start()), MemClock::at(start() + MAX_AGE * 2));
    cache(&files, &early).keep(AnswerKind::Refs, QUESTION, b"x");
    assert_eq!(cache(&files, &late).find(AnswerKind::Refs, QUESTION), None);
    cache(&files, &late).keep(AnswerKind::Refs, QUESTION, b"y");
    assert_eq!(cache(&files, &early).find(AnswerKind::Refs, QUESTION), None);
    assert!(
        cache(&files, &late)
            .find(AnswerKind::Refs, QUESTION)
            .is_some()
    );
}

#[test]
fn broken_objects_are_ignored_with_a_note() {
    let (files, clock) = (MemFiles::default(), MemClock::at(start()));
    let whole = object::write(QUESTION, start(), b"answer");
    let objects = files.objects(Path::new("/c"));
    let place = key(AnswerKind::Refs, QUESTION);
    let mut damages: Vec<Vec<u8>> = (0..whole.len()).map(|end| whole[..end].to_vec()).collect();
    damages.extend((0..whole.len()).map(|at| {
        let mut other = whole.clone();
        other[at] ^= 1;
        other
    }));
    damages.push(object::write("another question", start(), b"answer"));
    for damaged in damages {
        objects.put(&place, &damaged).expect("put");
        let cache = cache(&files, &clock);
        assert_eq!(cache.find(AnswerKind::Refs, QUESTION), None, "{damaged:?}");
        assert_eq!(cache.notes().len(), 1, "{damaged:?}");
    }
}

#[test]
fn objects_are_counted_and_removed() {
    let (files, clock) = (MemFiles::default(), MemClock::at(start()));
    let cache = cache(&files, &clock);
    cache.keep(AnswerKind::Packages, "a", b"12345");
    cache.keep(AnswerKind::Packages, "b", b"");
    cache.keep(AnswerKind::Versions, "a", b"");
    let inventory = cache.inventory().expect("listed");
    assert_eq!(inventory.kinds[&AnswerKind::Packages].objects, 2);
    assert_eq!(inventory.kinds[&AnswerKind::Refs], KindInventory::default());
    let all = cache.removable(AnswerRemoval::Everything).expect("listed");
    assert_eq!(all.len(), 3);
    cache.remove(&all).expect("removed");
    assert_eq!(cache.find(AnswerKind::Packages, "a"), None);
}
