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
