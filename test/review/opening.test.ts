import { describe, expect, it } from 'vitest';
import { type DayRequest, decideOpening } from '../../src/review/opening.js';
import type { RunState } from '../../src/review/run.js';
import { someRun } from './some-run.js';

const unfinished: readonly RunState[] = ['collecting', 'delivering', 'awaiting-result', 'failed'];
const deliveries = [undefined, 'body', 'file'] as const;
const reasons = [undefined, 'a new export came'] as const;

describe('of a day', () => {
  it.each(allRequests())('that has no run yet, %s makes one', (_, request) => {
    expect(decideOpening(undefined, request)).toEqual({ kind: 'new' });
  });

  it.each(allRequests())('whose latest run was cancelled, %s makes a new one', (_, request) => {
    expect(decideOpening(someRun({ state: 'cancelled' }), request)).toEqual({ kind: 'new' });
  });

  it.each(allRequests('run'))('that is done, %s does nothing', (_, request) => {
    const latest = someRun({ state: 'succeeded' });
    expect(decideOpening(latest, request)).toEqual({ kind: 'already-done', run: latest });
  });

  it.each(allRequests('replay'))('that is done, %s makes a new run and leaves the old one', (_, request) => {
    expect(decideOpening(someRun({ state: 'succeeded' }), request)).toEqual({ kind: 'new' });
  });

  describe.each(unfinished)('whose latest run is %s', (state) => {
    const latest = someRun({ state, delivery: 'body' });

    it.each(allRequests('run').filter(([, { delivery }]) => delivery !== 'file'))(
      '%s goes on with it',
      (_, request) => {
        expect(decideOpening(latest, request)).toEqual({ kind: 'resume', run: latest });
      },
    );

    it.each(allRequests('run').filter(([, { delivery }]) => delivery === 'file'))(
      '%s is refused, and told how to go on',
      (_, request) => {
        expect(decideOpening(latest, request)).toEqual({
          kind: 'usage-error',
          message:
            'run 20261120-k3f9xq7d of 2026-11-20 is unfinished and delivers by body, not by file: leave --delivery out ' +
            'to go on, or `replay 2026-11-20 --delivery file --reason TEXT` to start anew',
        });
      },
    );

    it.each(allRequests('replay').filter(([, { reason }]) => reason !== undefined))(
      '%s gives it up for a new run',
      (_, request) => {
        expect(decideOpening(latest, request)).toEqual({ kind: 'new', replaces: latest.id });
      },
    );

    it.each(allRequests('replay').filter(([, { reason }]) => reason === undefined))(
      '%s is refused for want of a reason',
      (_, request) => {
        expect(decideOpening(latest, request)).toEqual({
          kind: 'usage-error',
          message:
            `run 20261120-k3f9xq7d of 2026-11-20 is unfinished (${state}): \`run --day 2026-11-20\` goes on with it; ` +
            'to give it up and start anew, say why with --reason TEXT',
        });
      },
    );
  });
});

function allRequests(only?: DayRequest['mode']): [string, DayRequest][] {
  return (['run', 'replay'] as const)
    .filter((mode) => only === undefined || mode === only)
    .flatMap((mode) =>
      deliveries.flatMap((delivery) =>
        reasons.map((reason): [string, DayRequest] => [
          `${mode}${delivery ? ` --delivery ${delivery}` : ''}${reason ? ' --reason TEXT' : ''}`,
          { mode, delivery, reason },
        ]),
      ),
    );
}
