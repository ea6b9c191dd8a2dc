//! Versions and constraint sets.
