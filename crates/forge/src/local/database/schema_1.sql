-- What a local forge keeps. Nothing is ever taken away: an edit keeps the old words, an end has a time of its own.
CREATE TABLE repository (
    one      INTEGER PRIMARY KEY CHECK (one = 1),
    id       INTEGER NOT NULL,
    made_at  INTEGER NOT NULL
) STRICT;

-- `follows`: 1 where the head is wherever the branch is now, 0 where it was set by hand (`staged`, a work tree).
CREATE TABLE pulls (
    number    INTEGER PRIMARY KEY,
    branch    TEXT NOT NULL,
    base      TEXT NOT NULL,
    follows   INTEGER NOT NULL CHECK (follows IN (0, 1)),
    title     TEXT NOT NULL,
    body      TEXT NOT NULL,
    author    TEXT NOT NULL COLLATE NOCASE,
    state     TEXT NOT NULL CHECK (state IN ('open', 'closed', 'merged')),
    opened_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX one_open_pull_per_range ON pulls (branch, base) WHERE state = 'open';

CREATE TABLE states (
    id    INTEGER PRIMARY KEY,
    pull  INTEGER NOT NULL REFERENCES pulls,
    state TEXT NOT NULL CHECK (state IN ('open', 'closed', 'merged')),
    by    TEXT COLLATE NOCASE,
    at    INTEGER NOT NULL
) STRICT;
CREATE INDEX states_of_pull ON states (pull);

CREATE TABLE pushes (
    id       INTEGER PRIMARY KEY,
    pull     INTEGER NOT NULL REFERENCES pulls,
    head     TEXT NOT NULL,
    base_sha TEXT NOT NULL,
    by       TEXT COLLATE NOCASE,
    at       INTEGER NOT NULL
) STRICT;
CREATE INDEX pushes_of_pull ON pushes (pull);

-- `bot`: 1 where referee wrote it, 0 where a person's hands did.
CREATE TABLE texts (
    id        INTEGER PRIMARY KEY,
    author    TEXT NOT NULL COLLATE NOCASE,
    bot       INTEGER NOT NULL CHECK (bot IN (0, 1)),
    at        INTEGER NOT NULL,
    body      TEXT NOT NULL,
    edited_at INTEGER
) STRICT;

CREATE TABLE edits (
    id   INTEGER PRIMARY KEY,
    text INTEGER NOT NULL REFERENCES texts,
    body TEXT NOT NULL,
    by   TEXT NOT NULL COLLATE NOCASE,
    at   INTEGER NOT NULL
) STRICT;

CREATE TABLE reviews (
    id         INTEGER PRIMARY KEY,
    pull       INTEGER NOT NULL REFERENCES pulls,
    text       INTEGER NOT NULL REFERENCES texts,
    verdict    TEXT NOT NULL CHECK (verdict IN ('approve', 'comment', 'request_changes')),
    commit_sha TEXT NOT NULL
) STRICT;
CREATE INDEX reviews_of_pull ON reviews (pull);

CREATE TABLE threads (
    id         INTEGER PRIMARY KEY,
    pull       INTEGER NOT NULL REFERENCES pulls,
    review     INTEGER REFERENCES reviews,
    path       TEXT NOT NULL,
    line       INTEGER,
    start_line INTEGER,
    side       TEXT NOT NULL CHECK (side IN ('old', 'new')),
    commit_sha TEXT NOT NULL
) STRICT;
CREATE INDEX threads_of_pull ON threads (pull);

CREATE TABLE notes (
    text   INTEGER PRIMARY KEY REFERENCES texts,
    thread INTEGER NOT NULL REFERENCES threads
) STRICT;
CREATE INDEX notes_of_thread ON notes (thread);

CREATE TABLE comments (
    text INTEGER PRIMARY KEY REFERENCES texts,
    pull INTEGER NOT NULL REFERENCES pulls
) STRICT;
CREATE INDEX comments_of_pull ON comments (pull);

CREATE TABLE resolutions (
    id        INTEGER PRIMARY KEY,
    thread    INTEGER NOT NULL REFERENCES threads,
    by        TEXT NOT NULL COLLATE NOCASE,
    bot       INTEGER NOT NULL CHECK (bot IN (0, 1)),
    at        INTEGER NOT NULL,
    undone_by TEXT COLLATE NOCASE,
    undone_at INTEGER
) STRICT;
CREATE UNIQUE INDEX one_resolution_per_thread ON resolutions (thread) WHERE undone_at IS NULL;

CREATE TABLE labels (
    id     INTEGER PRIMARY KEY,
    pull   INTEGER NOT NULL REFERENCES pulls,
    name   TEXT NOT NULL,
    by     TEXT NOT NULL COLLATE NOCASE,
    at     INTEGER NOT NULL,
    off_at INTEGER
) STRICT;
CREATE UNIQUE INDEX a_label_once_per_pull ON labels (pull, name) WHERE off_at IS NULL;

CREATE TABLE assignments (
    id     INTEGER PRIMARY KEY,
    pull   INTEGER NOT NULL REFERENCES pulls,
    who    TEXT NOT NULL COLLATE NOCASE,
    by     TEXT NOT NULL COLLATE NOCASE,
    at     INTEGER NOT NULL,
    off_at INTEGER
) STRICT;
CREATE UNIQUE INDEX somebody_once_per_pull ON assignments (pull, who) WHERE off_at IS NULL;

-- The newest row of a context speaks.
CREATE TABLE statuses (
    id         INTEGER PRIMARY KEY,
    commit_sha TEXT NOT NULL,
    context    TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('pass', 'fail', 'pending', 'none')),
    text       TEXT NOT NULL,
    by         TEXT NOT NULL COLLATE NOCASE,
    at         INTEGER NOT NULL
) STRICT;
CREATE INDEX statuses_of_commit ON statuses (commit_sha, context);

-- One row a purpose: a quiet loop that claims and gives back for years does not grow it.
CREATE TABLE claims (
    pull    INTEGER NOT NULL REFERENCES pulls,
    purpose TEXT NOT NULL CHECK (purpose IN ('publish', 'work')),
    epoch   INTEGER NOT NULL,
    by      TEXT NOT NULL COLLATE NOCASE,
    since   INTEGER NOT NULL,
    until   INTEGER NOT NULL,
    held    INTEGER NOT NULL CHECK (held IN (0, 1)),
    PRIMARY KEY (pull, purpose)
) STRICT;

-- Which pull a branch was last looked at as (TRI-2).
CREATE TABLE last_used (
    branch TEXT PRIMARY KEY,
    pull   INTEGER NOT NULL REFERENCES pulls
) STRICT;
