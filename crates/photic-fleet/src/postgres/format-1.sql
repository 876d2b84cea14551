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

-- What clients refer to that they uploaded. They end at times of their own, so no day drops them.
CREATE TABLE media (
    tenant bigint NOT NULL,
    reference text NOT NULL,
    blob bytea NOT NULL,
    facts text NOT NULL,
    memory text NOT NULL,
    session bigint,
    expires bigint NOT NULL,
    PRIMARY KEY (tenant, reference)
);
CREATE INDEX media_blob ON media (tenant, blob);
CREATE INDEX media_session ON media (session);
CREATE INDEX media_expires ON media (expires);

-- Where the bytes of a blob are: a stretch of an object. The day is the one the object's key has.
-- Day 0 is that of copies for pinned handles and references that hold, and never ends.
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

-- Lists of pictures to be asked about. The list itself is with whoever works on it. A million
-- pictures are some thousand chunks, so nothing here is partitioned.
CREATE TABLE job (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant bigint NOT NULL,
    name text NOT NULL,
    digest bytea NOT NULL,
    items bigint NOT NULL,
    chunk integer NOT NULL,
    -- Billionths of a US dollar.
    spent bigint NOT NULL DEFAULT 0,
    opened bigint NOT NULL,
    UNIQUE (tenant, name)
);

CREATE TABLE chunk (
    job bigint NOT NULL REFERENCES job ON DELETE CASCADE,
    number bigint NOT NULL,
    done boolean NOT NULL DEFAULT false,
    -- Who is at it, and until when nobody else may be.
    worker bytea,
    until bigint,
    outcome text,
    PRIMARY KEY (job, number)
);
CREATE INDEX chunk_open ON chunk (job, number) WHERE NOT done;
CREATE INDEX chunk_worker ON chunk (worker) WHERE worker IS NOT NULL;

-- What was said to a question. Without text, it is being asked: by whom, for which job, until when
-- nobody else may, and what it may cost.
CREATE TABLE answer (
    tenant bigint NOT NULL,
    key bytea NOT NULL,
    text text,
    stored bigint NOT NULL,
    worker bytea,
    job bigint,
    until bigint,
    reserved bigint,
    PRIMARY KEY (tenant, key)
);
CREATE INDEX answer_asked ON answer (job) WHERE text IS NULL;
CREATE INDEX answer_worker ON answer (worker) WHERE text IS NULL;
CREATE INDEX answer_stored ON answer (stored);
-- Writes a turn, all of it or nothing; its number. What its caller takes to be so is checked first,
-- while nobody else writes to the session; if it is not so, nothing is written, and the answer is:
-- 0 if there is no such session, -1 if it has other messages by now, -2 if a piece is missing that
-- was not sent. Pictures that get handles were stored a moment ago, so the day has its partitions.
--
-- Rows that other sessions write, too, are written in the order of their names, one table after the
-- other: so nobody waits for somebody who waits for them.
CREATE FUNCTION append_turn(
    _lock bigint, _owner bigint, _name text, _low bigint, _high bigint, _ahead integer,
    _expected bigint, _parent bigint,
    _chains bytea[], _texts bytea[], _places bytea[],
    _piece_names bytea[], _piece_texts bytea[], _piece_places bytea[],
    _used bytea[], _different bigint,
    _held bytea[], _bytes bigint[], _original boolean[], _memories text[],
    _handles text[], _pictures bytea[], _facts text[],
    _keys bytea[], _made bytea[], _types text[], _widths bigint[], _heights bigint[],
    _wire text, _digest bytea, _length bigint, _sums bigint[], _usd double precision, _kin bytea,
    _time bigint
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    _session bigint;
    _turns bigint;
    _messages bigint;
    _last_made bigint;
    _today integer := (now() AT TIME ZONE 'UTC')::date - date '1970-01-01' + _ahead;
BEGIN
    -- Nobody forgets anything of the tenant meanwhile.
    PERFORM pg_advisory_xact_lock_shared(_lock);
    SELECT id, turns, messages INTO _session, _turns, _messages FROM session
        WHERE name = _name AND tenant = _owner AND id >= _low AND id < _high FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    IF _messages <> _expected THEN
        RETURN -1;
    END IF;

    -- What turns repeat.
    IF cardinality(_piece_names) > 0 THEN
        INSERT INTO piece (day, tenant, digest, text, places)
            SELECT (_session >> 40)::integer, _owner, new.*
            FROM unnest(_piece_names, _piece_texts, _piece_places) AS new (digest, text, places)
            ORDER BY new.digest
            ON CONFLICT DO NOTHING;
    END IF;
    IF cardinality(_piece_names) < _different AND _different > (SELECT count(*) FROM piece
        WHERE day = (_session >> 40)::integer AND tenant = _owner AND digest = ANY(_used))
    THEN
        RETURN -2;
    END IF;

    -- What the session refers to, and what is remembered of it. Pictures get their handles, and
    -- what was said about one when it was issued stays.
    IF cardinality(_held) > 0 THEN
        INSERT INTO held (session, blob, bytes, original, memory)
            SELECT _session, * FROM unnest(_held, _bytes, _original, _memories)
            ON CONFLICT (session, blob) DO UPDATE
                SET original = held.original OR excluded.original,
                    memory = coalesce(held.memory, excluded.memory);
    END IF;
    IF cardinality(_handles) > 0 THEN
        INSERT INTO handle (day, tenant, handle, blob, facts, issued)
            SELECT _today, _owner, new.handle, new.blob, coalesce((SELECT facts FROM handle AS old
                    WHERE old.tenant = _owner AND old.handle = new.handle
                    ORDER BY day DESC LIMIT 1), new.facts), _time
            FROM unnest(_handles, _pictures, _facts) AS new (handle, blob, facts)
            ORDER BY new.handle
            ON CONFLICT (day, tenant, handle) DO UPDATE SET issued = excluded.issued;
    END IF;

    -- What was made, unless the latest that was made so is the same.
    SELECT coalesce(max(id), 0) INTO _last_made FROM made WHERE session = _session;
    IF cardinality(_keys) > 0 THEN
        WITH added AS (INSERT INTO made (session, id, key, blob, media_type, width, height)
            SELECT _session, _last_made + row_number() OVER (ORDER BY new.place), new.key, new.blob,
                new.media_type, new.width, new.height
            FROM unnest(_keys, _made, _types, _widths, _heights)
                WITH ORDINALITY AS new (key, blob, media_type, width, height, place)
            LEFT JOIN LATERAL (SELECT blob, true AS there FROM made
                WHERE session = _session AND key = new.key ORDER BY id DESC LIMIT 1) AS old ON true
            WHERE old.there IS NULL OR old.blob IS DISTINCT FROM new.blob
            RETURNING id)
        SELECT greatest(max(id), _last_made) INTO _last_made FROM added;
    END IF;

    IF cardinality(_chains) > 0 THEN
        INSERT INTO message (session, id, parent, chain, text, places)
            SELECT _session, _messages + place,
                CASE place WHEN 1 THEN _parent ELSE _messages + place - 1 END, chain, text, places
            FROM unnest(_chains, _texts, _places)
                WITH ORDINALITY AS new (chain, text, places, place);
        _messages := _messages + cardinality(_chains);
        _parent := _messages;
    END IF;
    INSERT INTO turn (session, number, wire, tip, before, after, profile, policy, circumstances,
            made, digest, length, images, tokens, usd, kin, time)
        VALUES (_session, _turns + 1, _wire, _parent, _used[1], _used[2], _used[3], _used[4],
            _used[5], _last_made, _digest, _length, _sums[1], _sums[2], _usd, _kin, _time);
    UPDATE session SET turns = _turns + 1, messages = _messages, last = _time WHERE id = _session;
    RETURN _turns + 1;
END $$;

-- Makes the partitions of a day. Made apart and attached, so that nobody who reads or writes has to
-- wait.
CREATE FUNCTION open_day(number integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    parent text;
    key text;
    low bigint;
    high bigint;
BEGIN
    FOR parent, key IN SELECT relname, pg_get_partkeydef(oid) FROM pg_class
        WHERE relkind = 'p' AND relnamespace = current_schema()::regnamespace
    LOOP
        CONTINUE WHEN to_regclass(parent || '_' || number) IS NOT NULL;
        IF key = 'RANGE (day)' THEN
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

-- What a tenant is allowed, where that is not what everybody is.
CREATE TABLE tenant_limits (
    tenant bigint PRIMARY KEY,
    requests_per_minute bigint,
    bytes_in_flight bigint,
    megapixels_per_minute bigint,
    stored_bytes bigint
);

-- What replicas took of a minute's allowance; of the latest minute only.
CREATE TABLE taken (
    tenant bigint NOT NULL,
    kind text NOT NULL,
    minute bigint NOT NULL,
    used bigint NOT NULL,
    PRIMARY KEY (tenant, kind)
);

-- Replicas, as long as they say that they are there.
CREATE TABLE replica (
    id bigint PRIMARY KEY,
    until bigint NOT NULL
);

-- Bytes in flight that a replica may have. They are free again when the replica is gone.
CREATE TABLE claim (
    tenant bigint NOT NULL,
    replica bigint NOT NULL,
    bytes bigint NOT NULL,
    PRIMARY KEY (tenant, replica)
);

CREATE FUNCTION now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
$$;

-- Takes a share of this minute: at least what is needed, or nothing. The nearer the end, the smaller
-- the share, so that little is left with those who do not use theirs. The clock is read after the
-- lock: whoever waited into the next minute takes of that one.
CREATE FUNCTION take_share(of bigint, what text, needed bigint, wanted bigint, most bigint,
    OUT granted bigint, OUT room bigint, OUT left_ms bigint) LANGUAGE plpgsql AS $$
DECLARE
    before taken;
    clock bigint;
    this bigint;
BEGIN
    INSERT INTO taken (tenant, kind, minute, used) VALUES (of, what, 0, 0) ON CONFLICT DO NOTHING;
    SELECT * INTO before FROM taken WHERE tenant = of AND kind = what FOR UPDATE;
    clock := now_ms();
    this := greatest(clock / 60000, before.minute);
    IF this > before.minute THEN
        before.used := 0;
    END IF;
    room := greatest(most - before.used, 0);
    granted := 0;
    IF needed <= room THEN
        granted := greatest(needed, least(wanted, room / 4));
    END IF;
    room := room - granted;
    left_ms := (this + 1) * 60000 - clock;
    UPDATE taken SET minute = this, used = before.used + granted WHERE tenant = of AND kind = what;
END $$;

-- Says that a replica is there, for some time more: how many there are, and whether it was thought
-- to be gone, so that what it had claimed may be somebody else's.
CREATE FUNCTION stay(number bigint, lease_ms bigint, OUT replicas bigint, OUT was_gone boolean)
LANGUAGE plpgsql AS $$
DECLARE
    clock bigint := now_ms();
    gone bigint[];
BEGIN
    WITH these AS (DELETE FROM replica WHERE id IN
            (SELECT id FROM replica WHERE until <= clock FOR UPDATE SKIP LOCKED)
        RETURNING id)
        SELECT array_agg(id) INTO gone FROM these;
    DELETE FROM claim WHERE replica = ANY(gone);
    UPDATE replica SET until = clock + lease_ms WHERE id = number;
    was_gone := NOT FOUND;
    IF was_gone THEN
        INSERT INTO replica (id, until) VALUES (number, clock + lease_ms)
        ON CONFLICT (id) DO UPDATE SET until = excluded.until;
    END IF;
    SELECT count(*) INTO replicas FROM replica;
END $$;

-- Changes what a replica may have in flight to what it wants, or to as much as there is if that is
-- enough; otherwise nothing changes. What it has then; NULL if it is thought to be gone. Every
-- statement here sees what was there when the lock was got, so two who ask at once are never given
-- the same bytes.
CREATE FUNCTION claim_bytes(of bigint, who bigint, needed bigint, wanted bigint, most bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    had bigint;
    others bigint;
    granted bigint;
BEGIN
    PERFORM pg_advisory_xact_lock((1::bigint << 61) + of);
    PERFORM 1 FROM replica WHERE id = who AND until > now_ms() FOR KEY SHARE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SELECT coalesce(sum(bytes) FILTER (WHERE replica = who), 0),
        coalesce(sum(bytes) FILTER (WHERE replica <> who AND until > now_ms()), 0)
        INTO had, others FROM claim JOIN replica ON replica.id = claim.replica WHERE tenant = of;
    granted := least(wanted, most - others);
    IF granted < needed THEN
        RETURN had;
    END IF;
    INSERT INTO claim (tenant, replica, bytes) VALUES (of, who, granted)
    ON CONFLICT (tenant, replica) DO UPDATE SET bytes = excluded.bytes;
    RETURN granted;
END $$;

-- What was done for tenants: a chain of rows for each, numbered without gaps. By name, because it
-- outlives a tenant that is forgotten.
CREATE TABLE audit (
    day integer NOT NULL,
    tenant text NOT NULL,
    number bigint NOT NULL,
    time bigint NOT NULL,
    key_id text,
    what text NOT NULL,
    subject text NOT NULL,
    decision text NOT NULL,
    bytes_in bigint NOT NULL,
    bytes_out bigint NOT NULL,
    previous bytea NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (tenant, number, day)
) PARTITION BY RANGE (day);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit is added to, and never changed';
END $$;
CREATE TRIGGER audit_stays BEFORE UPDATE OR DELETE ON audit
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_stays_whole BEFORE TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Where every chain ends.
CREATE TABLE audit_head (
    tenant text PRIMARY KEY,
    day integer NOT NULL,
    number bigint NOT NULL,
    hash bytea NOT NULL
);

-- Where a chain goes on on a day, and after which hash: where it begins once earlier days are gone.
CREATE TABLE audit_day (
    tenant text NOT NULL,
    day integer NOT NULL,
    number bigint NOT NULL,
    previous bytea NOT NULL,
    PRIMARY KEY (tenant, day)
);

-- The first day whose audit is not gone.
CREATE FUNCTION audit_begins() RETURNS integer LANGUAGE sql STABLE AS $$
    SELECT min(substring(inhrelid::regclass::text FROM '_([0-9]+)$')::integer)
    FROM pg_inherits WHERE inhparent = 'audit'::regclass
$$;

-- Tenants that are being forgotten: their number is all that what is left of them can be found by.
CREATE TABLE forgotten (
    id bigint PRIMARY KEY,
    name text NOT NULL,
    since bigint NOT NULL
);

-- Removes whatever any table has of a tenant or of its sessions, and says how many rows that were.
-- It goes by the columns' names, so that a table that comes later cannot be missed.
CREATE FUNCTION remove_rows(of bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    name text;
    key text;
    removed bigint;
    sum bigint := 0;
BEGIN
    -- What belongs to sessions goes before them.
    FOR name, key IN
        SELECT relname, attname FROM pg_class
        JOIN pg_attribute ON attrelid = pg_class.oid AND attname IN ('session', 'tenant')
            AND atttypid = 'bigint'::regtype AND NOT attisdropped
        WHERE relkind IN ('r', 'p') AND NOT relispartition
            AND relnamespace = current_schema()::regnamespace
        ORDER BY attname, relname
    LOOP
        IF key = 'session' THEN
            EXECUTE format('DELETE FROM %I WHERE session IN
                (SELECT id FROM session WHERE tenant = $1)', name) USING of;
        ELSE
            EXECUTE format('DELETE FROM %I WHERE tenant = $1', name) USING of;
        END IF;
        GET DIAGNOSTICS removed = ROW_COUNT;
        sum := sum + removed;
    END LOOP;
    RETURN sum;
END $$;
