//! Configuration to requirements, against recorded runs of the real programs.

pub(crate) mod corpus;
mod differences;
mod hostile;
mod judge;
mod merged;
mod monsters;
mod recorded;
mod titles;
mod txtar;
pub(crate) use txtar::sections;
mod values;
