import type pg from 'pg'
import { databaseError } from './problems.ts'
import { REPORT_TABLES } from './report-tables.ts'

/**
 * The tables of the schema; a module with many tables of its own has them in a file of its own, listed in
 * migrate.ts.
 */
const TABLES = `
CREATE SCHEMA IF NOT EXISTS mailsonde;
CREATE TABLE mailsonde.schema_version (
  version integer PRIMARY KEY,
  applied_at timestamptz NOT NULL DEFAULT now()
);

-- Monitors. Whatever is due, a run or a message that waits, is found by one index.
CREATE TABLE mailsonde.monitors (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  owner text NOT NULL,                 -- id of the key that made it; '' without keys
  name text NOT NULL,
  kind text NOT NULL,
  target text NOT NULL,
  domain text NOT NULL,                -- that the target belongs to; '' for an IP address
  organization text NOT NULL DEFAULT '', -- the organizational domain of that
  every_ms bigint NOT NULL,
  options jsonb NOT NULL,
  notify jsonb NOT NULL,
  conditions jsonb NOT NULL,
  quiet jsonb,
  is_public boolean NOT NULL,
  enabled boolean NOT NULL,
  created_at timestamptz NOT NULL,
  next_run timestamptz NOT NULL,
  message_due timestamptz,             -- when a message that was held may be sent
  leased_until timestamptz NOT NULL DEFAULT '-infinity',
  fence bigint NOT NULL DEFAULT 0,     -- counts claims; a run is written only under the claim that made it
  ran_at timestamptz,
  state text NOT NULL DEFAULT 'unknown',
  failures integer NOT NULL DEFAULT 0,
  last jsonb,                          -- the last point
  known text,                          -- the last known answer, JSON
  notifier jsonb,                      -- what the notifier remembers
  stored bigint NOT NULL DEFAULT 0,    -- size of its points and messages, octets
  unsubscribed jsonb NOT NULL DEFAULT '[]',
  labels text[] NOT NULL DEFAULT '{}',
  contact text NOT NULL DEFAULT '',    -- mail address of who is responsible for the target; '' for nobody
  note text NOT NULL DEFAULT '',
  facts jsonb,                         -- what filters and counts read of the last known answer; null: nothing is known
  changed_at timestamptz,              -- the last run that found a change
  told_at timestamptz                  -- what changed until then was in a digest
);
CREATE INDEX monitors_by_label ON mailsonde.monitors USING gin (labels);
CREATE INDEX monitors_due ON mailsonde.monitors (least(next_run, message_due)) WHERE enabled;
CREATE INDEX monitors_due_of_owner ON mailsonde.monitors (owner, least(next_run, message_due)) WHERE enabled;
CREATE INDEX monitors_by_owner ON mailsonde.monitors (owner, number DESC);
CREATE INDEX monitors_by_domain ON mailsonde.monitors (domain);
CREATE TABLE mailsonde.monitor_points (
  monitor bigint NOT NULL REFERENCES mailsonde.monitors (number) ON DELETE CASCADE,
  at timestamptz NOT NULL,
  status text NOT NULL,
  score integer,
  listed integer,
  reason text,
  changes jsonb,                       -- null: nothing has changed
  facts jsonb,                         -- of the monitor from this run on; null: as before
  PRIMARY KEY (monitor, at)
);
CREATE INDEX monitor_points_facts ON mailsonde.monitor_points (monitor, at DESC) WHERE facts IS NOT NULL;
CREATE INDEX monitor_points_facts_by_time ON mailsonde.monitor_points (at) WHERE facts IS NOT NULL;
CREATE INDEX monitor_points_changed ON mailsonde.monitor_points (monitor, at DESC) WHERE changes IS NOT NULL;
CREATE INDEX monitor_points_by_time ON mailsonde.monitor_points USING brin (at);

-- Findings that a key accepts, for a domain or for its monitors with a label.
CREATE TABLE mailsonde.accepted (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  owner text NOT NULL,                 -- id of the key that made it; '' without keys
  finding text NOT NULL,
  domain text NOT NULL,                -- '' for a label
  label text NOT NULL,                 -- '' for a domain
  reason text NOT NULL,
  author text NOT NULL,
  created_at timestamptz NOT NULL,
  until timestamptz NOT NULL,
  tell_at timestamptz,                 -- when its end is told next; null: it was
  UNIQUE (owner, domain, label, finding)
);
CREATE INDEX accepted_due ON mailsonde.accepted (tell_at) WHERE tell_at IS NOT NULL;

CREATE TABLE mailsonde.webhooks (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  owner text NOT NULL,
  url text NOT NULL,
  secret text NOT NULL,                -- it signs, so that it is kept as it is
  old_secret text,
  old_secret_until timestamptz,
  state text NOT NULL DEFAULT 'on' CHECK (state IN ('on', 'off')),
  reason text,
  created_at timestamptz NOT NULL,
  stored bigint NOT NULL DEFAULT 0,    -- size of its messages about jobs, octets
  UNIQUE (owner, url)
);
-- Messages to send, written with what they tell of, and kept for 90 days.
CREATE TABLE mailsonde.deliveries (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  webhook bigint REFERENCES mailsonde.webhooks (number) ON DELETE CASCADE,
  monitor bigint REFERENCES mailsonde.monitors (number) ON DELETE CASCADE,
  owner text NOT NULL DEFAULT '',      -- of the webhook or the monitor
  channel jsonb NOT NULL,
  type text NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL,
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
  next_attempt timestamptz,
  leased_until timestamptz NOT NULL DEFAULT '-infinity',
  attempts jsonb NOT NULL DEFAULT '[]',
  tries integer NOT NULL DEFAULT 0     -- of the present round: a replay begins anew
);
-- What was removed is stored no more; what is added is counted where it is written.
CREATE FUNCTION mailsonde.points_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE mailsonde.monitors m SET stored = greatest(0, m.stored - g.octets) FROM (
    SELECT monitor, sum(128 + coalesce(octet_length(changes::text), 0) + coalesce(octet_length(facts::text), 0)) AS octets FROM gone GROUP BY monitor) g
  WHERE m.number = g.monitor;
  RETURN NULL;
END $$;
CREATE TRIGGER points_removed AFTER DELETE ON mailsonde.monitor_points REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION mailsonde.points_removed();
CREATE FUNCTION mailsonde.deliveries_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE mailsonde.monitors m SET stored = greatest(0, m.stored - g.octets) FROM (
    SELECT monitor, sum(512 + octet_length(body)) AS octets FROM gone WHERE monitor IS NOT NULL GROUP BY monitor) g
  WHERE m.number = g.monitor;
  UPDATE mailsonde.webhooks w SET stored = greatest(0, w.stored - g.octets) FROM (
    SELECT webhook, sum(512 + octet_length(body)) AS octets FROM gone WHERE monitor IS NULL AND webhook IS NOT NULL GROUP BY webhook) g
  WHERE w.number = g.webhook;
  RETURN NULL;
END $$;
CREATE TRIGGER deliveries_removed AFTER DELETE ON mailsonde.deliveries REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION mailsonde.deliveries_removed();
CREATE INDEX deliveries_due ON mailsonde.deliveries (next_attempt) WHERE state = 'pending';
CREATE INDEX deliveries_due_of_owner ON mailsonde.deliveries (owner, next_attempt, number) WHERE state = 'pending';
CREATE INDEX deliveries_by_webhook ON mailsonde.deliveries (webhook, number DESC);
CREATE INDEX deliveries_by_time ON mailsonde.deliveries (created_at);

CREATE TABLE mailsonde.jobs (
  number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,  -- names the table of its rows, if it has one of its own
  id text NOT NULL UNIQUE,
  kind text NOT NULL CHECK (kind IN ('verify', 'check', 'blacklist')),
  name text NOT NULL,
  owner text NOT NULL,                                      -- id of the key that made it; '' without keys
  state text NOT NULL CHECK (state IN ('receiving', 'waiting', 'running', 'paused', 'done', 'canceled', 'failed')),
  options jsonb NOT NULL,
  layout jsonb,                                             -- what intake found: format, delimiter, columns
  created_at timestamptz NOT NULL DEFAULT now(),
  touched_at timestamptz NOT NULL DEFAULT now(),            -- the last upload or state change
  expires_at timestamptz NOT NULL,
  finished_at timestamptz,
  first_result_at timestamptz,
  received bigint NOT NULL DEFAULT 0,                       -- whole records held
  octets bigint NOT NULL DEFAULT 0,                         -- size of the list as it was stored
  next_line bigint NOT NULL DEFAULT 1,                      -- the line on which the next part of the upload begins
  rows bigint NOT NULL DEFAULT 0,
  own_table boolean NOT NULL DEFAULT false,
  has_domains boolean NOT NULL DEFAULT false,               -- domains whose provider is not known are left
  planned_at timestamptz NOT NULL DEFAULT '-infinity',      -- when domains were looked up last: jobs take turns
  duplicates bigint NOT NULL DEFAULT 0,
  bad_rows bigint NOT NULL DEFAULT 0,
  failure text,
  callback bigint REFERENCES mailsonde.webhooks (number) ON DELETE SET NULL  -- the webhook that is told when the job has ended, until it was
);
CREATE INDEX jobs_with_callback ON mailsonde.jobs (state) WHERE callback IS NOT NULL;
CREATE INDEX jobs_by_owner ON mailsonde.jobs (owner, number);
CREATE INDEX jobs_open ON mailsonde.jobs (owner, state) WHERE state IN ('receiving', 'waiting', 'running', 'paused');
CREATE INDEX jobs_with_domains ON mailsonde.jobs (owner, planned_at) WHERE has_domains;
CREATE INDEX jobs_by_expiry ON mailsonde.jobs (expires_at);

-- A row's state is here alone. Large jobs have a table of their own with the same columns (job-tables.ts).
CREATE TABLE mailsonde.job_rows (
  job integer NOT NULL,
  line double precision NOT NULL,      -- place: line on which the record begins, and the part of it (jobs/intake/row.ts)
  input text NOT NULL,
  columns jsonb,                       -- the row's own columns, in their order
  key text NOT NULL,                   -- equal inputs have equal keys
  domain text NOT NULL,                -- whose mail hosts tell the provider; '' where nothing is asked
  first_line double precision,         -- the row that answers for this duplicate
  copies integer NOT NULL DEFAULT 0,   -- duplicates that this row answers for
  provider text,                       -- null: not found out yet
  state text NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'ready', 'done', 'duplicate')),
  due timestamptz,                     -- when a ready row may be asked; while a node asks it, when its claim ends
  attempts integer NOT NULL DEFAULT 0,
  fence bigint NOT NULL DEFAULT 0,     -- odd while claimed; a result is written only under the claim that asked
  first_asked_at timestamptz,          -- set by the first answer
  result text,
  reason text,
  answer json,                         -- as it was written: it is read whole
  answered_at timestamptz,
  PRIMARY KEY (job, line)
);
CREATE INDEX job_rows_ready ON mailsonde.job_rows (job, provider, due, line) WHERE state = 'ready';
CREATE INDEX job_rows_new ON mailsonde.job_rows (job, domain) WHERE state = 'new';

-- What planning reads: the providers of a job, and when a row of theirs is due.
CREATE TABLE mailsonde.job_providers (
  job integer NOT NULL REFERENCES mailsonde.jobs (number) ON DELETE CASCADE,
  provider text NOT NULL,
  rows bigint NOT NULL,                -- with duplicates, as done
  done bigint NOT NULL DEFAULT 0,
  next_due timestamptz NOT NULL,       -- no row is due before; 'infinity': none has to be asked
  version bigint NOT NULL DEFAULT 0,   -- counts rows that became due: whoever read an earlier one does not set next_due
  served_at timestamptz NOT NULL DEFAULT '-infinity',
  PRIMARY KEY (job, provider)
) WITH (fillfactor = 50);
CREATE INDEX job_providers_due ON mailsonde.job_providers (next_due) WHERE next_due < 'infinity';

-- What each node may use at a provider, or at the address of a mail host: connections until a time, and recipients.
CREATE TABLE mailsonde.provider_leases (
  provider text PRIMARY KEY,
  tokens double precision NOT NULL,    -- recipients that may be asked about now
  at timestamptz NOT NULL,
  holders jsonb NOT NULL               -- by node: connections held, connections wanted, end of the lease in ms
) WITH (fillfactor = 50);

CREATE TABLE mailsonde.job_domains (
  job integer NOT NULL REFERENCES mailsonde.jobs (number) ON DELETE CASCADE,
  domain text NOT NULL,
  provider text,                       -- null: not found out yet
  leased_until timestamptz NOT NULL DEFAULT '-infinity',
  PRIMARY KEY (job, domain)
);
CREATE INDEX job_domains_open ON mailsonde.job_domains (job) WHERE provider IS NULL;

CREATE TABLE mailsonde.job_bad_rows (
  job integer NOT NULL REFERENCES mailsonde.jobs (number) ON DELETE CASCADE,
  line bigint NOT NULL,
  reason text NOT NULL,                -- a code
  detail text NOT NULL,                -- the reason in words
  text text NOT NULL,                  -- the row as it came, at most 1 KiB of it
  PRIMARY KEY (job, line)
);

-- Sums that progress is read from: a job of a million rows is never counted.
CREATE TABLE mailsonde.job_counts (
  job integer NOT NULL REFERENCES mailsonde.jobs (number) ON DELETE CASCADE,
  provider text NOT NULL,
  result text NOT NULL,
  reason text NOT NULL,
  n bigint NOT NULL,
  PRIMARY KEY (job, provider, result, reason)
);

-- Rows answered in each minute: the rate and the time left are read from it.
CREATE TABLE mailsonde.job_pace (
  job integer NOT NULL REFERENCES mailsonde.jobs (number) ON DELETE CASCADE,
  provider text NOT NULL,
  minute timestamptz NOT NULL,
  n bigint NOT NULL,
  PRIMARY KEY (job, provider, minute)
);
CREATE INDEX job_pace_by_minute ON mailsonde.job_pace (job, minute);  -- recent rows are found without reading all earlier minutes

-- The rows of the repositories (store/contract.ts). Values are JSON as text: jsonb holds no NUL.
CREATE SEQUENCE mailsonde.row_changes;
CREATE TABLE mailsonde.rows (
  scope text NOT NULL,                 -- a node's own rows by its id; '' for those of the whole cluster
  repository text NOT NULL,
  key text COLLATE "C" NOT NULL,       -- lists are in the order of character codes
  value text NOT NULL,
  version bigint NOT NULL DEFAULT nextval('mailsonde.row_changes'),
  PRIMARY KEY (scope, repository, key)
);
CREATE INDEX rows_by_change ON mailsonde.rows (scope, repository, version);

-- Requests that callers may repeat (Idempotency-Key): the answer of each is kept for a day.
CREATE TABLE mailsonde.idempotency_keys (
  owner text NOT NULL,                 -- id of the caller's key; '' without keys
  key text NOT NULL,
  request text NOT NULL,               -- digest of the operation and its parameters
  claim uuid NOT NULL DEFAULT gen_random_uuid(),  -- changes with each call that works on it
  seed text NOT NULL,                  -- names what the request makes, also when it is run again after a crash
  leased_until timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  status integer,                      -- null while it runs
  answer text,                         -- JSON
  body_sha256 text,
  body_octets bigint,
  PRIMARY KEY (owner, key)
);
CREATE UNIQUE INDEX idempotency_keys_by_claim ON mailsonde.idempotency_keys (claim);
CREATE INDEX idempotency_keys_by_expiry ON mailsonde.idempotency_keys (expires_at);

-- Answers that somebody wanted to keep. The text is JSON; text, since jsonb holds no NUL.
CREATE TABLE mailsonde.stored_answers (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,             -- 128 random bits; whoever knows it may read the answer
  kind text NOT NULL,
  owner text NOT NULL,                 -- id of the key that stored it; '' without keys
  subject text NOT NULL,
  domain text,
  email text,
  ip text,
  status text NOT NULL,
  score integer,
  saved_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  answer text                          -- null: it has expired
);
CREATE INDEX stored_answers_by_domain ON mailsonde.stored_answers (domain, number DESC) WHERE domain IS NOT NULL;
CREATE INDEX stored_answers_by_email ON mailsonde.stored_answers (email, number DESC) WHERE email IS NOT NULL;
CREATE INDEX stored_answers_by_ip ON mailsonde.stored_answers (ip, number DESC) WHERE ip IS NOT NULL;
CREATE INDEX stored_answers_by_owner ON mailsonde.stored_answers (owner) WHERE answer IS NOT NULL;
CREATE INDEX stored_answers_by_expiry ON mailsonde.stored_answers (expires_at);

-- Consents to mail of monitors: an address gets nothing but the question before it consented (double opt-in).
CREATE TABLE mailsonde.mail_consents (
  owner text NOT NULL,                 -- id of the key; '' without keys
  address text NOT NULL,               -- lower case
  id text NOT NULL UNIQUE,             -- 128 random bits, in the link of the question
  state text NOT NULL CHECK (state IN ('asked', 'given', 'refused')),
  asked_at timestamptz NOT NULL,
  answered_at timestamptz,
  PRIMARY KEY (owner, address)
);
CREATE INDEX mail_consents_by_address ON mailsonde.mail_consents (address);
-- Digests to those who are responsible for monitors: how often a key sends them, and who reads them.
CREATE TABLE mailsonde.digests (
  owner text PRIMARY KEY,              -- id of the key; '' without keys
  every text NOT NULL CHECK (every IN ('day', 'week')),
  next_at timestamptz NOT NULL,
  since timestamptz NOT NULL           -- changes from before are told in none
);
CREATE TABLE mailsonde.digest_readers (
  owner text NOT NULL,
  address text NOT NULL,               -- lower case
  token text NOT NULL UNIQUE,          -- 128 random bits, in the link that ends the digests
  made_for timestamptz NOT NULL,       -- the time of its last digest, or for which there was nothing to tell
  stopped_at timestamptz,
  PRIMARY KEY (owner, address)
);
-- Mail that keys caused at once, for a day: their rates are counted here.
CREATE TABLE mailsonde.mail_uses (
  owner text NOT NULL,
  monitor text,                        -- id of a monitor that was tested
  mails integer NOT NULL,
  at timestamptz NOT NULL
);
CREATE INDEX mail_uses_by_owner ON mailsonde.mail_uses (owner, at);

-- What verification remembers for a while, shared by all nodes: catch-all domains, unknown mailboxes, pauses, answers to equal questions.
CREATE TABLE mailsonde.memories (
  name text NOT NULL,                  -- a domain, a provider, or the digest of a question
  kind text NOT NULL,
  key text NOT NULL,
  value text NOT NULL,
  until timestamptz NOT NULL,
  PRIMARY KEY (name, kind, key)
);
CREATE INDEX memories_by_end ON mailsonde.memories (until);
`

/** Key of the advisory lock under which one process at a time migrates: "mailsonm" as octets. */
const MIGRATION_LOCK = '7882826921180361325'

/**
 * The steps of the schema, in order; version N is the state after the Nth. Nothing was released yet: the first step
 * changes with the program, and a database of an earlier development version is created anew. From the first release
 * on, a step is never edited: what is wrong in it is corrected by a new one.
 */
export const MIGRATIONS: readonly string[] = [[TABLES, REPORT_TABLES].join('\n')]

export const SCHEMA_VERSION = MIGRATIONS.length

type SchemaStatus = { readonly version: number; readonly known: number; readonly isStandby: boolean }

/** The version of the schema in the database (0: none yet), and whether the server is a standby. */
export async function schemaStatus(client: pg.Pool | pg.PoolClient): Promise<SchemaStatus> {
  const { rows } = await client.query<{ standby: boolean; there: boolean }>(
    `SELECT pg_is_in_recovery() AS standby, to_regclass('mailsonde.schema_version') IS NOT NULL AS there`,
  )
  const version = rows[0]?.there
    ? await client.query<{ version: number }>(
        'SELECT coalesce(max(version), 0) AS version FROM mailsonde.schema_version',
      )
    : undefined
  return {
    version: version?.rows[0]?.version ?? 0,
    known: SCHEMA_VERSION,
    isStandby: rows[0]?.standby === true,
  }
}

/**
 * Brings the schema to the version that this program knows, one process at a time. Returns the number of steps made.
 * The lock is that of a transaction, because a session lock is lost behind a pooler. Rejects with AppError for a
 * standby server and for a schema newer than this program.
 */
export async function migrate(pool: pg.Pool): Promise<number> {
  const client = await pool.connect()
  let isBroken = true
  try {
    const before = await schemaStatus(client)
    refuseUnusable(before)
    if (before.version < SCHEMA_VERSION) {
      await client.query('BEGIN')
      await client.query('SET LOCAL statement_timeout = 0')
      await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
      const { version } = await schemaStatus(client) // another process may have made the steps while this one waited
      for (const [index, statements] of [...MIGRATIONS.entries()].slice(version)) {
        await client.query(statements)
        await client.query('INSERT INTO mailsonde.schema_version (version) VALUES ($1)', [index + 1])
      }
      await client.query('COMMIT')
    }
    isBroken = false
    return SCHEMA_VERSION - before.version
  } finally {
    client.release(isBroken) // a failed transaction ends with its connection
  }
}

function refuseUnusable({ version, isStandby }: SchemaStatus): void {
  if (isStandby) throw databaseError('standby')
  if (version > SCHEMA_VERSION) throw databaseError('newer', { version, supported: SCHEMA_VERSION })
}
