//! Configuration to requirements, against recorded runs of the real programs.

mod corpus;
mod differences;
mod judge;
mod merged;
mod recorded;
mod titles;
mod txtar;
