import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noReference } from '../../src/booking/booking.js';
import { day, newRun } from '../contracts/ledger/days.js';
import { type Child, startChild } from './child.js';
import { type OpenedSqliteLedger, openSqliteLedger } from './opened-ledger.js';

describe('the SQLite ledger among several processes', () => {
  let opened: OpenedSqliteLedger;
  const children: Child[] = [];
  beforeEach(async () => {
    opened = await openSqliteLedger();
  });
  afterEach(async () => {
    for (const child of children.splice(0)) await child.kill();
    await opened.cleanUp();
  });

  /** The script can use `open` and `read`, which open the ledger under test. */
  function start(script: string): Child {
    const child = startChild(
      `const { createSqliteLedger, createSqliteReader } = await import(built + 'sqlite-ledger.js');
       const options = { path: ${JSON.stringify(opened.path)}, clock: Date.now };
       const open = () => createSqliteLedger(options);
       const read = () => createSqliteReader(options);
       ${script}`,
    );
    children.push(child);
    return child;
  }

  describe('with other processes', () => {
    it('can be created by several processes at once', async () => {
      rmSync(dirname(opened.path), { recursive: true });
      const ids = ['a', 'b', 'c'];
      const makers = ids.map((id) =>
        start(
          `const run = ${JSON.stringify(newRun(id, { day: `day ${id}` }))};
           await open().runs.create(run); console.log('made');`,
        ),
      );
      await Promise.all(makers.map((maker) => maker.printed('made')));
      const runs = await (await opened.reopen()).runs.list({ limit: 9 });
      expect(runs.map(({ id }) => id).sort()).toEqual(ids);
    });

    it('loses no commit when this process has opened it twice and another opens and closes it', async () => {
      const second = await opened.reopen();
      await second.runs.create(newRun('r1'));
      const visit = async () => {
        // Garbage-collects the statements that the driver left open, so that the close takes effect.
        const visitor = start(
          `const { setFlagsFromString } = await import('node:v8');
           const { runInNewContext } = await import('node:vm');
           const ledger = read();
           console.log((await ledger.runs.list({ limit: 9 })).map(({ id }) => id).join());
           await ledger.close();
           setFlagsFromString('--expose-gc');
           const collectGarbage = runInNewContext('gc');
           setImmediate(() => { collectGarbage(); setImmediate(() => console.log('left')); });`,
        );
        await visitor.printed('left');
        return visitor.lines[0];
      };
      expect(await visit()).toBe('r1');
      expect(existsSync(`${opened.path}-wal`), 'the WAL that is in use stays').toBe(true);
      await second.runs.create(newRun('r2', { day: '2026-11-21' }));
      expect(await visit()).toBe('r2,r1');
    });

    it('keeps what a killed process had stored', async () => {
      const child = start(
        `const ledger = open();
         const run = await ledger.runs.create(${JSON.stringify(newRun('r1'))});
         const collect = await ledger.bookings.beginCollect({ runId: 'r1', token: run.token },
           { source: 'x', at: 1, batchSize: 2 });
         for (let number = 0; number < 50; number += 1) {
           await collect.store({ batches: [{ stream: 'posted', number, lines: Buffer.from('{}\\n{}\\n'),
             referenceHashes: [${noReference}, ${noReference}] }], duplicates: 1, filtered: 0, rejects: [], warnings: [] });
         }
         console.log('stored');`,
      );
      await child.printed('stored');
      await child.kill();
      const run = await opened.ledger.runs.takeOver('r1');
      expect(run).toMatchObject({
        state: 'collecting',
        counts: { read: 150, accepted: 100, duplicates: 50 },
      });
      expect((await opened.ledger.runs.tally('r1')).stored).toBe(100);
      expect((await opened.ledger.bookings.readBatch('r1', 'posted', 49)).toString()).toBe('{}\n{}\n');
      expect(opened.openRaw().get('PRAGMA integrity_check')).toEqual({ integrity_check: 'ok' });
    });
  });

  describe('the lock of a day', () => {
    const holder = `const hold = await open().holds.day('${day}'); console.log(hold ? 'held' : 'busy');`;

    it('stays held by a frozen process, and is free as soon as its holder is killed', async () => {
      const child = start(holder);
      await child.printed('held');
      expect(await opened.ledger.holds.day(day)).toBeUndefined();
      await child.freeze();
      expect(await opened.ledger.holds.day(day)).toBeUndefined();
      await child.kill();
      expect(await opened.ledger.holds.day(day)).toBeDefined();
    });

    it('passes to a new process when an operator removes its file, and the old holder is fenced', async () => {
      const child = start(
        `const ledger = open();
         const hold = await ledger.holds.day('${day}');
         const run = await ledger.runs.create(${JSON.stringify(newRun('r1'))});
         process.once('SIGUSR2', async () => {
           const late = await ledger.runs.settle({ runId: 'r1', token: run.token }, { state: 'succeeded', at: 1 })
             .catch((error) => error.name);
           console.log(late);
         });
         console.log('held');`,
      );
      await child.printed('held');
      await child.freeze();
      rmSync(join(`${opened.path}.locks`, `day-${day}.lock`));
      const hold = await opened.ledger.holds.day(day);
      expect(hold).toBeDefined();
      await opened.ledger.runs.takeOver('r1');
      child.wake('SIGUSR2');
      await child.printed('FencedError');
      expect((await opened.ledger.runs.get('r1')).state).toBe('collecting');
    });
  });
});
