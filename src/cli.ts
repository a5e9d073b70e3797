#!/usr/bin/env node
// The command `sir`: gives the process to the command line, and nothing else.

import { main } from "./cli/main.ts";
import { processIo } from "./cli/process-io.ts";

process.exitCode = await main(process.argv.slice(2), processIo());
