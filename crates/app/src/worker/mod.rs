//! Workers: what one is told, what is laid out for it, and what it says when it ends.

mod audience;
pub(crate) mod cage;
mod deliver;
mod entry;
mod folder;
mod given;
mod left;
mod prompt;
mod ran;
mod result;
mod talk;

pub(crate) use audience::Audience;
pub(crate) use deliver::{Author, Handed, hand_in};
pub(crate) use entry::{Crew, Hired};
pub(crate) use folder::{JobDocument, JobFolder, Layout, sweep};
pub(crate) use given::Given;
pub(crate) use left::left;
pub(crate) use prompt::{Brief, render, task_in};
pub(crate) use ran::Ran;
pub(crate) use result::{Account, Expected, ResultPayload, read};
pub(crate) use talk::Talk;
