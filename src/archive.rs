//! Packages as lists of files.
