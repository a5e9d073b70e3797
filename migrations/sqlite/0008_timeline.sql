-- What models did on devices. Grain 0: a pause of a second between two jobs is a stretch; grain 1: of a minute.
CREATE TABLE spans (
  seq INTEGER PRIMARY KEY,
  grain INTEGER NOT NULL CHECK (grain IN (0, 1)),
  device TEXT NOT NULL,
  model TEXT NOT NULL,
  phase TEXT NOT NULL,
  from_ms REAL NOT NULL,
  to_ms REAL,
  decision TEXT
) STRICT;
--> statement-breakpoint
CREATE INDEX spans_of_lane ON spans (grain, device, model, from_ms);
--> statement-breakpoint
CREATE INDEX spans_open ON spans (grain, device, model) WHERE to_ms IS NULL;
--> statement-breakpoint
-- Which models there were on which devices: what began before a window is the last stretch of a lane.
CREATE TABLE lanes (
  device TEXT NOT NULL,
  model TEXT NOT NULL,
  PRIMARY KEY (device, model)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- What each minute was. Model '': all of them together.
CREATE TABLE minutes (
  model TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  -- 0 interactive, 1 normal, 2 batch
  band INTEGER NOT NULL CHECK (band BETWEEN 0 AND 2),
  queued_max INTEGER NOT NULL,
  started INTEGER NOT NULL,
  finished INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  wait_ms INTEGER NOT NULL,
  run_ms INTEGER NOT NULL,
  PRIMARY KEY (model, at_ms, band)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX minutes_by_time ON minutes (at_ms);
--> statement-breakpoint
-- Lists for people. No index of what every job changes: a job's model is written once, and most jobs succeed.
CREATE INDEX jobs_by_model ON jobs (model, id);
--> statement-breakpoint
CREATE INDEX jobs_unsuccessful ON jobs (status, id) WHERE status > 2;
--> statement-breakpoint
CREATE INDEX jobs_by_request ON jobs (client_request_id, id) WHERE client_request_id IS NOT NULL;
--> statement-breakpoint
CREATE INDEX decisions_moves ON decisions (at_ms, device) WHERE kind NOT IN ('hold', 'idle');
--> statement-breakpoint
CREATE INDEX decisions_by_kind ON decisions (kind, id);
--> statement-breakpoint
CREATE INDEX decisions_by_device ON decisions (device, id);
