#!/usr/bin/env node
import { existsSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { findHome, runAsProcess } from './process.js';

// From Node 22 on, compiled code is kept for the next start. Not in the temporary folder, where others could change it, and
// in no home that doesn't exist: Node may try for ever to create one.
const { enableCompileCache } = module as { readonly enableCompileCache?: (folder: string) => unknown };
const home = findHome();
if (home !== undefined && existsSync(home)) enableCompileCache?.(join(home, '.cache/hotel-review'));

// Loaded only now: a signal that arrives while the command is being loaded stops it cleanly, too.
await runAsProcess(async (io) => (await import('./main.js')).main(process.argv.slice(2), io));
