import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { noReference } from '../../src/booking/booking.js';
import { LedgerAwayError, LedgerFullError, LedgerUnusableError } from '../../src/ledger/errors.js';
import { createPostgresLedger, findPostgresLedger } from '../../src/ledger/postgres/postgres-ledger.js';
import {
  at,
  batchOf,
  chunkOf,
  claimStep,
  collectedRun,
  done,
  newRun,
  openNames,
  record,
  references,
  rightOf,
  startCollect,
} from '../contracts/ledger/days.js';
import { mountSmallDisk, smallDiskNeeds } from '../support/machine.js';
import { patienceMs } from '../support/patience.js';
import { password, startPostgres } from '../support/postgres.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { usePostgres } from '../support/use-servers.js';
import { type OpenedPostgresLedger, openNewPostgresLedger } from './opened-postgres.js';

/** Everything about an error that could be printed. */
function allOf(error: unknown): string {
  return `${inspect(error, { depth: 20, showHidden: true, getters: true })} ${String(error)}`;
}

describe('the PostgreSQL ledger in trouble', () => {
  const postgres = usePostgres({ fsync: true });
  let opened: OpenedPostgresLedger;
  beforeEach(async () => {
    opened = await openNewPostgresLedger(postgres());
  });
  afterEach(async () => {
    await opened.cleanUp();
  });

  /** The error that the work fails with. */
  async function faultOf(work: Promise<unknown>): Promise<Error> {
    const fault = await work.then(
      () => undefined,
      (error) => error,
    );
    if (!(fault instanceof Error)) throw new Error('expected an error, got: none');
    return fault;
  }

  describe('when the server restarts without warning', () => {
    it('steps are claimed and recorded, each once', async () => {
      const { ledger } = opened;
      const run = await collectedRun(ledger, 'r1', { bookings: references(600) });
      let recorded = 0;
      const names = await openNames(ledger, 'r1');
      const perform = async () => {
        for (let name = names.shift(); name !== undefined; name = names.shift()) {
          await record(ledger, await claimStep(ledger, run, name), done, at);
          recorded += 1;
        }
      };
      const performing = Promise.all([perform(), perform(), perform()]);
      for (const seen of [30, 90]) {
        await vi.waitUntil(() => recorded >= seen, { interval: 1, timeout: patienceMs });
        await postgres().restartImmediate();
      }
      await performing;
      const after = await ledger.runs.get('r1');
      expect(after).toMatchObject({ openSteps: 0, counts: { delivered: 600, pending: 0, repeated: 0 } });
      expect(await ledger.runs.tally('r1')).toMatchObject({ delivered: 600, openSteps: 0, failedSteps: 0 });
      expect(await ledger.steps.listAttempts('r1', 'batch 7')).toHaveLength(1);
    });
  });

  describe('when the server is unavailable', () => {
    it('reports it with the address once patience runs out, and works again when the server is back', async () => {
      const ledger = opened.open({ patienceMs: 300 });
      const unused = opened.open({ patienceMs: 300 });
      await ledger.runs.create(newRun('r1'));
      await postgres().stop();
      try {
        const fault = await faultOf(ledger.runs.get('r1'));
        expect(fault).toBeInstanceOf(LedgerAwayError);
        expect(fault).toMatchObject({ location: opened.url.replace(/\/\/[^@/]*@/, '//') });
        await expect(ledger.ping()).rejects.toThrow(LedgerAwayError);
        await expect(unused.runs.get('r1')).rejects.toThrow(LedgerAwayError);
      } finally {
        await postgres().start();
      }
      expect((await ledger.runs.get('r1')).id).toBe('r1');
      expect((await unused.runs.get('r1')).id).toBe('r1');
      await ledger.ping();
    });

    describe('or refuses the login in the middle', () => {
      const changePassword = (to: string) =>
        opened.query(`
          ALTER ROLE worker PASSWORD '${to}';
          SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'worker'`);

      async function openAsWorker() {
        await opened.query(`
          DROP ROLE IF EXISTS worker; CREATE ROLE worker SUPERUSER LOGIN PASSWORD 'worker'`);
        let nowMs = 0;
        const refusals: string[] = [];
        const ledger = opened.open({
          url: postgres().overTcp(opened.url, { user: 'worker', password: 'worker' }),
          now: () => nowMs,
          onRefused: ({ message }) => refusals.push(message),
        });
        await ledger.runs.create(newRun('r1'));
        await changePassword('changed');
        return { ledger, refusals, passMinutes: (minutes: number) => (nowMs += minutes * 60_000) };
      }

      it('goes on when it is right again, and has said once why it waited', async () => {
        const { ledger, refusals, passMinutes } = await openAsWorker();
        const reading = ledger.runs.get('r1');
        await vi.waitUntil(() => refusals.length > 0, { timeout: patienceMs });
        await expect(ledger.ping()).rejects.toMatchObject({ name: 'LedgerAwayError', fault: 'refused' });
        passMinutes(4);
        await changePassword('worker');
        expect((await reading).id).toBe('r1');
        expect(refusals).toEqual([expect.stringContaining('refused the user or the password')]);
      });
    });

    it('says so where the server has no connection left', async () => {
      await opened.query(
        "DROP ROLE IF EXISTS crowd; CREATE ROLE crowd LOGIN PASSWORD 'crowd' CONNECTION LIMIT 0",
      );
      const refusals: string[] = [];
      const ledger = opened.open({
        url: postgres().overTcp(opened.url, { user: 'crowd', password: 'crowd' }),
        patienceMs: 300,
        onRefused: ({ message }) => refusals.push(message),
      });
      await expect(ledger.runs.list({ limit: 1 })).rejects.toThrow(LedgerAwayError);
      expect(refusals).toEqual([expect.stringContaining('no connection left')]);
    });

    it('a server that can be reached but never answers fails the ping, which is not repeated', async () => {
      const proxy = await startTcpProxy(postgres().port);
      const url = postgres().overTcp(opened.url, { port: proxy.port });
      // Every other request would be repeated for an hour.
      const ledger = opened.open({ url, patienceMs: 3_600_000 });
      await ledger.ping();
      proxy.blackHole();
      await expect(ledger.ping()).rejects.toThrow(LedgerAwayError);
      expect(proxy.happened.swallowedChunks).toBeGreaterThan(0);
      await proxy.stop();
    });
  });

  describe('its error messages', () => {
    it('never contain a guest’s name, whatever is refused', async () => {
      const { ledger } = opened;
      const run = await collectedRun(ledger, 'r1');
      const claim = await claimStep(ledger, run, 'batch 0');
      await opened.query(`
        ALTER TABLE hotel_review.attempts ADD CONSTRAINT no_guests CHECK (answer NOT LIKE '%Ana Gil%');
        ALTER TABLE hotel_review.rejects ADD CONSTRAINT no_names CHECK (held NOT LIKE '%Ana Gil%')`);
      const answer = 'The guest Ana Gil is unknown';
      const faults = [
        await faultOf(record(ledger, claim, { kind: 'done', evidence: { code: 'ok', answer } }, at)),
        await faultOf(ledger.runs.create(newRun('r2', { reason: 'Ana Gil' }))),
      ];
      await ledger.runs.settle(rightOf(run), { state: 'failed', at });
      const collect = await startCollect(ledger, await ledger.runs.create(newRun('r3')));
      const rejects = [{ place: 1, reason: 'wrong-cell-count', value: 'Ana Gil' } as const];
      faults.push(await faultOf(collect.store(chunkOf({ rejects }))));
      faults.push(
        await faultOf(collect.store(chunkOf({ batches: [batchOf(0, ['a']), batchOf(0, ['Ana Gil'])] }))),
      );
      expect(faults.map(({ message }) => message.split(': ').at(-1))).toEqual([
        'SQLSTATE 23514, no_guests',
        'SQLSTATE 23505, one_active_run_per_day',
        'SQLSTATE 23514, no_names',
        'SQLSTATE 23505, batches_pkey',
      ]);
      for (const fault of faults) expect(allOf(fault)).not.toMatch(/Ana|Gil/);
    });

    it('never contain the password', async () => {
      const url = postgres().overTcp(opened.url);
      const right = opened.open({ url });
      await right.runs.create(newRun('r1'));
      const wrong = opened.open({ url: postgres().overTcp(opened.url, { password: 'wr0ng-secret' }) });
      const nowhere = opened.open({
        url: postgres().overTcp(opened.url.replace(/day_\d+$/, 'nowhere')),
        patienceMs: 0,
      });
      const away = opened.open({ url: postgres().overTcp(opened.url, { port: 1 }), patienceMs: 0 });
      const faults = [
        await faultOf(right.runs.create(newRun('r1'))),
        await faultOf(wrong.runs.list({ limit: 1 })),
        await faultOf(nowhere.runs.list({ limit: 1 })),
        await faultOf(away.runs.list({ limit: 1 })),
        await faultOf(away.ping()),
      ];
      for (const secretless of [...faults, right, wrong]) {
        expect(allOf(secretless)).not.toContain(password);
        expect(allOf(secretless)).not.toContain('wr0ng-secret');
      }
    });

    it.each([['postgres://hotel:s3cret@[broken/x'], ['postgres://hotel:s3cret@host:notaport/x'], ['s3cret']])(
      'do not quote an address that cannot be parsed (%#)',
      (url) => {
        const open = () => createPostgresLedger({ url, clock: () => at });
        expect(open).toThrow(LedgerUnusableError);
        try {
          open();
        } catch (error) {
          expect(allOf(error)).not.toContain('s3cret');
        }
      },
    );
  });

  describe('what a person has to fix', () => {
    it('is reported at once: a schema of a newer version, or of another program', async () => {
      await opened.ledger.runs.create(newRun('r1'));
      await opened.query('INSERT INTO hotel_review.schema_versions VALUES (99, now())');
      for (const read of [() => opened.open().runs.get('r1'), () => opened.find()]) {
        await expect(read()).rejects.toThrow(/got: schema 99; install/);
      }
      await opened.query(
        'DROP SCHEMA hotel_review CASCADE; CREATE SCHEMA hotel_review; CREATE TABLE hotel_review.runs (x int)',
      );
      for (const read of [() => opened.open().runs.get('r1'), () => opened.find()]) {
        const fault = await faultOf(read());
        expect(fault).toBeInstanceOf(LedgerUnusableError);
        expect(fault.message).toContain('of another program');
      }
    });

    it.skipIf(smallDiskNeeds !== undefined)('is reported as such: a full disk', async () => {
      // A separate server: the data on the small disk is lost afterwards.
      const server = await startPostgres();
      onTestFinished(() => server.remove());
      const { ledger, query } = await openNewPostgresLedger(server);
      onTestFinished(() => ledger.close());
      const collect = await startCollect(ledger, await ledger.runs.create(newRun('r1')));
      const folder = server.makeFolder('small');
      mountSmallDisk(folder, 600, server.uid);
      await query(`CREATE TABLESPACE small LOCATION '${folder}'`);
      await query('ALTER TABLE hotel_review.batches SET TABLESPACE small');
      const noise = Buffer.from(`${randomBytes(1_000_000).toString('base64')}\n`);
      const chunk = chunkOf({
        batches: [{ stream: 'posted', number: 0, lines: noise, referenceHashes: [noReference] }],
      });
      await expect(collect.store(chunk)).rejects.toThrow(LedgerFullError);
      expect((await ledger.runs.get('r1')).counts.read).toBe(0);
    });
  });

  describe('a ledger for reading', () => {
    it('records who looked, unless its user or its server is read-only: then it says so at once', async () => {
      await opened.ledger.runs.create(newRun('r1'));
      await opened.query(`
        DROP ROLE IF EXISTS support; CREATE ROLE support LOGIN PASSWORD 'support'; GRANT USAGE ON SCHEMA hotel_review TO support;
        GRANT SELECT ON ALL TABLES IN SCHEMA hotel_review TO support`);
      const url = postgres().overTcp(opened.url, { user: 'support', password: 'support' });
      const find = async () => {
        const reader = await findPostgresLedger({ url });
        onTestFinished(() => reader?.close());
        return reader;
      };
      const action = { at, who: 'ana', action: 'show' } as const;
      expect(await (await find())?.runs.get('r1')).toMatchObject({ id: 'r1' });
      await expect((await find())?.audit.record(action)).rejects.toThrow(
        /GRANT INSERT ON hotel_review.audit_trail/,
      );
      await opened.query('GRANT INSERT ON hotel_review.audit_trail TO support');
      await (await find())?.audit.record(action);
      expect(await opened.ledger.audit.nextActions({})).toMatchObject({ actions: [{ who: 'ana' }] });
      await opened.query('ALTER ROLE support SET default_transaction_read_only = on');
      await expect((await find())?.audit.record(action)).rejects.toThrow(
        /its PostgreSQL is a standby or read-only/,
      );
    });
  });
});
