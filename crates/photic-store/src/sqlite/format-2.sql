-- What clients refer to that they uploaded.
CREATE TABLE media (
    tenant INTEGER NOT NULL REFERENCES tenant,
    reference TEXT NOT NULL,
    blob BLOB NOT NULL,
    facts TEXT NOT NULL,
    memory TEXT NOT NULL,
    session INTEGER,
    expires INTEGER NOT NULL,
    PRIMARY KEY (tenant, reference)
) STRICT, WITHOUT ROWID;
CREATE INDEX media_blob ON media (blob);
CREATE INDEX media_session ON media (session);
CREATE INDEX media_expires ON media (expires);
