-- Uploaded files and the files that batches give out. Bytes lie in the spool, never here.
CREATE TABLE files (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  caller TEXT NOT NULL,
  purpose TEXT NOT NULL,
  filename TEXT NOT NULL,
  size INTEGER NOT NULL,
  created_wall_ms INTEGER NOT NULL,
  created_ms REAL NOT NULL,
  -- router time; null: it is kept until it is deleted
  expires_ms REAL,
  -- gone for its owner; its bytes stay while a live batch reads them
  deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1)),
  location TEXT NOT NULL UNIQUE
) STRICT;
--> statement-breakpoint
CREATE INDEX files_by_caller ON files (caller, id) WHERE deleted = 0;
--> statement-breakpoint
CREATE INDEX files_due ON files (expires_ms) WHERE expires_ms IS NOT NULL;
--> statement-breakpoint
CREATE INDEX files_deleted ON files (seq) WHERE deleted = 1;
