/**
 * Reports and their rows. A row is summed by day, name in From, source and reporter; a source is everything else that a
 * record says. Sources repeat from day to day: the rows hold numbers only.
 */
export const REPORT_TABLES = `
CREATE TABLE mailsonde.reports (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  kind text NOT NULL CHECK (kind IN ('dmarc', 'tls')),
  domain text NOT NULL,
  organization text NOT NULL,
  reporter integer NOT NULL,
  report_id text NOT NULL,
  begins timestamptz NOT NULL,
  ends timestamptz NOT NULL,
  day date NOT NULL,                   -- of the middle, UTC
  messages bigint NOT NULL,            -- sessions of a TLS report
  policy jsonb NOT NULL,
  digest text NOT NULL,                -- of its numbers: a duplicate with others differs
  authenticated boolean,
  counts boolean NOT NULL,             -- false: kept apart, because anybody can mail a report
  differs boolean NOT NULL DEFAULT false,
  foreign_rows integer NOT NULL DEFAULT 0, -- rows about other domains, which were left out
  owner text,                          -- id of the key that brought it, '' without keys; null: it came by mail
  octets bigint NOT NULL,              -- size of what it added
  received_at timestamptz NOT NULL
);
-- A report counts once; one that does not count shadows none that does.
CREATE UNIQUE INDEX reports_once ON mailsonde.reports (kind, domain, reporter, report_id, begins, counts);
CREATE INDEX reports_by_domain ON mailsonde.reports (reverse(domain) text_pattern_ops, day);
CREATE INDEX reports_by_owner ON mailsonde.reports (owner) INCLUDE (octets, counts);
CREATE INDEX reports_by_day ON mailsonde.reports (day);

CREATE TABLE mailsonde.report_reporters (
  number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL,
  is_known boolean NOT NULL,           -- proven to be one of the table of reporters, or said so by a file
  UNIQUE (name, is_known)
);
CREATE TABLE mailsonde.report_names (
  number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE            -- a name in From
);
CREATE INDEX report_names_below ON mailsonde.report_names (reverse(name) text_pattern_ops);
CREATE TABLE mailsonde.report_sources (
  number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  digest uuid NOT NULL UNIQUE,
  name integer NOT NULL,
  address inet NOT NULL,
  envelope_from text NOT NULL,
  spf_domain text NOT NULL,
  spf_result text NOT NULL,
  spf_aligned boolean,
  dkim_domain text NOT NULL,
  dkim_selector text NOT NULL,
  dkim_result text NOT NULL,
  dkim_aligned boolean,
  signers text NOT NULL,               -- every verified signature: domain:selector, separated by spaces
  disposition text NOT NULL,
  reason text NOT NULL
);
CREATE INDEX report_sources_by_name ON mailsonde.report_sources (name);
CREATE TABLE mailsonde.report_rows (
  name integer NOT NULL,
  day date NOT NULL,
  source integer NOT NULL,
  reporter integer NOT NULL,
  counts boolean NOT NULL,
  passes boolean NOT NULL,
  messages bigint NOT NULL,
  PRIMARY KEY (name, day, source, reporter, counts)
);
CREATE INDEX report_rows_by_day ON mailsonde.report_rows USING brin (day);
-- The same rows summed by day over all sources; written in the transaction that writes the rows.
CREATE TABLE mailsonde.report_days (
  name integer NOT NULL,
  day date NOT NULL,
  counts boolean NOT NULL,
  passes boolean NOT NULL,
  messages bigint NOT NULL,
  PRIMARY KEY (name, day, counts, passes)
) WITH (fillfactor = 80);

CREATE TABLE mailsonde.report_tls (
  report bigint NOT NULL REFERENCES mailsonde.reports (number) ON DELETE CASCADE,
  domain text NOT NULL,
  type text NOT NULL,
  host text,                           -- null: the totals of the policy, or a failure without a host
  failure text,                        -- null: the totals of the policy
  successful bigint,
  failed bigint
);
CREATE INDEX report_tls_by_report ON mailsonde.report_tls (report);

-- What the owner of a domain said about its senders.
CREATE TABLE mailsonde.report_words (
  domain text NOT NULL,
  sender text NOT NULL,                -- its key
  ours boolean NOT NULL,
  note text NOT NULL,
  addresses text[] NOT NULL,           -- of a sender that only its addresses name; else empty
  said_by text NOT NULL,               -- id of the key, '' without keys
  said_at timestamptz NOT NULL,
  PRIMARY KEY (domain, sender)
);

-- Where reading goes on in a mailbox of reports.
CREATE TABLE mailsonde.report_mailboxes (
  name text PRIMARY KEY,
  validity text NOT NULL,              -- UIDVALIDITY: another one starts anew
  uid bigint NOT NULL,
  deferred jsonb NOT NULL DEFAULT '[]' -- messages up to that UID that are read again later
);

-- Messages whose sender could not be judged, and when each came first: after a day nobody waits for the DNS any more.
CREATE TABLE mailsonde.report_waiting (
  digest text PRIMARY KEY,
  first_at timestamptz NOT NULL
);

-- Domains whose reports came by mail although nobody here asked for them, counted by name.
CREATE TABLE mailsonde.report_strangers (
  domain text PRIMARY KEY,
  reports bigint NOT NULL,
  last_at timestamptz NOT NULL
);
`

/** Sums the rows by day, where there are no sums of these yet. */
export const sumDays = (where: string): string => `
  INSERT INTO mailsonde.report_days (name, day, counts, passes, messages)
  SELECT name, day, counts, passes, sum(messages) FROM mailsonde.report_rows WHERE ${where} GROUP BY 1, 2, 3, 4`
