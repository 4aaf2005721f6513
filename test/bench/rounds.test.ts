import { describe, expect, it } from 'vitest';
import type { Contestant } from '../../bench/comparison.js';
import { takeRounds } from '../../bench/harness/rounds.js';

/** Two sides that note their turns; a turn takes this many milliseconds of a fake clock. */
function createSides(turnMs = 1) {
  const turns: string[] = [];
  let time = 0;
  const side = (name: string, value: number): Contestant => ({
    name,
    async run() {
      turns.push(name);
      time += turnMs;
      return { value };
    },
  });
  return { turns, now: () => time, ours: side('ours', 1), other: side('other', 2) };
}

const quietly = () => {};

describe('the rounds of a comparison', () => {
  it('start with ours in odd rounds and with the other side in even ones', async () => {
    const { turns, now, ours, other } = createSides();

    await takeRounds({ ours, other }, { rounds: 3, now, onRound: quietly });

    expect(turns).toEqual(['ours', 'other', 'other', 'ours', 'ours', 'other']);
  });

  it('assign each sample to its side, whichever started', async () => {
    const { now, ours, other } = createSides();

    const taken = await takeRounds({ ours, other }, { rounds: 2, now, onRound: quietly });

    expect(taken).toEqual({ ours: [{ value: 1 }, { value: 1 }], other: [{ value: 2 }, { value: 2 }] });
  });

  it('are ours alone where there is no other side', async () => {
    const { turns, now, ours } = createSides();

    const taken = await takeRounds({ ours }, { rounds: 2, now, onRound: quietly });

    expect(turns).toEqual(['ours', 'ours']);
    expect(taken.other).toEqual([]);
  });

  it('stop before one that would end too late, except the first', async () => {
    const rounds = async (endsBy: number) => {
      const { now, ours, other } = createSides(10);
      const taken = await takeRounds({ ours, other }, { rounds: 5, endsBy, now, onRound: quietly });
      return taken.other.length;
    };

    expect([await rounds(-1), await rounds(5), await rounds(59), await rounds(60)]).toEqual([1, 1, 2, 3]);
  });

  it('fail for a turn without a measurement', async () => {
    const { now, other } = createSides();
    const ours: Contestant = { name: 'ours', run: async () => ({ value: Number.NaN }) };

    await expect(takeRounds({ ours, other }, { rounds: 1, now, onRound: quietly })).rejects.toThrow(
      'ours: measured NaN, expected a positive number',
    );
  });
});
