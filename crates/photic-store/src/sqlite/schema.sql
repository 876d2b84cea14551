-- Whose sessions and handles they are; the secret makes handles.
CREATE TABLE tenant (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    secret BLOB NOT NULL
) STRICT;

-- How tenants name blobs.
CREATE TABLE handle (
    tenant INTEGER NOT NULL REFERENCES tenant,
    handle TEXT NOT NULL,
    blob BLOB NOT NULL,
    facts TEXT NOT NULL,
    pinned INTEGER NOT NULL DEFAULT 0,
    issued INTEGER NOT NULL,
    PRIMARY KEY (tenant, handle)
) STRICT, WITHOUT ROWID;
CREATE INDEX handle_blob ON handle (blob);

CREATE TABLE session (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    tenant INTEGER NOT NULL REFERENCES tenant,
    title TEXT NOT NULL,
    created INTEGER NOT NULL,
    last INTEGER NOT NULL,
    turns INTEGER NOT NULL DEFAULT 0,
    messages INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX session_tenant ON session (tenant, last);

-- A tree: a client that changes its history grows a branch. `chain` names a message of a session
-- and everything before it.
CREATE TABLE message (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    parent INTEGER,
    chain BLOB NOT NULL,
    text BLOB NOT NULL,
    places BLOB
) STRICT;
CREATE UNIQUE INDEX message_chain ON message (chain);

-- What turns repeat: tools and settings around the messages, profiles, policies.
CREATE TABLE piece (
    id INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    text BLOB NOT NULL,
    places BLOB
) STRICT;

CREATE TABLE turn (
    session INTEGER NOT NULL,
    number INTEGER NOT NULL,
    wire TEXT NOT NULL,
    tip INTEGER,
    before INTEGER NOT NULL,
    after INTEGER NOT NULL,
    profile INTEGER NOT NULL,
    policy INTEGER NOT NULL,
    circumstances INTEGER NOT NULL,
    -- Of what was made for the session, this and what came earlier.
    made INTEGER NOT NULL,
    digest BLOB NOT NULL,
    length INTEGER NOT NULL,
    images INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    usd REAL,
    kin BLOB,
    time INTEGER NOT NULL,
    PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX turn_kin ON turn (kin);

-- What is remembered of blobs, so that a plan can be made without them.
CREATE TABLE memory (
    blob BLOB PRIMARY KEY,
    memory TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Which blobs a session refers to, in whatever way.
CREATE TABLE held (
    session INTEGER NOT NULL,
    blob BLOB NOT NULL,
    bytes INTEGER NOT NULL,
    -- Whether a client sent it to be looked at, and not some other spelling, or made from one.
    original INTEGER NOT NULL,
    PRIMARY KEY (session, blob)
) STRICT, WITHOUT ROWID;
CREATE INDEX held_blob ON held (blob);

-- What recipes made. Of several for one key, a turn means the latest that was there.
CREATE TABLE made (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    key BLOB NOT NULL,
    blob BLOB,
    media_type TEXT NOT NULL,
    width INTEGER NOT NULL,
    height INTEGER NOT NULL
) STRICT;
CREATE INDEX made_key ON made (session, key);

-- What the user wants done with pictures.
CREATE TABLE choice (
    session INTEGER NOT NULL,
    picture BLOB NOT NULL,
    choice TEXT NOT NULL,
    time INTEGER NOT NULL,
    PRIMARY KEY (session, picture)
) STRICT, WITHOUT ROWID;
