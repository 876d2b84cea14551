-- Everything of a session lies in the partitions of the day on which it began, and its number says
-- which day that is: the bits above the fortieth. So a day is forgotten by dropping tables, and no
-- session is ever torn.

CREATE TABLE tenant (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    -- What its handles are made with.
    secret bytea NOT NULL
);

CREATE SEQUENCE session_number;

CREATE TABLE session (
    id bigint NOT NULL PRIMARY KEY,
    name text NOT NULL,
    tenant bigint NOT NULL,
    title text NOT NULL,
    created bigint NOT NULL,
    last bigint NOT NULL,
    turns bigint NOT NULL DEFAULT 0,
    messages bigint NOT NULL DEFAULT 0
) PARTITION BY RANGE (id);
CREATE INDEX session_name ON session (name);
CREATE INDEX session_tenant ON session (tenant, last);

-- A tree: a client that changes its history grows a branch. `chain` names a message and everything
-- before it; `id` counts the messages of a session.
CREATE TABLE message (
    session bigint NOT NULL,
    id bigint NOT NULL,
    parent bigint,
    chain bytea NOT NULL,
    text bytea NOT NULL,
    places bytea,
    PRIMARY KEY (session, id)
) PARTITION BY RANGE (session);
CREATE UNIQUE INDEX message_chain ON message (session, chain);

CREATE TABLE turn (
    session bigint NOT NULL,
    number bigint NOT NULL,
    wire text NOT NULL,
    tip bigint,
    -- Pieces of the tenant, of the day of the session.
    before bytea NOT NULL,
    after bytea NOT NULL,
    profile bytea NOT NULL,
    policy bytea NOT NULL,
    circumstances bytea NOT NULL,
    -- Of what was made for the session, this and what came earlier.
    made bigint NOT NULL,
    digest bytea NOT NULL,
    length bigint NOT NULL,
    images bigint NOT NULL,
    tokens bigint NOT NULL,
    usd double precision,
    kin bytea,
    time bigint NOT NULL,
    PRIMARY KEY (session, number)
) PARTITION BY RANGE (session);
CREATE INDEX turn_kin ON turn (kin);

-- Which blobs a session refers to, in whatever way, and what is remembered of them.
CREATE TABLE held (
    session bigint NOT NULL,
    blob bytea NOT NULL,
    bytes bigint NOT NULL,
    -- Whether a client sent it to be looked at, and not some other spelling, or made from one.
    original boolean NOT NULL,
    memory text,
    PRIMARY KEY (session, blob)
) PARTITION BY RANGE (session);
CREATE INDEX held_blob ON held (blob);

-- What recipes made. Of several for one key, a turn means the latest that was there.
CREATE TABLE made (
    session bigint NOT NULL,
    id bigint NOT NULL,
    key bytea NOT NULL,
    blob bytea,
    media_type text NOT NULL,
    width bigint NOT NULL,
    height bigint NOT NULL,
    PRIMARY KEY (session, id)
) PARTITION BY RANGE (session);
CREATE INDEX made_key ON made (session, key, id);

-- What the user wants done with pictures.
CREATE TABLE choice (
    session bigint NOT NULL,
    picture bytea NOT NULL,
    choice text NOT NULL,
    time bigint NOT NULL,
    PRIMARY KEY (session, picture)
) PARTITION BY RANGE (session);

-- What turns repeat: tools and settings around the messages, profiles, policies. The day is that of
-- the sessions that refer to it, and what two tenants say is never one row.
CREATE TABLE piece (
    day integer NOT NULL,
    tenant bigint NOT NULL,
    digest bytea NOT NULL,
    text bytea NOT NULL,
    places bytea,
    PRIMARY KEY (day, tenant, digest)
) PARTITION BY RANGE (day);

-- How tenants name blobs. A handle that is issued again on another day has a row for that day, too,
-- and the latest counts.
CREATE TABLE handle (
    day integer NOT NULL,
    tenant bigint NOT NULL,
    handle text NOT NULL,
    blob bytea NOT NULL,
    facts text NOT NULL,
    issued bigint NOT NULL,
    PRIMARY KEY (day, tenant, handle)
) PARTITION BY RANGE (day);
CREATE INDEX handle_blob ON handle (tenant, blob);

-- Handles that outlive their day.
CREATE TABLE pin (
    tenant bigint NOT NULL,
    handle text NOT NULL,
    blob bytea NOT NULL,
    facts text NOT NULL,
    issued bigint NOT NULL,
    PRIMARY KEY (tenant, handle)
);
CREATE INDEX pin_blob ON pin (tenant, blob);

-- Where the bytes of a blob are: a stretch of an object. The day is the one the object's key has.
-- Day 0 is that of copies for pinned handles, and never ends.
CREATE TABLE blob (
    day integer NOT NULL,
    tenant bigint NOT NULL,
    id bytea NOT NULL,
    object text NOT NULL,
    at bigint NOT NULL,
    length bigint NOT NULL,
    stored bigint NOT NULL,
    PRIMARY KEY (day, tenant, id)
) PARTITION BY RANGE (day);
CREATE INDEX blob_id ON blob (tenant, id);
CREATE INDEX blob_object ON blob (tenant, object);
CREATE TABLE blob_0 PARTITION OF blob FOR VALUES FROM (0) TO (1);

-- What recipes made for anybody of a tenant, so that it need not be made twice.
CREATE TABLE derivative (
    day integer NOT NULL,
    tenant bigint NOT NULL,
    key bytea NOT NULL,
    blob bytea NOT NULL,
    media_type text NOT NULL,
    width bigint NOT NULL,
    height bigint NOT NULL,
    PRIMARY KEY (day, tenant, key)
) PARTITION BY RANGE (day);

-- Small documents that replicas share, such as what was learned about endpoints.
CREATE TABLE document (
    name text PRIMARY KEY,
    version bigint NOT NULL,
    text text NOT NULL
);

-- Keys of tenants: what is kept of a secret is its hash.
CREATE TABLE api_key (
    id text PRIMARY KEY,
    hash bytea NOT NULL,
    tenant bigint NOT NULL,
    label text NOT NULL,
    created bigint NOT NULL,
    expires bigint,
    revoked bigint
);
CREATE INDEX api_key_tenant ON api_key (tenant);

-- Makes the partitions of a day. Made apart and attached, so that nobody who reads or writes has to
-- wait.
CREATE FUNCTION open_day(number integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    parent text;
    low bigint;
    high bigint;
BEGIN
    FOR parent IN SELECT relname FROM pg_class
        WHERE relkind = 'p' AND relnamespace = current_schema()::regnamespace
    LOOP
        CONTINUE WHEN to_regclass(parent || '_' || number) IS NOT NULL;
        IF parent IN ('piece', 'handle', 'blob', 'derivative') THEN
            low := number;
            high := low + 1;
        ELSE
            low := number::bigint << 40;
            high := (number + 1)::bigint << 40;
        END IF;
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', parent || '_' || number, parent);
        EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)',
            parent, parent || '_' || number, low, high);
    END LOOP;
END $$;

-- Drops the partitions of all days before one, and says which days that were.
CREATE FUNCTION drop_days(before integer) RETURNS SETOF integer LANGUAGE plpgsql AS $$
DECLARE
    partition text;
    number integer;
BEGIN
    FOR partition, number IN
        SELECT child.relname, substring(child.relname FROM '_([0-9]+)$')::integer
        FROM pg_inherits
        JOIN pg_class child ON child.oid = inhrelid AND child.relkind = 'r'
        JOIN pg_class parent ON parent.oid = inhparent AND parent.relkind = 'p'
        WHERE child.relnamespace = current_schema()::regnamespace
        ORDER BY 2, 1
    LOOP
        CONTINUE WHEN number = 0 OR number >= before;
        EXECUTE format('DROP TABLE %I', partition);
        RETURN NEXT number;
    END LOOP;
END $$;
