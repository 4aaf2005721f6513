#!/usr/bin/env node
import { runAsProcess } from './process.js';

// Loaded only now: a signal that arrives while the command is being loaded stops it cleanly, too.
await runAsProcess(async (io) => (await import('./main.js')).main(process.argv.slice(2), io));
