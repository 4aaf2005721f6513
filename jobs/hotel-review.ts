#!/usr/bin/env node
import { existsSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { findHome, runAsProcess } from './process.js';

// From Node 22 on, compiled code is cached for the next start: not in the temporary folder, where others could change it, nor
// in a home that doesn't exist, which Node may try to create forever.
const { enableCompileCache } = module as { readonly enableCompileCache?: (folder: string) => unknown };
const home = findHome();
if (home !== undefined && existsSync(home)) enableCompileCache?.(join(home, '.cache/hotel-review'));

// Loaded only now, so that a signal that arrives meanwhile stops the command cleanly, too.
await runAsProcess(async (io) => (await import('./main.js')).main(process.argv.slice(2), io));
