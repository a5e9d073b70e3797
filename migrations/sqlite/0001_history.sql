-- What traffic was, without what it said: one row for each job whose own row has gone, so that past days can be run
-- again under other settings. Filled by the pruner, in the transaction that removes the job.
CREATE TABLE past_jobs (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  model TEXT NOT NULL,
  priority INTEGER NOT NULL,
  -- as in jobs
  status INTEGER NOT NULL,
  -- why it was cancelled, or the code it failed with
  reason TEXT,
  accepted_ms REAL NOT NULL,
  deadline_ms REAL,
  finished_ms REAL,
  -- JSON: for each attempt its start, its end, its outcome and its instance
  runs TEXT NOT NULL
) STRICT;
--> statement-breakpoint
-- The configuration that decided, each time it changed: models, devices and the scheduler's section, nothing secret.
CREATE TABLE setups (
  seq INTEGER PRIMARY KEY,
  at_ms REAL NOT NULL,
  detail TEXT NOT NULL
) STRICT;
--> statement-breakpoint
-- What a second policy would have done where it would have done something else.
CREATE TABLE shadows (
  seq INTEGER PRIMARY KEY,
  at_ms REAL NOT NULL,
  detail TEXT NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX shadows_by_time ON shadows (at_ms);
--> statement-breakpoint
-- The life of settings that were tuned; the newest row is what holds.
CREATE TABLE tunings (
  seq INTEGER PRIMARY KEY,
  at_ms REAL NOT NULL,
  detail TEXT NOT NULL
) STRICT;
