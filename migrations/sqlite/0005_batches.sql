-- A batch is many jobs under one deadline. Its lines are indexed once, where they lie in its input file; only a window of
-- them is queued as jobs at a time.
CREATE TABLE batches (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  caller TEXT NOT NULL,
  endpoint TEXT NOT NULL,
  input_file TEXT NOT NULL,
  input_location TEXT NOT NULL,
  completion_window TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN
    ('validating', 'failed', 'in_progress', 'finalizing', 'completed', 'expired', 'cancelling', 'cancelled')),
  metadata TEXT NOT NULL,
  output_ttl_ms REAL,
  created_ms REAL NOT NULL,
  deadline_ms REAL NOT NULL,
  -- router time at which it became final
  ended_ms REAL,
  -- the wall clock at each change of status, as JSON by status
  walls TEXT NOT NULL,
  -- what validation found, as JSON
  errors TEXT,
  total INTEGER NOT NULL DEFAULT 0,
  completed INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  output_file TEXT,
  error_file TEXT,
  -- its lines and its jobs' answers are removed
  swept INTEGER NOT NULL DEFAULT 0 CHECK (swept IN (0, 1)),
  CHECK ((ended_ms IS NOT NULL) = (status IN ('failed', 'completed', 'expired', 'cancelled')))
) STRICT;
--> statement-breakpoint
CREATE INDEX batches_by_caller ON batches (caller, id);
--> statement-breakpoint
CREATE INDEX batches_open ON batches (input_file) WHERE ended_ms IS NULL;
--> statement-breakpoint
CREATE INDEX batches_unswept ON batches (seq) WHERE ended_ms IS NOT NULL AND swept = 0;
--> statement-breakpoint
CREATE INDEX batches_ended ON batches (ended_ms) WHERE ended_ms IS NOT NULL;
--> statement-breakpoint
CREATE TABLE batch_lines (
  batch INTEGER NOT NULL,
  line INTEGER NOT NULL,
  model TEXT NOT NULL,
  custom_id TEXT NOT NULL,
  -- where its body lies in the input file, and the model's name in the body
  body_start INTEGER NOT NULL,
  body_size INTEGER NOT NULL,
  span_start INTEGER NOT NULL,
  span_end INTEGER NOT NULL,
  sha256 BLOB NOT NULL,
  -- null: it waits to be queued
  job INTEGER,
  PRIMARY KEY (batch, line)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX batch_lines_waiting ON batch_lines (batch, model, line) WHERE job IS NULL;
--> statement-breakpoint
-- The batch a job is a line of; null for every other job.
ALTER TABLE jobs ADD COLUMN batch INTEGER;
--> statement-breakpoint
CREATE INDEX jobs_of_batch ON jobs (batch) WHERE batch IS NOT NULL AND status < 2;
