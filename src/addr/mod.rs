//! Provider addresses.
