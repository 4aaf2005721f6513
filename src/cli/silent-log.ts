import type { Log } from './log.js';

/** Where no log was asked for: the library that writes one need not be loaded. */
export const silentLog: Log = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };
