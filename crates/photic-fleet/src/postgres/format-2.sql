-- Uploads that go straight into the bucket. What is signed for counts as kept until it is taken in,
-- or until its time is over and what was put there is removed.
CREATE TABLE upload (
    tenant bigint NOT NULL,
    name text NOT NULL,
    bytes bigint NOT NULL,
    expires bigint NOT NULL,
    is_done boolean NOT NULL DEFAULT false,
    PRIMARY KEY (tenant, name)
);
CREATE INDEX upload_expires ON upload (expires);

-- How many rows any table has of a tenant, by the tables' names. Goes by the columns' names, as
-- `remove_rows` does.
CREATE FUNCTION rows_left(of bigint) RETURNS TABLE (name text, count bigint) LANGUAGE plpgsql AS $$
BEGIN
    FOR name IN
        SELECT relname FROM pg_class
        JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'tenant'
            AND atttypid = 'bigint'::regtype AND NOT attisdropped
        WHERE relkind IN ('r', 'p') AND NOT relispartition
            AND relnamespace = current_schema()::regnamespace
        ORDER BY relname
    LOOP
        EXECUTE format('SELECT count(*) FROM %I WHERE tenant = $1', name) INTO count USING of;
        IF count > 0 THEN
            RETURN NEXT;
        END IF;
    END LOOP;
END $$;
