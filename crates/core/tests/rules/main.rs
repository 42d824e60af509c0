//! The rules, one file per group, over pulls that are built with domain terms.

#[path = "../support/mod.rs"]
mod support;

mod blocks;
mod deliver;
mod dispatch;
mod issue;
mod loop_guards;
mod lost_marks;
mod operator;
mod properties;
mod reviews;
mod said;
mod schedule;
mod scope;
mod tables;
mod unreadable;
