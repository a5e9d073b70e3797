-- What operators paused. The open ones hold after a restart.
CREATE TABLE pauses (
  seq INTEGER PRIMARY KEY,
  scope TEXT NOT NULL CHECK (scope IN ('router', 'device', 'model')),
  -- the device or model; '' of the router
  subject TEXT NOT NULL,
  who TEXT NOT NULL,
  note TEXT,
  from_ms REAL NOT NULL,
  to_ms REAL CHECK (to_ms IS NULL OR to_ms >= from_ms)
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX pauses_open ON pauses (scope, subject) WHERE to_ms IS NULL;
