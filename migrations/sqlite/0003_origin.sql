-- Who waits: 0 whoever polls its receipt, 1 a synchronous caller's socket, 2 nobody (a background response).
ALTER TABLE jobs ADD COLUMN origin INTEGER NOT NULL DEFAULT 0 CHECK (origin BETWEEN 0 AND 2);
--> statement-breakpoint
-- By what a repetition of a kept synchronous request is recognised.
ALTER TABLE jobs ADD COLUMN repeat BLOB;
--> statement-breakpoint
CREATE INDEX jobs_by_repeat ON jobs (caller, repeat, id) WHERE repeat IS NOT NULL;
