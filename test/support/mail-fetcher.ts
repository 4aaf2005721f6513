import type { ChildProcess } from 'node:child_process';
import { fetcherLimits } from '../../src/cases/mails/imap-mailbox.js';
import { startLimited } from '../../src/cases/mails/limited-process.js';

const entry = new URL('../../dist/jobs/processes/mail-fetcher.js', import.meta.url);

/** The built process that talks to the mail server. It trusts whom this process says at that moment. */
export function startBuiltFetcher(): ChildProcess {
  const { NODE_EXTRA_CA_CERTS } = process.env;
  return startLimited(entry, fetcherLimits, { NODE_EXTRA_CA_CERTS });
}
