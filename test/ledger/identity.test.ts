import { expect, it } from 'vitest';
import { decideFit, isToBeMarked, type LedgerFit, renderMark } from '../../src/ledger/identity.js';

const ledger = { ledger: 'a', changes: 5 };
const latestRun = { id: '20261120-k3f9xq7d', day: '2026-11-20', endedAt: '2026-11-21T01:00:00.000Z' };
const markOf = (id: string, changes: number) => renderMark({ ledger: id, changes, latestRun });

it.each<[string, typeof ledger | undefined, string | undefined, LedgerFit, boolean]>([
  ['an archive without a mark', ledger, undefined, 'no-mark', true],
  ['neither a ledger nor a mark', undefined, undefined, 'no-mark', false],
  ['the ledger as it was marked', ledger, markOf('a', 5), 'fits', true],
  ['a ledger that went on since', ledger, markOf('a', 4), 'fits', true],
  ['an older copy of the ledger', ledger, markOf('a', 6), 'older-ledger', false],
  ['another ledger, which knows more', ledger, markOf('b', 1), 'unknown-ledger', false],
  ['another ledger, which knows less', ledger, markOf('b', 9), 'unknown-ledger', false],
  ['a mark without its ledger', undefined, markOf('a', 5), 'unknown-ledger', false],
  ['a mark that is cut off', ledger, markOf('a', 5).slice(0, 20), 'unknown-ledger', false],
  ['an empty mark', ledger, '', 'unknown-ledger', false],
  ['a mark of another form', ledger, '{"ledger":"a","changes":"5"}', 'unknown-ledger', false],
])('%s: the fit is decided, and whether the archive is told', (_, known, mark, fit, isTold) => {
  expect(decideFit(known, mark)).toBe(fit);
  if (known) expect(isToBeMarked(known, mark)).toBe(isTold);
});

it('an archive that was told already is not told again', () => {
  expect(isToBeMarked({ ...ledger, latestRun }, markOf('a', 5))).toBe(false);
});
