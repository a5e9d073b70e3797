-- Where a job's time went, summed up in the transaction that ends it: whole ms, and `parts` as JSON
-- [[cause, ms], …] in order of first appearance. Null while it lives, and for jobs that ended before this was kept.
ALTER TABLE jobs ADD COLUMN wait_ms INTEGER;
--> statement-breakpoint
ALTER TABLE jobs ADD COLUMN run_ms INTEGER;
--> statement-breakpoint
-- what took most of the wait; null: it did not wait
ALTER TABLE jobs ADD COLUMN top_cause TEXT;
--> statement-breakpoint
ALTER TABLE jobs ADD COLUMN parts TEXT;
--> statement-breakpoint
-- not to be started again before this; null: it was not sent back to the queue, or at once
ALTER TABLE attempts ADD COLUMN run_after_ms REAL;
--> statement-breakpoint
-- JSON: what more was known when the stretch began
ALTER TABLE waits ADD COLUMN detail TEXT;
--> statement-breakpoint
-- A stay that lasts is one row: how many looks came to the same, the last of them, and the race meanwhile as JSON.
ALTER TABLE decisions ADD COLUMN times INTEGER NOT NULL DEFAULT 1;
--> statement-breakpoint
-- null: there was one look
ALTER TABLE decisions ADD COLUMN last_ms REAL;
--> statement-breakpoint
ALTER TABLE decisions ADD COLUMN trail TEXT;
