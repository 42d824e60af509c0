//! Reading a pull from the database.

use referee_core::model::checks::OwnStatus;
use referee_core::model::{
    Access, Author, Check, CheckState, Checks, Comment, Label, Login, Note, PullNumber, Resolution, Review, ReviewKind,
    ReviewWeight, Sha, Text, Thread, Time, Verdict,
};
use referee_core::plan::DiffLocation;
use referee_core::track::Side;
use rusqlite::{Row as Sql, Transaction, params};

use super::LocalError;
use super::column::ColumnValue;
use super::names::{comment_id, edit_id, format_local_name, note_id, review_id, thread_id};
use super::pulls::pull_row_id;

/// Contexts with this prefix are written by referee and never count as checks (D15).
const OWN_STATUS_PREFIX: &str = "referee/";

/// Everything the database holds about a pull.
#[derive(Default)]
pub(super) struct PullActivity {
    pub(super) reviews: Vec<Review>,
    /// Threads with the commit they were opened at, by which git decides whether they are outdated.
    pub(super) threads: Vec<(Thread, Sha)>,
    pub(super) comments: Vec<Comment>,
    pub(super) labels: Vec<Label>,
    pub(super) assignees: Vec<Login>,
    pub(super) checks: Checks,
}

impl PullActivity {
    pub(super) fn load(tx: &Transaction<'_>, pull: PullNumber, head: &Sha) -> Result<Self, LocalError> {
        Ok(Self {
            reviews: load_reviews(tx, pull)?,
            threads: load_threads(tx, pull)?,
            comments: load_comments(tx, pull)?,
            labels: load_labels(tx, pull)?,
            assignees: load_assignees(tx, pull)?,
            checks: load_checks(tx, head)?,
        })
    }
}

/// Builds an author. Everybody who can write into the checkout has write access.
pub(super) fn local_author(login: String, bot: bool) -> Author {
    Author { login: Some(Login(login)), bot, access: Access::Write }
}

/// Returns the location of a thread when it was opened.
pub(super) fn thread_location(thread: &Thread) -> DiffLocation {
    let Thread { path, line, start_line, side, .. } = thread;
    DiffLocation { path: path.clone().unwrap_or_default(), line: *line, start_line: *start_line, side: *side }
}

/// Reads in the order of the rows, not of their times: a clock may be set back.
fn load_reviews(tx: &Transaction<'_>, pull: PullNumber) -> Result<Vec<Review>, LocalError> {
    let mut rows = tx.prepare(
        "SELECT reviews.id, texts.id, author, bot, verdict, body, commit_sha, at
         FROM reviews JOIN texts ON texts.id = reviews.text WHERE pull = ?1 ORDER BY reviews.id",
    )?;
    let review = |row: &Sql<'_>| {
        let (id, verdict) = (review_id(row.get(0)?), Verdict::from_row(row, 4)?);
        Ok(Review {
            url: format!("{}#{id}", format_local_name(pull)),
            id,
            edit: Some(edit_id(row.get(1)?)),
            author: local_author(row.get(2)?, row.get(3)?),
            row: ReviewKind::Verdict(verdict),
            text: Text::from_body(row.get::<_, String>(5)?),
            commit: Some(Sha(row.get(6)?)),
            at: Time(row.get(7)?),
            counts: if verdict == Verdict::Comment { ReviewWeight::No } else { ReviewWeight::Yes },
        })
    };
    Ok(rows.query_map([pull_row_id(pull)], review)?.collect::<Result<_, _>>()?)
}

fn load_threads(tx: &Transaction<'_>, pull: PullNumber) -> Result<Vec<(Thread, Sha)>, LocalError> {
    let mut rows = tx.prepare(
        "SELECT threads.id, review, path, line, start_line, side, commit_sha, by, bot, at
         FROM threads LEFT JOIN resolutions ON thread = threads.id AND undone_at IS NULL
         WHERE pull = ?1 ORDER BY threads.id",
    )?;
    let thread = |row: &Sql<'_>| {
        let (id, review): (i64, Option<i64>) = (row.get(0)?, row.get(1)?);
        let resolved = match row.get::<_, Option<String>>(7)? {
            Some(by) => Some(Resolution { by: local_author(by, row.get(8)?), at: Some(Time(row.get(9)?)) }),
            None => None,
        };
        let thread = Thread {
            url: format!("{}#{}", format_local_name(pull), thread_id(id)),
            id: thread_id(id),
            review: review.map(review_id),
            path: row.get(2)?,
            line: row.get(3)?,
            start_line: row.get(4)?,
            side: Side::from_row(row, 5)?,
            notes: Vec::new(),
            resolved,
            outdated: false,
            can_resolve: true,
            can_reply: true,
        };
        Ok((id, thread, Sha(row.get(6)?)))
    };
    let threads: Vec<(i64, Thread, Sha)> = rows.query_map([pull_row_id(pull)], thread)?.collect::<Result<_, _>>()?;
    let mut notes = tx.prepare(
        "SELECT texts.id, author, bot, at, edited_at IS NOT NULL, body
         FROM notes JOIN texts ON texts.id = notes.text WHERE thread = ?1 ORDER BY texts.id",
    )?;
    let note = |row: &Sql<'_>| {
        Ok(Note {
            id: note_id(row.get(0)?),
            author: local_author(row.get(1)?, row.get(2)?),
            at: Time(row.get(3)?),
            edited: row.get(4)?,
            text: Text::from_body(row.get::<_, String>(5)?),
        })
    };
    let mut whole = Vec::with_capacity(threads.len());
    for (id, mut thread, commit) in threads {
        thread.notes = notes.query_map([id], note)?.collect::<Result<_, _>>()?;
        whole.push((thread, commit));
    }
    Ok(whole)
}

fn load_comments(tx: &Transaction<'_>, pull: PullNumber) -> Result<Vec<Comment>, LocalError> {
    let mut rows = tx.prepare(
        "SELECT texts.id, author, bot, at, edited_at IS NOT NULL, body
         FROM comments JOIN texts ON texts.id = comments.text WHERE pull = ?1 ORDER BY texts.id",
    )?;
    let comment = |row: &Sql<'_>| {
        let id = comment_id(row.get(0)?);
        Ok(Comment {
            url: format!("{}#{id}", format_local_name(pull)),
            id,
            author: local_author(row.get(1)?, row.get(2)?),
            at: Time(row.get(3)?),
            edited: row.get(4)?,
            text: Text::from_body(row.get::<_, String>(5)?),
        })
    };
    Ok(rows.query_map([pull_row_id(pull)], comment)?.collect::<Result<_, _>>()?)
}

fn load_labels(tx: &Transaction<'_>, pull: PullNumber) -> Result<Vec<Label>, LocalError> {
    let mut rows = tx.prepare("SELECT name, by, at FROM labels WHERE pull = ?1 AND off_at IS NULL ORDER BY id")?;
    let label =
        |row: &Sql<'_>| Ok(Label { name: row.get(0)?, by: Some(Login(row.get(1)?)), at: Some(Time(row.get(2)?)) });
    Ok(rows.query_map([pull_row_id(pull)], label)?.collect::<Result<_, _>>()?)
}

fn load_assignees(tx: &Transaction<'_>, pull: PullNumber) -> Result<Vec<Login>, LocalError> {
    let mut rows = tx.prepare("SELECT who FROM assignments WHERE pull = ?1 AND off_at IS NULL ORDER BY id")?;
    Ok(rows.query_map([pull_row_id(pull)], |row| row.get(0).map(Login))?.collect::<Result<_, _>>()?)
}

/// Reads the latest status of each context at a commit.
fn load_checks(tx: &Transaction<'_>, head: &Sha) -> Result<Checks, LocalError> {
    let mut rows = tx.prepare(
        "SELECT context, state, text FROM statuses WHERE id IN
         (SELECT max(id) FROM statuses WHERE commit_sha = ?1 GROUP BY context) ORDER BY context",
    )?;
    let status =
        |row: &Sql<'_>| Ok(OwnStatus { context: row.get(0)?, state: CheckState::from_row(row, 1)?, text: row.get(2)? });
    let all: Vec<OwnStatus> = rows.query_map(params![head.as_str()], status)?.collect::<Result<_, _>>()?;
    let (own, others): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|status| status.context.starts_with(OWN_STATUS_PREFIX));
    let all = others.into_iter().map(|status| Check { name: status.context, state: status.state }).collect();
    Ok(Checks { all, own })
}
