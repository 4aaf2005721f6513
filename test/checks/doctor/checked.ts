import { createBusinessDay } from '../../../src/booking/business-day.js';
import { type Check, type CheckedApp, type Finding, lookAtAll } from '../../../src/checks/check.js';
import { parse } from '../../config/writing.js';

export const day = createBusinessDay('2026-11-20', 'Europe/Madrid');

/** An app with these settings and these parts, and no ledger. */
export function makeApp(
  settings: object = {},
  parts: Partial<CheckedApp> = {},
  env: NodeJS.ProcessEnv = {},
): CheckedApp {
  const config = parse({ timezone: 'Europe/Madrid', ...settings }, env);
  const unused = () => {
    throw new Error('not a part of this test');
  };
  return {
    ...{ config, file: '/etc/agency/hotel-review.yaml', day, temporaryFolder: '/nowhere' },
    clock: () => Date.parse('2026-11-21T04:00:00Z'),
    locateLedger: async () => 'the ledger',
    findLedger: async () => undefined,
    ...{ archive: unused, spool: unused, keys: unused, sftp: unused, openSource: unused },
    ...{ openMailbox: async () => undefined, sourceParts: {} as CheckedApp['sourceParts'] },
    ...parts,
  };
}

/** What doctor finds with this check. */
export async function look(
  check: Check,
  app: CheckedApp = makeApp(),
  signal = new AbortController().signal,
): Promise<Finding[]> {
  const found: Finding[] = [];
  await lookAtAll([[check]], app, { signal, tell: (finding) => found.push(finding) });
  return found;
}

/** The same in one line each. */
export const lines = (findings: readonly Finding[]) =>
  findings.map(({ part, verdict, message }) => `${verdict} ${part}: ${message}`);
