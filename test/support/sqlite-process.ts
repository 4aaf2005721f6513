import { fork } from 'node:child_process';
import { openSourceParts, type SourceSettings } from '../../jobs/sources.js';
import type { SourceParts } from '../../src/sources/common/kind.js';

const program = new URL('../../dist/jobs/sqlite-query.js', import.meta.url);
const noMessages = { say: () => {}, showsModuleErrors: false };

/** What sources need, with the built program that reads SQLite files: node can't start its source. */
export function openTestParts(settings: Omit<SourceSettings, 'source'>): SourceParts {
  return { ...openSourceParts(settings, noMessages), startSqliteProcess };
}

export const startSqliteProcess: SourceParts['startSqliteProcess'] = () =>
  fork(program, { execArgv: [], serialization: 'advanced', stdio: ['pipe', 'ignore', 'ignore', 'ipc'] });
