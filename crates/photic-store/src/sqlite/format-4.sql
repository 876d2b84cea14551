-- The fate of each medium, the messages as they were sent, and the new messages in short.
ALTER TABLE turn ADD COLUMN fates BLOB;
ALTER TABLE turn ADD COLUMN sent BLOB;
ALTER TABLE turn ADD COLUMN arrived TEXT;

-- How requests ended. Written once, when the reply has ended. Without a turn: requests that failed for
-- good, or were passed on unread; without a session if none is known.
CREATE TABLE outcome (
    id INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL REFERENCES tenant,
    session INTEGER,
    turn INTEGER,
    begun INTEGER NOT NULL,
    first_byte_ms INTEGER,
    total_ms INTEGER NOT NULL,
    status INTEGER,
    ended TEXT NOT NULL,
    reason TEXT,
    host TEXT,
    sent_wire TEXT,
    model TEXT,
    request TEXT,
    provider_request TEXT,
    agent TEXT,
    bytes_in INTEGER NOT NULL,
    bytes_sent INTEGER NOT NULL,
    bytes_out INTEGER NOT NULL,
    tries TEXT,
    input INTEGER,
    cache_read INTEGER,
    cache_write INTEGER,
    output INTEGER,
    reasoning INTEGER,
    input_usd REAL,
    output_usd REAL
) STRICT;
CREATE INDEX outcome_turn ON outcome (session, turn);
CREATE INDEX outcome_other ON outcome (tenant, begun) WHERE session IS NULL;

-- Replies, if they are kept.
CREATE TABLE reply (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    length INTEGER NOT NULL,
    text BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX reply_turn ON reply (session, turn);

-- Every choice of the user, in order. `choice` has those in force.
CREATE TABLE past_choice (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    picture BLOB NOT NULL,
    -- Nothing if an earlier choice was taken back.
    choice TEXT,
    time INTEGER NOT NULL,
    -- How many turns the session had then.
    turns INTEGER NOT NULL
) STRICT;
CREATE INDEX past_choice_session ON past_choice (session);
INSERT INTO past_choice (session, picture, choice, time, turns)
    SELECT session, picture, choice, time, (SELECT count(*) FROM turn
        WHERE turn.session = choice.session AND turn.time <= choice.time)
    FROM choice ORDER BY time, session, picture;

-- The tree of a session is read without the texts of most messages.
CREATE INDEX message_session ON message (session, id, parent);
CREATE INDEX message_media ON message (session, id) WHERE places IS NOT NULL;
