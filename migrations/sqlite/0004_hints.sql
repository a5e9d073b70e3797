-- What callers say of the future. Wall clock, because that is what they mean; small by its bounds.
CREATE TABLE hints (
  id TEXT PRIMARY KEY,
  caller TEXT NOT NULL,
  model TEXT NOT NULL,
  created_wall_ms REAL NOT NULL,
  -- the next time it is about
  at_wall_ms REAL NOT NULL,
  until_wall_ms REAL,
  repeat TEXT CHECK (repeat IS NULL OR repeat = 'daily'),
  jobs INTEGER CHECK (jobs IS NULL OR jobs > 0),
  priority INTEGER NOT NULL,
  -- how its last time ended
  last TEXT CHECK (last IS NULL OR last IN ('met', 'missed'))
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- When a model's work began after a pause, router time: what its rhythm is learned from. The last 64 of each model.
CREATE TABLE sessions (
  model TEXT NOT NULL,
  started_ms REAL NOT NULL,
  weight REAL NOT NULL,
  PRIMARY KEY (model, started_ms)
) STRICT, WITHOUT ROWID;
