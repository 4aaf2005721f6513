import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type CheckedPlaces, expectNoLeaks } from './leaks.js';

const secret = 'a-secret-of-the-test';
const output = { args: ['run'], stdout: '', stderr: '' };

function checkWith(changes: Partial<CheckedPlaces>, files: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'hotel-review-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return () => expectNoLeaks({ folder, written: [], queue: '', tables: '', secrets: [secret], ...changes });
}

it.each(['Guest 17', 'Canaria', secret])('the check for leaks finds %s in any of its places', (leaked) => {
  const line = `{"level":30,"msg":"batch 0 of ${leaked}"}\n`;
  for (const [place, check] of [
    ['standard error of run', checkWith({ written: [{ ...output, stderr: line }] })],
    ['standard output of run', checkWith({ written: [{ ...output, stdout: line }] })],
    ['the queue', checkWith({ queue: `["bull:steps:1",{"data":"${leaked}"}]` })],
    ['the tables of the ledger', checkWith({ tables: `[{"name":"runs","row":"(1,${leaked})"}]` })],
    ['manifest.json', checkWith({}, { 'data/archive/2026-11-20/manifest.json': line })],
    ['tmp/part-1', checkWith({}, { 'tmp/part-1': line })],
    ['a file name', checkWith({}, { [`data/spool/${leaked}.csv`]: '' })],
  ] as const) {
    expect(check).toThrow(place);
    expect(check).toThrow(leaked);
  }
});

it('the check for leaks accepts names where they may be, but no secret', () => {
  const check = (text: string) => [
    checkWith({ written: [{ ...output, args: ['show', 'BR-17', '--answers'], stdout: text }] }),
    ...['ledger.db', 'spool/a.csv', 'archive/a/b.csv'].map((name) =>
      checkWith({}, { [`data/${name}`]: text }),
    ),
  ];
  for (const one of check('Guest 17')) expect(one).not.toThrow();
  for (const one of check(secret)) expect(one).toThrow(secret);
  expect(checkWith({ written: [{ ...output, args: ['run', secret] }] })).toThrow(secret);
});
