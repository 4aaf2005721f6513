import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.js';
import { recordAcceptedBatch } from '../../src/ledger/postgres/claims.js';
import type { Session } from '../../src/ledger/postgres/session.js';
import { createRenderer, type Sql, toRow } from '../../src/ledger/query.js';
import { patchRun } from '../../src/ledger/run-changes.js';
import { createSealing } from '../../src/ledger/sealing.js';
import { toStoredStep } from '../../src/ledger/steps.js';
import type { Run } from '../../src/rules/run.js';
import type { Claimed } from '../../src/rules/step.js';
import {
  at,
  claimStep,
  collectedRun,
  decideFor,
  done,
  type Found,
  failed,
  fatal,
  halved,
  interrupted,
  perform,
  refused,
  retry,
} from '../contracts/ledger/days.js';
import { collectedFileRun } from '../contracts/ledger/file-days.js';
import { usePostgres } from '../support/use-servers.js';
import { type OpenedPostgresLedger, openPostgresLedger } from './opened-postgres.js';

const accept = (session: Session, held: Claimed, outcome: Found, when: number) =>
  recordAcceptedBatch(session, createSealing(undefined), { held, outcome, at: when }, false);

describe('recording an accepted batch in PostgreSQL', () => {
  const postgres = usePostgres();
  let opened: OpenedPostgresLedger;
  beforeEach(async () => {
    opened = await openPostgresLedger(postgres());
  });
  afterEach(() => opened.cleanUp());

  const render = createRenderer(
    (table) => `hotel_review.${table}`,
    (number) => `$${number}`,
  );

  /** A session that counts its statements. */
  function countingSession() {
    const counted = { statements: 0 };
    const session = {
      async preparedRow(_name: string, statement: Sql) {
        counted.statements += 1;
        const { text, values } = render(statement);
        const [row] = await opened.query(text, ...values);
        return row && toRow(row);
      },
    } as Session;
    return { session, counted };
  }

  const histories: Record<string, (ledger: Ledger, run: Run) => Promise<Claimed>> = {
    'a first attempt': (ledger, run) => claimStep(ledger, run, 'batch 1'),
    'one that may repeat an earlier attempt': async (ledger, run) => {
      await perform(ledger, run, 'batch 1', retry({ outcomeUnknown: true }));
      return claimStep(ledger, run, 'batch 1', 2);
    },
    'one after a failure': async (ledger, run) => {
      await perform(ledger, run, 'batch 0', failed);
      return claimStep(ledger, run, 'batch 1');
    },
    'a half': async (ledger, run) => {
      await perform(ledger, run, 'batch 1', halved);
      return claimStep(ledger, run, 'batch 1.1');
    },
    'one in flight when the run failed': async (ledger, run) => {
      const claim = await claimStep(ledger, run, 'batch 1');
      await perform(ledger, run, 'batch 0', fatal);
      return claim;
    },
  };

  it.each(Object.keys(histories))(
    'takes one statement, which does what the state machine decides: %s',
    async (name) => {
      const { ledger } = opened;
      const claim = await histories[name]?.(ledger, await collectedRun(ledger, 'r1'));
      if (!claim) throw new Error(`expected a history, got: ${name}`);
      const run = await ledger.runs.get('r1');
      const before = (await opened.readSteps('r1')).map(toRow).map(toStoredStep);
      const step = before.find((each) => each.name === claim.step.name);
      if (!step) throw new Error('expected a step, got: none');
      const { position, repeated } = step;
      const attempted = { run, claim, outcome: done, at: at + 5, position, repeated, waiting: [] };
      const change = decideFor(done)(attempted);

      const { session, counted } = countingSession();
      const recorded = await accept(session, claim, done, at + 5);
      expect(counted.statements).toBe(1);
      const { ending, opened: follow, settled } = change;
      expect(recorded).toEqual({ run: patchRun(run, change.run), ending, opened: follow, settled });
      expect(await ledger.runs.get('r1')).toEqual(recorded?.run);
      const set = change.step;
      const after = await opened.readSteps('r1');
      expect(after.map(toRow).map(toStoredStep)).toEqual(
        before.map((each) => (each.name === claim.step.name ? { ...each, state: set.state } : each)),
      );
      const row = after.find((each) => each.name === claim.step.name);
      expect({ endedAt: Number(row?.ended_at), lastCode: row?.last_code }).toEqual({
        endedAt: set.endedAt,
        lastCode: set.lastCode,
      });
      expect(await ledger.steps.listAttempts('r1', claim.step.name)).toContainEqual(
        expect.objectContaining({ attempt: claim.attempt, outcome: 'done', endedAt: at + 5 }),
      );
    },
  );

  const others: Found[] = [refused, failed, fatal, interrupted, retry(), { ...done, nothingSent: true }];

  it.each(others)('leaves other outcomes to the transaction (%#)', async (found) => {
    const run = await collectedRun(opened.ledger, 'r1');
    const claim = await claimStep(opened.ledger, run, 'batch 0');
    const { session, counted } = countingSession();
    expect(await accept(session, claim, found, at)).toBeUndefined();
    expect(counted.statements).toBe(0);
  });

  it('changes nothing in a file run or under an outdated claim', async () => {
    const run = await collectedFileRun(opened.ledger, 'r1', { body: 6 });
    const claim = await claimStep(opened.ledger, run, 'batch 0');
    const { session } = countingSession();
    expect(await accept(session, claim, done, at)).toBeUndefined();
    const other = await collectedRun(opened.ledger, 'r2', { day: '2026-11-19' });
    const old = await claimStep(opened.ledger, other, 'batch 0');
    await opened.ledger.runs.takeOver('r2');
    const before = await opened.readSteps('r2');
    expect(await accept(session, old, done, at)).toBeUndefined();
    expect(await opened.readSteps('r2')).toEqual(before);
  });
});
