import { chmodSync } from 'node:fs';
import { expect, onTestFinished } from 'vitest';
import { main } from '../../jobs/main.js';
import type { Finding } from '../../src/examination/finding.js';
import { captureIo } from '../support/command-io.js';
import { createDayFolder, type DayFolder, day, type Settings } from '../support/day-folder.js';
import { type StandInHandler, startStandIn } from '../support/http-stand-in.js';
import { csvOf } from '../support/made-bookings.js';

export const guest = 'Canaria Zwitscherfink';
/** What the doctor must not show, besides the guest. */
export const password = 'canary-password-77aa';
export const secrets = {
  HOTEL_REVIEW_API_KEY: 'canary-key-5f0c7e3b',
  HOTEL_REVIEW_ACCOUNT_ID: 'canary-account-91d4',
};
export const fromEnvironment = {
  service: { apiKey: `\${HOTEL_REVIEW_API_KEY}`, accountId: `\${HOTEL_REVIEW_ACCOUNT_ID}` },
};

interface Wanted {
  readonly day?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal;
}

/** The doctor's text, its JSON, and the findings in that. */
export async function runDoctor(folder: DayFolder, wanted: Wanted = {}) {
  const { env = secrets, signal = new AbortController().signal } = wanted;
  const { io, stdout: output, stderr: errors } = captureIo({ env, signal });
  const words = ['doctor', wanted.day ?? day, '--json', '--config', folder.configurationFile];
  const exitCode = await main(words, io);
  const report = JSON.parse(output.text()) as { ok: boolean; findings: Finding[] };
  expect(output.lines()).toHaveLength(1);
  expect(report.ok).toBe(exitCode === 0);
  const verdictsOf = (part: string) =>
    report.findings.filter((finding) => finding.part === part).map(({ verdict }) => verdict);
  return { exitCode, text: errors.text(), written: output.text() + errors.text(), report, verdictsOf };
}

export async function prepare(settings: Settings, handler?: StandInHandler, bookings: string = csvOf(9)) {
  const standIn = await startStandIn(handler);
  onTestFinished(() => standIn.close());
  const folder = await createDayFolder({ baseUrl: standIn.baseUrl, bookings, settings });
  chmodSync(folder.configurationFile, 0o600);
  return { standIn, folder };
}

/** Nine bookings of that guest. */
export const named = csvOf(9).replaceAll(/Guest \d/g, guest);

/** Neither the guest nor a secret is among what the doctor wrote. */
export function expectSilence({ written }: { readonly written: string }): void {
  const words = [guest, ...guest.split(' '), password, ...Object.values(secrets)];
  expect(words.filter((word) => written.includes(word))).toEqual([]);
}
