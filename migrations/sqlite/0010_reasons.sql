-- Lists of decisions by why they were made: a ceiling speaks seldom, and must not be looked for among all of them.
CREATE INDEX decisions_by_reason ON decisions (reason, id);
--> statement-breakpoint
-- With the kind in it, so that choosing which moves to show reads no decision.
DROP INDEX decisions_moves;
--> statement-breakpoint
CREATE INDEX decisions_moves ON decisions (at_ms, device, kind) WHERE kind NOT IN ('hold', 'idle');
