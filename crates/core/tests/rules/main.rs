//! The rules, one file for each family, over pulls told in the trade's words.

#[path = "../support/mod.rs"]
mod support;

mod blocks;
mod deliver;
mod dispatch;
mod issue;
mod loop_guards;
mod operator;
mod properties;
mod reviews;
mod said;
mod schedule;
mod scope;
mod tables;
