import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { createPostgresLedger } from '../../../src/ledger/postgres/postgres-ledger.js';
import { createSqliteLedger } from '../../../src/ledger/sqlite/sqlite-ledger.js';
import { at, done, perform } from '../../contracts/ledger/days.js';
import { usePostgres } from '../../support/use-servers.js';

const postgres = usePostgres();
/** Those that had a schema of their own. */
const versions = ['1.0'];
/** Long after the process that left it has died. */
const clock = () => at + 3_600_000;
const read = (name: string) => gunzipSync(readFileSync(new URL(`${name}.gz`, import.meta.url)));

function openSqlite(version: string): Ledger {
  const folder = mkdtempSync(join(tmpdir(), 'released-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'data', 'ledger.db');
  mkdirSync(join(folder, 'data'));
  writeFileSync(path, read(`${version}.db`));
  return createSqliteLedger({ path, clock });
}

async function openPostgres(version: string): Promise<Ledger> {
  const url = await postgres().createDatabase();
  onTestFinished(() => postgres().giveBack(url));
  // Lines with a backslash are for psql.
  await postgres().query(
    url,
    read(`${version}.sql`)
      .toString()
      .replaceAll(/^\\.*$/gm, ''),
  );
  return createPostgresLedger({ url, clock });
}

it.each(
  versions.flatMap((version) => [
    [version, 'SQLite', openSqlite] as const,
    [version, 'PostgreSQL', openPostgres] as const,
  ]),
)(
  'a ledger of %s on %s goes on in the middle of a run, and where a result is awaited',
  async (version, _, open) => {
    const ledger = await open(version);
    onTestFinished(() => ledger.close());
    const body = await ledger.runs.get('in-the-middle');
    expect(body).toMatchObject({ state: 'delivering', counts: { accepted: 10, delivered: 4 } });
    expect(await ledger.steps.reopenAbandoned(body.id)).toBe(1);
    await perform(ledger, body, 'batch 1', done, 2);
    await perform(ledger, body, 'batch 2', done);
    expect((await ledger.runs.get(body.id)).counts).toMatchObject({ delivered: 10, repeated: 4, pending: 0 });

    const file = await ledger.runs.get('awaiting');
    expect(file).toMatchObject({ state: 'awaiting-result', counts: { accepted: 6 } });
    await perform(ledger, file, 'await-result', done);
    await perform(ledger, file, 'archive', done);
    expect((await ledger.runs.get(file.id)).counts).toMatchObject({ delivered: 6, pending: 0 });
  },
);
