-- The longest waits of a window: ends lie by their wait within stretches of 2^20 ms (17.5 min), which the first digits of
-- an id name. `wait_ms` is set when a job ends, so a job that lives costs this index nothing.
CREATE INDEX jobs_by_wait ON jobs (substr(id, 1, 11), wait_ms, id) WHERE wait_ms IS NOT NULL;
--> statement-breakpoint
-- Of jobs that ended before their sums were kept; `parts` stays null, which says that they have none.
UPDATE jobs SET wait_ms = CAST(coalesce(queue_wait_ms, 0) AS INTEGER) WHERE status >= 2 AND wait_ms IS NULL;
--> statement-breakpoint
-- What went badly with one model is a small part of both.
CREATE INDEX jobs_unsuccessful_of_model ON jobs (model, status, id) WHERE status > 2;
