-- The guarded resource in PostgreSQL. One row per key holds both copies, so one
-- row lock orders everything that happens to a key, and its log with it.
CREATE TABLE IF NOT EXISTS dlmtest_resource (
    key                text   PRIMARY KEY,
    unfenced           text   NOT NULL DEFAULT '',
    fenced             text   NOT NULL DEFAULT '',
    last_fencing_token bigint NOT NULL DEFAULT 0, -- registered by accepted writes and, with fence-on read, by reads
    last_written_token bigint NOT NULL DEFAULT 0  -- by accepted writes alone
);

-- n is drawn under the row lock: per key, the order of n is the order of the decisions.
CREATE TABLE IF NOT EXISTS dlmtest_log (
    n                 bigserial PRIMARY KEY,
    f                 text    NOT NULL, -- apply, read-seen or happened
    key               text    NOT NULL,
    owner             text    NOT NULL,
    token             bigint  NOT NULL,
    value             text    NOT NULL,
    sent              bigint  NOT NULL, -- the client's raw clock just before it sent the request
    unfenced_value    text    NOT NULL, -- read: what stood there; apply: ''
    unfenced_base     text    NOT NULL,
    unfenced_previous text    NOT NULL,
    fenced_value      text    NOT NULL,
    fenced_base       text    NOT NULL,
    fenced_previous   text    NOT NULL,
    fenced_accepted   boolean NOT NULL,
    fenced_token      bigint  NOT NULL, -- last_fencing_token afterwards
    unfenced_accepted boolean NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS dlmtest_log_value ON dlmtest_log (key, value) WHERE f = 'apply';
CREATE INDEX IF NOT EXISTS dlmtest_log_happened ON dlmtest_log (key, unfenced_value) WHERE f = 'happened';

-- Locks the row of a key, which it makes where there is none.
CREATE OR REPLACE FUNCTION dlmtest_lock(p_key text) RETURNS dlmtest_resource LANGUAGE plpgsql AS $$
DECLARE r dlmtest_resource;
BEGIN
    SELECT * INTO r FROM dlmtest_resource WHERE key = p_key FOR UPDATE;
    IF NOT FOUND THEN
        INSERT INTO dlmtest_resource (key) VALUES (p_key) ON CONFLICT DO NOTHING;
        SELECT * INTO r FROM dlmtest_resource WHERE key = p_key FOR UPDATE;
    END IF;
    RETURN r;
END $$;

CREATE OR REPLACE FUNCTION dlmtest_read(p_key text, p_owner text, p_token bigint, p_fence boolean, p_sent bigint)
RETURNS dlmtest_log LANGUAGE plpgsql AS $$
DECLARE r dlmtest_resource; l dlmtest_log;
BEGIN
    r := dlmtest_lock(p_key);
    IF p_fence AND p_token > r.last_fencing_token THEN
        UPDATE dlmtest_resource SET last_fencing_token = p_token WHERE key = p_key;
        r.last_fencing_token := p_token;
    END IF;
    INSERT INTO dlmtest_log VALUES (DEFAULT, 'read-seen', p_key, p_owner, p_token, '', p_sent,
        r.unfenced, '', '', r.fenced, '', '', false, r.last_fencing_token, false)
    RETURNING * INTO l;
    RETURN l;
END $$;

CREATE OR REPLACE FUNCTION dlmtest_write(p_key text, p_owner text, p_token bigint, p_strict boolean, p_value text,
                                         p_unfenced_base text, p_fenced_base text, p_unchanged boolean, p_sent bigint)
RETURNS dlmtest_log LANGUAGE plpgsql AS $$
DECLARE r dlmtest_resource; l dlmtest_log; accepted boolean; u_accepted boolean;
BEGIN
    r := dlmtest_lock(p_key);

    -- A second delivery of a value gets the first answer and changes nothing.
    SELECT * INTO l FROM dlmtest_log WHERE f = 'apply' AND key = p_key AND value = p_value;
    IF FOUND THEN
        IF (l.owner, l.token, l.unfenced_base, l.fenced_base) IS DISTINCT FROM (p_owner, p_token, p_unfenced_base, p_fenced_base) THEN
            RAISE EXCEPTION 'value % was used by another write', p_value USING ERRCODE = 'unique_violation';
        END IF;
        RETURN l;
    END IF;

    -- The version column: a copy takes the write only if its base still stands there.
    u_accepted := NOT p_unchanged OR r.unfenced = p_unfenced_base;
    IF u_accepted THEN
        UPDATE dlmtest_resource SET unfenced = p_value WHERE key = p_key;
    END IF;

    -- The well-known pattern. Token 0 is that of a lock without tokens.
    UPDATE dlmtest_resource
       SET fenced = p_value,
           last_fencing_token = greatest(last_fencing_token, p_token),
           last_written_token = greatest(last_written_token, p_token)
     WHERE key = p_key
       AND (NOT p_unchanged OR fenced = p_fenced_base)
       AND (p_token = 0 OR (last_fencing_token <= p_token AND (NOT p_strict OR last_written_token < p_token)));
    accepted := FOUND;

    INSERT INTO dlmtest_log VALUES (DEFAULT, 'apply', p_key, p_owner, p_token, p_value, p_sent,
        '', p_unfenced_base, r.unfenced, '', p_fenced_base, r.fenced, accepted,
        (SELECT last_fencing_token FROM dlmtest_resource WHERE key = p_key), u_accepted)
    RETURNING * INTO l;
    RETURN l;
END $$;

-- An effect in both worlds. Under p_once what is done is an idempotency key; under
-- p_fence the fenced world checks the token.
CREATE OR REPLACE FUNCTION dlmtest_do(p_key text, p_owner text, p_token bigint, p_value text, p_unfenced text, p_fenced text,
                                      p_once boolean, p_fence boolean, p_sent bigint)
RETURNS dlmtest_log LANGUAGE plpgsql AS $$
DECLARE r dlmtest_resource; l dlmtest_log; u_done boolean; f_done boolean; u_before text := ''; f_before text := '';
BEGIN
    r := dlmtest_lock(p_key);
    SELECT * INTO l FROM dlmtest_log WHERE f = 'happened' AND key = p_key AND value = p_value;
    IF FOUND THEN
        IF (l.owner, l.token, l.unfenced_value, l.fenced_value) IS DISTINCT FROM (p_owner, p_token, p_unfenced, p_fenced) THEN
            RAISE EXCEPTION 'value % was used by another effect', p_value USING ERRCODE = 'unique_violation';
        END IF;
        RETURN l;
    END IF;

    u_done := p_unfenced <> '';
    f_done := p_fenced <> '' AND (NOT p_fence OR p_token = 0 OR r.last_fencing_token <= p_token);
    IF p_once THEN
        SELECT coalesce(min(value), '') INTO u_before FROM dlmtest_log
         WHERE f = 'happened' AND key = p_key AND unfenced_value = p_unfenced AND unfenced_accepted AND u_done;
        SELECT coalesce(min(value), '') INTO f_before FROM dlmtest_log
         WHERE f = 'happened' AND key = p_key AND fenced_value = p_fenced AND fenced_accepted AND f_done;
        u_done := u_done AND u_before = '';
        f_done := f_done AND f_before = '';
    END IF;
    IF p_fence AND f_done THEN
        UPDATE dlmtest_resource SET last_fencing_token = greatest(last_fencing_token, p_token) WHERE key = p_key;
    END IF;
    INSERT INTO dlmtest_log VALUES (DEFAULT, 'happened', p_key, p_owner, p_token, p_value, p_sent,
        p_unfenced, '', u_before, p_fenced, '', f_before, f_done,
        (SELECT last_fencing_token FROM dlmtest_resource WHERE key = p_key), u_done)
    RETURNING * INTO l;
    RETURN l;
END $$;
