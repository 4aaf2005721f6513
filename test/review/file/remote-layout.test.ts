import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { layOutRemotely } from '../../../src/review/file/remote-layout.js';
import { createResultNameTest, defaultResultPattern } from '../../../src/review/file/result-name.js';

const day = createBusinessDay('2026-03-05', 'Europe/Madrid');
const remote = layOutRemotely(day);

describe('on the SFTP server', () => {
  it('the review file lies where the service looks for it (spec 4.3)', () => {
    expect(remote).toMatchObject({
      folder: 'VerifyMappings/032026',
      name: '05032026.csv',
      path: 'VerifyMappings/032026/05032026.csv',
    });
  });

  it('what is being uploaded has a name of its own for each run, each owner of it and each attempt', () => {
    const names = [
      remote.temporaryPath('20260305-k3f9xq7d', 1, 1),
      remote.temporaryPath('20260305-k3f9xq7d', 1, 2),
      remote.temporaryPath('20260305-k3f9xq7d', 2, 1),
      remote.temporaryPath('20260305-aaaaaaaa', 1, 1),
    ];
    expect(names[0]).toBe('VerifyMappings/032026/05032026.20260305-k3f9xq7d.1-1.part');
    expect(new Set(names).size).toBe(4);
  });

  it('what is being uploaded is taken neither for a review file nor for a result', () => {
    const name = remote.temporaryPath('20260305-k3f9xq7d', 3, 1).split('/').at(-1) ?? '';
    expect(name.endsWith('.csv')).toBe(false);
    expect(createResultNameTest(defaultResultPattern, day)(name)).toBe(false);
  });

  it.each([
    ['05032026.20260305-k3f9xq7d.1-1.part', true],
    ['05032026.20250101-other.17.part', true],
    ['05032026.csv', false],
    ['05032026_Result.csv', false],
    ['05032026_Result.part', false],
    ['06032026.20260306-k3f9xq7d.1.part', false],
    ['105032026.x.part', false],
    ['05032026.x.part.csv', false],
    ['notes.part', false],
  ])('%s is what an attempt of that day left behind: %s', (name, isLeftover) => {
    expect(remote.isLeftover(name)).toBe(isLeftover);
  });

  it('what its own attempts upload is known as left behind', () => {
    const path = remote.temporaryPath('20260305-k3f9xq7d', 12, 34);
    expect(path.startsWith(`${remote.folder}/`)).toBe(true);
    expect(remote.isLeftover(path.slice(remote.folder.length + 1))).toBe(true);
  });
});
