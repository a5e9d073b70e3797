-- Instants are router time in ms unless the column says wall. Bodies and answers lie in side tables: a large value in
-- the jobs row would be rewritten by every change of state. Nothing cascades: the pruner deletes children itself.
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- One row: the sizes of bodies and results, the count of jobs, and the highest router time that was ever stored.
-- Written once in each commit; a trigger would write it once for each job.
CREATE TABLE usage (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  stored_bytes INTEGER NOT NULL,
  jobs INTEGER NOT NULL,
  stamp_ms REAL NOT NULL
) STRICT;
--> statement-breakpoint
INSERT INTO usage (id, stored_bytes, jobs, stamp_ms) VALUES (1, 0, 0, 0);
--> statement-breakpoint
-- One row for each run of a router; the gaps between them are the downtimes.
CREATE TABLE boots (
  seq INTEGER PRIMARY KEY,
  owner TEXT NOT NULL UNIQUE,
  started_ms REAL NOT NULL,
  alive_ms REAL NOT NULL,
  clean INTEGER NOT NULL DEFAULT 0 CHECK (clean IN (0, 1))
) STRICT;
--> statement-breakpoint
CREATE TABLE jobs (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  pool TEXT NOT NULL,
  caller TEXT NOT NULL,
  model TEXT NOT NULL,
  endpoint TEXT NOT NULL,
  -- 0 queued, 1 running, 2 succeeded, 3 failed, 4 cancelled, 5 expired
  status INTEGER NOT NULL DEFAULT 0 CHECK (status BETWEEN 0 AND 5),
  priority INTEGER NOT NULL,
  rank REAL NOT NULL,
  stream INTEGER NOT NULL CHECK (stream IN (0, 1)),
  durable INTEGER NOT NULL CHECK (durable IN (0, 1)),
  created_wall_ms INTEGER NOT NULL,
  accepted_ms REAL NOT NULL,
  lease_ms REAL,
  deadline_ms REAL,
  last_poll_ms REAL NOT NULL,
  epoch INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  interruptions INTEGER NOT NULL DEFAULT 0,
  run_after_ms REAL NOT NULL DEFAULT 0,
  -- the router that accepted it
  home TEXT NOT NULL,
  -- the router that runs it
  owner TEXT,
  instance TEXT,
  started_ms REAL,
  finished_ms REAL,
  cancel_reason TEXT,
  error_code TEXT,
  error_message TEXT,
  decision TEXT,
  score REAL,
  queue_wait_ms REAL,
  reorder TEXT,
  traceparent TEXT,
  client_request_id TEXT,
  metadata TEXT NOT NULL,
  idempotency_key TEXT,
  fingerprint BLOB,
  read_ms REAL,
  purged_ms REAL,
  purge_after_ms REAL,
  -- since when its bytes may go before their time, should room be short: its answer was read, or it has none
  evictable_ms REAL,
  CHECK ((status >= 2) = (finished_ms IS NOT NULL)),
  CHECK ((status = 1) = (owner IS NOT NULL)),
  CHECK ((status = 4) = (cancel_reason IS NOT NULL)),
  CHECK ((status = 3) = (error_code IS NOT NULL)),
  CHECK ((idempotency_key IS NULL) = (fingerprint IS NULL))
) STRICT;
--> statement-breakpoint
CREATE INDEX jobs_live ON jobs (id) WHERE status < 2;
--> statement-breakpoint
CREATE INDEX jobs_running ON jobs (owner) WHERE status = 1;
--> statement-breakpoint
CREATE INDEX jobs_volatile ON jobs (home) WHERE durable = 0 AND status < 2;
--> statement-breakpoint
CREATE INDEX jobs_by_caller ON jobs (caller, id);
--> statement-breakpoint
CREATE UNIQUE INDEX jobs_by_key ON jobs (caller, idempotency_key) WHERE idempotency_key IS NOT NULL;
--> statement-breakpoint
CREATE INDEX jobs_due ON jobs (purge_after_ms) WHERE purge_after_ms IS NOT NULL AND purged_ms IS NULL;
--> statement-breakpoint
CREATE INDEX jobs_tombstones ON jobs (purged_ms) WHERE purged_ms IS NOT NULL;
--> statement-breakpoint
CREATE INDEX jobs_evictable ON jobs (evictable_ms) WHERE evictable_ms IS NOT NULL;
--> statement-breakpoint
CREATE TABLE bodies (
  job INTEGER PRIMARY KEY,
  content_type TEXT NOT NULL,
  size INTEGER NOT NULL,
  sha256 BLOB NOT NULL,
  headers TEXT NOT NULL,
  span_start INTEGER,
  span_end INTEGER,
  -- `file:` under the data directory; null: the bytes are here
  location TEXT,
  bytes BLOB,
  CHECK ((bytes IS NULL) <> (location IS NULL))
) STRICT;
--> statement-breakpoint
CREATE INDEX bodies_files ON bodies (location) WHERE location IS NOT NULL;
--> statement-breakpoint
CREATE TABLE results (
  job INTEGER PRIMARY KEY,
  epoch INTEGER NOT NULL,
  status INTEGER NOT NULL,
  headers TEXT NOT NULL,
  size INTEGER NOT NULL,
  stored_ms REAL NOT NULL,
  location TEXT,
  bytes BLOB,
  CHECK ((bytes IS NULL) <> (location IS NULL))
) STRICT;
--> statement-breakpoint
CREATE TABLE attempts (
  job INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  instance TEXT NOT NULL,
  owner TEXT NOT NULL,
  started_ms REAL NOT NULL,
  first_byte_ms REAL,
  ended_ms REAL,
  outcome TEXT,
  detail TEXT,
  PRIMARY KEY (job, epoch)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- `n` is the job's epoch, doubled, plus one for an end that leaves the epoch as it is: it only grows, so a caller may
-- keep it as a cursor.
CREATE TABLE job_events (
  job INTEGER NOT NULL,
  n INTEGER NOT NULL,
  at_ms REAL NOT NULL,
  type TEXT NOT NULL,
  PRIMARY KEY (job, n)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE decisions (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  at_ms REAL NOT NULL,
  pool TEXT NOT NULL,
  kind TEXT NOT NULL,
  reason TEXT NOT NULL,
  device TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX decisions_by_time ON decisions (at_ms);
--> statement-breakpoint
-- Which models (kind 0) and jobs (kind 1) a decision is about, so that nobody has to read all of them.
CREATE TABLE decision_subjects (
  kind INTEGER NOT NULL CHECK (kind IN (0, 1)),
  subject TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (kind, subject, id)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX decision_subjects_by_id ON decision_subjects (id);
--> statement-breakpoint
CREATE TABLE waits (
  seq INTEGER PRIMARY KEY,
  model TEXT NOT NULL,
  cause TEXT NOT NULL,
  rule TEXT,
  by_model TEXT,
  device TEXT,
  decision TEXT,
  from_ms REAL NOT NULL,
  to_ms REAL
) STRICT;
--> statement-breakpoint
CREATE INDEX waits_by_model ON waits (model, from_ms);
--> statement-breakpoint
CREATE INDEX waits_open ON waits (model) WHERE to_ms IS NULL;
--> statement-breakpoint
CREATE INDEX waits_closed ON waits (to_ms) WHERE to_ms IS NOT NULL;
--> statement-breakpoint
CREATE TABLE loads (
  seq INTEGER PRIMARY KEY,
  instance TEXT NOT NULL,
  model TEXT NOT NULL,
  device TEXT NOT NULL,
  decision TEXT,
  started_ms REAL NOT NULL,
  ended_ms REAL NOT NULL,
  outcome TEXT NOT NULL,
  -- download, cold, warm or wake; null when it did not succeed
  tier TEXT,
  detail TEXT
) STRICT;
--> statement-breakpoint
CREATE INDEX loads_by_model ON loads (model, seq);
--> statement-breakpoint
CREATE INDEX loads_by_time ON loads (ended_ms);
