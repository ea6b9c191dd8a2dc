//! What `verify --matrix` foretells for each route against what the real program does.
//!
//! The program can only play the platform it runs on. Another platform is one whose hashes are in the
//! lock file beside or instead of those of this one.

mod here;
mod play;
mod states;

use lockctl::coverage::Route;

use self::play::{Family, compare};
use self::states::{HASHES, SITUATIONS};

/// How many combinations of a lock file and a route must be compared at least.
const LEAST: usize = 60;

#[test]
fn mirrors_come_out_as_foretold() {
    compare(Family::Mirrors);
}

#[test]
fn registries_come_out_as_foretold() {
    compare(Family::Registry);
}

/// Without a stated list a missing `h1:` is a note, unless `init` from a registry fails for it.
#[test]
fn default_platforms_are_warnings_where_init_fails() {
    play::compare_default_platforms();
}

#[test]
fn this_machine_comes_out_as_predicted() {
    here::compare();
}

#[test]
fn a_prerelease_that_only_the_state_needs_comes_out_as_predicted() {
    here::compare_prerelease_of_state();
}

#[test]
fn every_route_is_compared_with_every_state() {
    let families = [Family::Mirrors, Family::Registry];
    let mut routes: Vec<Route> = families.iter().flat_map(|f| f.routes()).copied().collect();
    routes.sort();
    assert_eq!(routes, {
        let mut all = Route::ALL;
        all.sort();
        all
    });
    let combinations = routes.len() * (HASHES.len() + SITUATIONS.len());
    assert!(combinations >= LEAST, "{combinations}");
    println!("parity: {combinations} combinations of a lock file and a route");
}
