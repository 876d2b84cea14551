-- Lists of pictures to be asked about. The list itself is with whoever works on it.
CREATE TABLE job (
    id INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL REFERENCES tenant,
    name TEXT NOT NULL,
    digest BLOB NOT NULL,
    items INTEGER NOT NULL,
    chunk INTEGER NOT NULL,
    -- Billionths of a US dollar.
    spent INTEGER NOT NULL DEFAULT 0,
    opened INTEGER NOT NULL,
    UNIQUE (tenant, name)
) STRICT;

CREATE TABLE chunk (
    job INTEGER NOT NULL REFERENCES job ON DELETE CASCADE,
    number INTEGER NOT NULL,
    done INTEGER NOT NULL DEFAULT 0,
    -- Who is at it, and until when nobody else may be.
    worker BLOB,
    until INTEGER,
    outcome TEXT,
    PRIMARY KEY (job, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX chunk_open ON chunk (job, number) WHERE done = 0;
CREATE INDEX chunk_worker ON chunk (worker) WHERE worker IS NOT NULL;

-- What was said to a question. Without text, it is being asked: by whom, for which job, until when
-- nobody else may, and what it may cost.
CREATE TABLE answer (
    tenant INTEGER NOT NULL,
    key BLOB NOT NULL,
    text TEXT,
    stored INTEGER NOT NULL,
    worker BLOB,
    job INTEGER,
    until INTEGER,
    reserved INTEGER,
    PRIMARY KEY (tenant, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX answer_asked ON answer (job) WHERE text IS NULL;
CREATE INDEX answer_worker ON answer (worker) WHERE text IS NULL;
