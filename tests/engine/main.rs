//! The engine with tiny circuits: the whole path, and everything that can happen to a job on it.

#[path = "../common/mod.rs"]
mod common;
mod jobs;
mod shared;
mod support;
