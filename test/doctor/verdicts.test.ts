import { expect, it } from 'vitest';
import { checkVerdicts } from '../../src/doctor/verdicts.js';

it('doctor warns of verdicts that nobody reads: by body without a mailbox', () => {
  expect(checkVerdicts('body', false)).toMatchObject([
    { part: 'verdicts', verdict: 'warning', advice: expect.stringContaining('setting verdicts') },
  ]);
  expect(checkVerdicts('body', true)).toEqual([]);
  expect(checkVerdicts('file', false)).toEqual([]);
});
