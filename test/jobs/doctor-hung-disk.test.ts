import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Finding, parts } from '../../src/doctor/finding.js';
import { day, type Settings } from '../support/day-folder.js';
import { refusal } from '../support/http-stand-in.js';
import { hungDiskNeeds, mountHungDisk } from '../support/hung-disk.js';
import { csvOf } from '../support/made-bookings.js';
import { prepareDay } from '../support/prepared-day.js';

const needs = hungDiskNeeds === undefined ? '' : ` (${hungDiskNeeds})`;

/** Starts the doctor with settings that lead to a disk that hangs, in the folder `hung`. */
async function startDoctor(settings: Settings) {
  const { folder } = await prepareDay({ bookings: csvOf(9), settings }, () => refusal(2021));
  const hung = join(folder.path, 'hung');
  mkdirSync(hung);
  await mountHungDisk(hung);
  return folder.start(['doctor', '--day', day, '--json']);
}

describe.skipIf(hungDiskNeeds !== undefined)(`on a disk that hangs${needs}, the doctor ends`, () => {
  // Each check that needs the disk takes its time: 40 seconds together.
  it('and has looked at everything and told all of it, though no exit code can be given', async () => {
    const doctor = await startDoctor({ ledger: 'sqlite:hung/ledger.db' });
    const ended = await doctor.ended;
    expect([ended.exitCode, ended.signal]).toEqual([null, 'SIGKILL']);
    const { ok, findings } = ended.json as { readonly ok: boolean; readonly findings: readonly Finding[] };
    expect(ok).toBe(false);
    expect([...new Set(findings.map(({ part }) => part))]).toEqual(parts);
    const wrong = findings.filter(({ verdict }) => verdict === 'wrong').map(({ part }) => part);
    expect(wrong).toEqual(['file-modes', 'ledger', 'disk']);
    expect(ended.stderr).toContain('a file system does not answer');
  }, 120_000);

  it('when it is asked to stop', async () => {
    const doctor = await startDoctor({ source: { path: 'hung/bookings-{day}.csv' } });
    await doctor.wrote(' clock ');
    doctor.kill('SIGTERM');
    const ended = await doctor.ended;
    expect(ended.signal).toBe('SIGKILL');
    expect(ended.json).toEqual({ error: { class: 'stopped', message: 'stopped by SIGTERM' } });
  });
});
