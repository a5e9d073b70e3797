-- What a router has learned and no row tells: spreads of estimates, how long jobs run, memory that loads took, budgets. One
-- note for each model, device and kind of estimate, in place of what was noted before; as JSON, read by who wrote it.
CREATE TABLE learned (
  key TEXT PRIMARY KEY,
  at_ms REAL NOT NULL,
  note TEXT NOT NULL CHECK (json_valid(note))
) STRICT, WITHOUT ROWID;
