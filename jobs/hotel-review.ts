#!/usr/bin/env node
import { main } from './main.js';
import { runAsProcess } from './process.js';

await runAsProcess((io) => main(process.argv.slice(2), io));
