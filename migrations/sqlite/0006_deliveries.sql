-- Events that are still to be delivered to webhooks: one row for each endpoint, written with what it tells.
CREATE TABLE deliveries (
  seq INTEGER PRIMARY KEY,
  endpoint TEXT NOT NULL,
  event TEXT NOT NULL,
  type TEXT NOT NULL,
  subject TEXT NOT NULL,
  created_wall_ms INTEGER NOT NULL,
  created_ms REAL NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  due_ms REAL NOT NULL,
  UNIQUE (endpoint, event)
) STRICT;
--> statement-breakpoint
CREATE INDEX deliveries_due ON deliveries (endpoint, due_ms, seq);
--> statement-breakpoint
CREATE INDEX deliveries_by_time ON deliveries (created_ms);
