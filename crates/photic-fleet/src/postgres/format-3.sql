-- The fate of each medium, the messages as they were sent, and the new messages in short.
ALTER TABLE turn ADD COLUMN fates bytea, ADD COLUMN sent bytea, ADD COLUMN arrived text;

-- Writes a turn like the function of format 1, which replicas of older versions still call, and what
-- was added since.
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
    _time bigint,
    _fates bytea, _sent bytea, _arrived text
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    _number bigint;
BEGIN
    _number := append_turn(
        _lock, _owner, _name, _low, _high, _ahead, _expected, _parent, _chains, _texts, _places,
        _piece_names, _piece_texts, _piece_places, _used, _different, _held, _bytes, _original,
        _memories, _handles, _pictures, _facts, _keys, _made, _types, _widths, _heights, _wire,
        _digest, _length, _sums, _usd, _kin, _time);
    IF _number > 0 THEN
        UPDATE turn SET fates = _fates, sent = _sent, arrived = _arrived
        WHERE session >= _low AND session < _high AND number = _number AND session = (
            SELECT id FROM session
            WHERE name = _name AND tenant = _owner AND id >= _low AND id < _high);
    END IF;
    RETURN _number;
END $$;

-- How requests ended. Written once, when the reply has ended. Without a turn: requests that failed for
-- good, or were passed on unread. Those that belong to no session have the number below the first
-- session of their day.
CREATE SEQUENCE outcome_number;
CREATE TABLE outcome (
    session bigint NOT NULL,
    id bigint NOT NULL DEFAULT nextval('outcome_number'),
    tenant bigint NOT NULL,
    turn bigint,
    begun bigint NOT NULL,
    first_byte_ms bigint,
    total_ms bigint NOT NULL,
    status bigint,
    ended text NOT NULL,
    reason text,
    host text,
    sent_wire text,
    model text,
    request text,
    provider_request text,
    agent text,
    bytes_in bigint NOT NULL,
    bytes_sent bigint NOT NULL,
    bytes_out bigint NOT NULL,
    tries text,
    input bigint,
    cache_read bigint,
    cache_write bigint,
    output bigint,
    reasoning bigint,
    input_usd double precision,
    output_usd double precision,
    PRIMARY KEY (session, id)
) PARTITION BY RANGE (session);
CREATE INDEX outcome_turn ON outcome (session, turn);
CREATE INDEX outcome_other ON outcome (tenant, begun)
    WHERE session & ((1::bigint << 40) - 1) = 0;

-- Replies, if they are kept.
CREATE TABLE reply (
    session bigint NOT NULL,
    turn bigint NOT NULL,
    media_type text NOT NULL,
    length bigint NOT NULL,
    text bytea NOT NULL,
    PRIMARY KEY (session, turn)
) PARTITION BY RANGE (session);

-- Every choice of the user, in order. `choice` has those in force.
CREATE SEQUENCE past_choice_number;
CREATE TABLE past_choice (
    session bigint NOT NULL,
    id bigint NOT NULL DEFAULT nextval('past_choice_number'),
    picture bytea NOT NULL,
    -- Nothing if an earlier choice was taken back.
    choice text,
    time bigint NOT NULL,
    -- How many turns the session had then.
    turns bigint NOT NULL,
    PRIMARY KEY (session, id)
) PARTITION BY RANGE (session);

-- The days that exist get partitions of the new tables.
SELECT open_day(number) FROM (
    SELECT DISTINCT substring(child.relname FROM '_([0-9]+)$')::integer AS number
    FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
    WHERE inhparent = 'session'::regclass) AS day;
INSERT INTO past_choice (session, picture, choice, time, turns)
    SELECT session, picture, choice, time, (SELECT count(*) FROM turn
        WHERE turn.session = choice.session AND turn.time <= choice.time)
    FROM choice ORDER BY time, session, picture;
