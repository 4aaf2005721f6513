import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MappingRow, MappingSync } from '../../src/ledger/mappings.js';
import { newSync, pageOf } from '../contracts/mapping-copy/pages.js';
import { type Child, startChild } from './child.js';
import { type OpenedSqliteLedger, openSqliteLedger } from './opened-ledger.js';

const pageSize = 1_000;
/** Each kills at a different moment of storing; what is stored so far is checked after each. */
const kills = 4;

/** The rows of a page, the same as the child's: each page moves the mappings of the previous one. */
function rowsOf(page: number): MappingRow[] {
  return Array.from({ length: pageSize }, (_, index) => ({
    providerName: 'hotelbeds',
    providerHotelId: String(Math.floor(page / 2) * pageSize + index),
    serviceId: page * pageSize + index + 1,
    channelIds: [],
    isDeleted: false,
  }));
}

describe('the local copy of the mappings among several processes', () => {
  let opened: OpenedSqliteLedger;
  const children: Child[] = [];
  beforeEach(async () => {
    opened = await openSqliteLedger();
  });
  afterEach(async () => {
    for (const child of children.splice(0)) await child.kill();
    await opened.cleanUp();
  });

  /** The script can use `mappings`, of the ledger under test, and `rowsOf`. */
  function start(script: string): Child {
    const child = startChild(
      `const { createSqliteLedger } = await import(built + 'sqlite-ledger.js');
       const { mappings } = createSqliteLedger(
         { path: ${JSON.stringify(opened.path)}, clock: Date.now });
       const pageSize = ${pageSize};
       ${rowsOf.toString()}
       ${script}`,
    );
    children.push(child);
    return child;
  }

  async function expectWholePages({ resumeKey, counts }: MappingSync, pages: number): Promise<void> {
    expect(counts).toMatchObject({ pages, read: pages * pageSize });
    expect(resumeKey ?? '0').toBe(String(pages));
    const expected = new Map<string, number>();
    for (let page = 0; page < pages; page += 1) {
      for (const { providerHotelId, serviceId } of rowsOf(page)) expected.set(providerHotelId, serviceId);
    }
    const held = opened
      .openRaw()
      .all('SELECT provider_hotel_id AS id, service_id FROM mappings ORDER BY number');
    expect(held.map(({ id, service_id }) => [id, service_id])).toEqual([...expected]);
    const moves = opened.openRaw().get('SELECT count(*) AS count FROM mapping_moves');
    expect(moves?.count).toBe(Math.floor(pages / 2) * pageSize);
    const masters = opened.openRaw().get('SELECT count(*) AS count FROM master_hotels');
    expect(masters?.count).toBe(pages * pageSize);
  }

  it('contains only complete pages when a process that stores them is killed at any point; the next process continues there', async () => {
    const { mappings } = opened.ledger;
    await mappings.beginSync(newSync('s1'));
    for (let round = 0; round < kills; round += 1) {
      const from = (await mappings.latestSync(''))?.counts.pages ?? 0;
      // A separate thread kills the process: the main thread is busy storing pages.
      const child = start(
        `const { Worker } = await import('node:worker_threads');
         const killer = new Worker(
           "require('node:worker_threads').parentPort.once('message', (ms) => setTimeout(() => process.kill(process.pid, 'SIGKILL'), ms))",
           { eval: true, execArgv: [] },
         );
         await new Promise((resolve) => killer.once('online', resolve));
         for (let page = ${from}; ; page += 1) {
           const after = page === 0 ? {} : { after: String(page) };
           await mappings.storePage({ syncId: 's1', ...after, resumeKey: String(page + 1), rows: rowsOf(page), at: page });
           if (page === ${from}) killer.postMessage(${(round * 48) / kills});
         }`,
      );
      await expect(child.printed('anything')).rejects.toThrow();
      const sync = await mappings.latestSync('');
      if (!sync) throw new Error('expected a sync, got: none');
      expect(sync.counts.pages).toBeGreaterThan(from);
      await expectWholePages(sync, sync.counts.pages);
    }
    expect(opened.openRaw().get('PRAGMA integrity_check')).toEqual({ integrity_check: 'ok' });
  });

  it('stores a page once when two processes store it repeatedly', async () => {
    const { mappings } = opened.ledger;
    await mappings.beginSync(newSync('s1'));
    const pages = 12;
    const others = [0, 1].map(() =>
      start(
        `for (let page = 0; page < ${pages}; page += 1) {
           const after = page === 0 ? {} : { after: String(page) };
           const outcome = await mappings
             .storePage({ syncId: 's1', ...after, resumeKey: String(page + 1), rows: rowsOf(page), at: page })
             .catch((error) => error.name);
           if (typeof outcome === 'string' && outcome !== 'SyncOvertakenError') console.log(outcome);
         }
         console.log('done');`,
      ),
    );
    await Promise.all(others.map((other) => other.printed('done')));
    expect(others.map(({ lines }) => lines)).toEqual([['done'], ['done']]);
    const sync = await mappings.latestSync('');
    if (!sync) throw new Error('expected a sync, got: none');
    await expectWholePages(sync, pages);
  });

  it('frees the right to sync when its holder is killed', async () => {
    const holder = start(`const hold = await mappings.holdSync(); console.log(hold ? 'held' : 'busy');`);
    await holder.printed('held');
    expect(await opened.ledger.mappings.holdSync()).toBeUndefined();
    await holder.kill();
    expect(await opened.ledger.mappings.holdSync()).toBeDefined();
  });

  it('can be read by another process while a page is being stored', async () => {
    const { mappings } = opened.ledger;
    await mappings.beginSync(newSync('s1'));
    await mappings.storePage(pageOf('s1', rowsOf(0), { resumeKey: '1' }));
    const writer = opened.openRaw();
    writer.exec('BEGIN IMMEDIATE');
    writer.run('DELETE FROM mapping_moves');
    writer.run('DELETE FROM mappings');
    const observer = (await opened.reopen()).mappings;
    expect(await observer.lookUp(rowsOf(0).slice(0, 2))).toMatchObject([{ serviceId: 1 }, { serviceId: 2 }]);
    expect((await observer.summarise()).mappings).toBe(pageSize);
    writer.exec('ROLLBACK');
  });
});
