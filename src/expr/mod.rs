//! Constant expressions.
