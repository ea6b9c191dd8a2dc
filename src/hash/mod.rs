//! Package hashes.
