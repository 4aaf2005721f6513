import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ExportEvent } from '../../../src/mappings/events.js';
import { fetchExport, requestExport } from '../../../src/mappings/export/fetch-export.js';
import { ExportFileError } from '../../../src/mappings/export/inspect-file.js';
import { createDirectoryArchive } from '../../../src/storage/archive.js';
import { createDirectorySpool } from '../../../src/storage/spool.js';
import { SftpError } from '../../../src/transports/sftp/sftp.js';
import { createOutside, type Outside } from '../../crash/outside.js';
import { createSftpDouble, type SftpDouble } from '../../crash/sftp-double.js';
import { type OpenedSqliteLedger, openSqliteLedger } from '../../ledger/opened-ledger.js';
import { type ExportContents, mappingColumns, smallExport } from './small-export.js';

const start = Date.UTC(2026, 10, 22, 2, 0);
const minute = 60_000;
const never = new AbortController().signal;

let root: string;
let opened: OpenedSqliteLedger;
let outside: Outside;
let server: SftpDouble;
let events: ExportEvent[];
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'fetch-export-'));
  opened = await openSqliteLedger();
  outside = createOutside(start);
  server = createSftpDouble(outside);
  events = [];
});
afterEach(async () => {
  await opened.cleanUp();
  rmSync(root, { recursive: true });
});

function fetch({ since, waits = 0, masterIdNames = ['ServiceId'], signal = never }: Wanted = {}) {
  const parts = {
    sftp: server,
    archive: createDirectoryArchive({ root: join(root, 'archive'), account: 'a' }),
    spool: createDirectorySpool({ root: join(root, 'spool') }),
    log: opened.ledger.exports,
    settings: { folder: 'out', pollMs: 1_000, quietMs: 5_000, masterIdNames },
    backOff: (failures: number) => (failures < 3 ? failures * 10 : undefined),
    pause: async (milliseconds: number) => outside.reach(outside.clock() + milliseconds),
    clock: outside.clock,
    notify: (event: ExportEvent) => void events.push(event),
  };
  return fetchExport({ since, timeoutMs: waits * minute }, parts, signal);
}

interface Wanted {
  readonly since?: number;
  /** Minutes. */
  readonly waits?: number;
  readonly masterIdNames?: readonly string[];
  readonly signal?: AbortSignal;
}

/** The service's clock is as far ahead as said. */
const request = (providers: readonly string[], aheadMs = 0) => {
  const exportMappingsFile = async () => {
    // It answers after two seconds.
    outside.reach(outside.clock() + 2_000);
    return { Status: true, answeredAt: new Date(outside.clock() + aheadMs) } as never;
  };
  const parts = { service: { exportMappingsFile }, log: opened.ledger.exports, clock: outside.clock };
  return requestExport({ emailId: 'ops@example.com', providers }, parts, never);
};

function put(id: string, contents: Partial<ExportContents> = smallExport, at = outside.clock()): void {
  for (const [kind, content] of Object.entries(contents))
    server.put(`out/acme_${kind}_${id}.csv`, content, at);
}

const found = async (wanted?: Wanted) => {
  const result = await fetch(wanted);
  return result.kind === 'absent' ? result.kind : `${result.kind} ${result.fetched.id}`;
};

describe('fetching an export', () => {
  it('waits for the requested one, archives its files as they are, and records rows and checksums', async () => {
    // Left by a fetch of another export.
    mkdirSync(join(root, 'spool'));
    writeFileSync(join(root, 'spool/acme_hotels_other.csv'), '');
    put('old', smallExport, start - 60 * minute);
    await request(['Bedlink']);
    put('new', smallExport, start + 3 * minute);
    const rows = { mappings: 2, transformed: 3, hotels: 1 };
    expect(await fetch({ waits: 10 })).toMatchObject({
      kind: 'fetched',
      fetched: {
        id: 'new',
        providers: ['Bedlink'],
        files: Object.entries(smallExport).map(([kind, content]) => ({
          kind,
          rows: rows[kind as keyof typeof rows],
          bytes: Buffer.byteLength(content),
          sha256: createHash('sha256').update(content).digest('hex'),
        })),
      },
    });
    for (const [kind, content] of Object.entries(smallExport))
      expect(readFileSync(join(root, `archive/exports/new/acme_${kind}_new.csv`), 'utf8')).toBe(content);
    expect(readdirSync(join(root, 'spool'))).toEqual([]);
    expect(await opened.ledger.exports.latestFetched()).toMatchObject({ id: 'new' });
  });

  it('finds the newest complete one where none was requested, and says when it has been fetched', async () => {
    expect(await found()).toBe('absent');
    put('older', smallExport, start - 2 * minute);
    put('newer', smallExport, start - minute);
    put('half', { mappings: smallExport.mappings, hotels: smallExport.hotels });
    expect(await found()).toBe('fetched newer');
    expect(await found({ waits: 10 })).toBe('known newer');
    put('newest');
    expect(await found()).toBe('fetched newest');
  });

  it('takes none from before the request, by the clock of the service, nor from before an instant that is given', async () => {
    await request(['Bedlink'], -30 * minute);
    put('older', smallExport, start - 32 * minute);
    expect(await found()).toBe('absent');
    expect(await found({ since: start - 31 * minute })).toBe('absent');
    expect(await found({ since: start - 32 * minute })).toBe('fetched older');
    expect(await opened.ledger.exports.latestFetched()).toMatchObject({ providers: [] });
    // The server's clock is a few seconds behind that of the service.
    put('its', smallExport, start - 30 * minute - 5_000);
    expect(await found()).toBe('fetched its');
    // What was fetched before a request cannot be its answer.
    outside.reach(outside.clock() + 1_000);
    await request([], -31 * minute);
    expect(await found()).toBe('absent');
  });

  it('waits while files grow, and longer for one that ends in the middle of a line', async () => {
    const mappings = `${mappingColumns}\n1,H-1,Bedlink,2026-11-20,,L`;
    put('new', { ...smallExport, mappings: mappings.slice(0, -30) });
    put('new', { mappings }, start + 4_000);
    expect(await fetch({ waits: 10 })).toMatchObject({
      files: [{ bytes: mappings.length, endsInMidLine: true }, { endsInMidLine: false }, {}],
    });
    expect(outside.clock()).toBeGreaterThanOrEqual(start + 54_000);
  });

  it('downloads a file again that was replaced meanwhile', async () => {
    put('new');
    const mappings = `${mappingColumns}\n`;
    const session = await server.connect({ signal: never });
    let isReplaced = false;
    const download: typeof session.download = async (path, ...others) => {
      if (!isReplaced) server.replace(path, mappings, outside.clock());
      isReplaced = true;
      return session.download(path, ...others);
    };
    server = { ...server, connect: async () => ({ ...session, download }) };
    expect(await fetch({ waits: 10 })).toMatchObject({ files: [{ rows: 0 }, { rows: 3 }, {}] });
  });

  it('keeps nothing of a file that was replaced by one of the same size while it was read', async () => {
    put('new', smallExport, start - minute);
    const { mappings } = smallExport;
    const other = mappings.replace(/\d/, (digit) => String((Number(digit) + 1) % 10));
    const session = await server.connect({ signal: never });
    let isReplaced = false;
    const download: typeof session.download = async (path, ...others) => {
      const read = await session.download(path, ...others);
      if (!isReplaced) server.replace(path, other, outside.clock());
      isReplaced = true;
      return read;
    };
    server = { ...server, connect: async () => ({ ...session, download }) };
    const sha256 = createHash('sha256').update(other).digest('hex');
    expect(await fetch({ waits: 10 })).toMatchObject({ files: [{ sha256 }, {}, {}] });
  });

  it('connects again after a lost connection, with delays that begin anew with progress, and not after a denial', async () => {
    put('new');
    const usual = server;
    let [calls, open] = [0, 0];
    let cause = new SftpError('retryable', 'connection-lost', 'look at x: the connection was lost');
    const connect: typeof server.connect = async (options) => {
      const session = await usual.connect(options);
      open += 1;
      const download: typeof session.download = async (path, local, how) => {
        calls += 1;
        if (calls > 5) return session.download(path, local, how);
        if (calls % 2 === 1) how.onProgress?.(1, 2);
        throw cause;
      };
      const close = async () => {
        open -= 1;
      };
      return { ...session, download, close };
    };
    server = { ...server, connect };
    expect(await found({ waits: 10 })).toBe('fetched new');
    const held = events.filter(({ type }) => type === 'held-off');
    const reason = cause.message;
    expect(held).toEqual([10, 20, 10, 20, 10].map((delayMs) => ({ type: 'held-off', reason, delayMs })));
    calls = 0;
    cause = new SftpError('denied', 'permission-denied', 'look at x: the server denies it');
    put('newer');
    await expect(fetch({ waits: 10 })).rejects.toBe(cause);
    expect([calls, open]).toEqual([1, 0]);
  });

  it('waits for a server that is away for longer than usual, as long as there is time for the export', async () => {
    const usual = server;
    let tries = 0;
    const connect: typeof server.connect = async (options) => {
      tries += 1;
      if (tries <= 20)
        throw new SftpError('retryable', 'connection-lost', 'look at x: the connection was lost');
      return usual.connect(options);
    };
    server = { ...server, connect };
    put('new');
    await expect(fetch()).rejects.toThrow('the connection was lost');
    expect(await found({ waits: 10 })).toBe('fetched new');
  });

  it('refuses a file where the archive has another one of its name', async () => {
    put('new');
    const archive = createDirectoryArchive({ root: join(root, 'archive'), account: 'a' });
    const others = [Buffer.from(`${mappingColumns}\n`)];
    await archive.store('exports', 'new', 'acme_mappings_new.csv', Readable.from(others));
    await expect(fetch({ waits: 10 })).rejects.toThrow('but the archive already holds');
  });

  it('continues with the files that are missing after it was stopped', async () => {
    put('new');
    const session = await server.connect({ signal: never });
    const stopping = new AbortController();
    const asked: string[] = [];
    const download: typeof session.download = async (path, ...others) => {
      asked.push(path);
      expect(others[1]?.resumes).toBe(true);
      if (path.includes('transformed')) stopping.abort(new Error('stopped by hand'));
      stopping.signal.throwIfAborted();
      return session.download(path, ...others);
    };
    const usual = server;
    server = { ...server, connect: async () => ({ ...session, download }) };
    await expect(fetch({ waits: 10, signal: stopping.signal })).rejects.toThrow('stopped by hand');
    server = usual;
    events = [];
    expect(await found({ waits: 10 })).toBe('fetched new');
    expect(asked.map((path) => path.split('_')[1])).toEqual(['mappings', 'transformed']);
    expect(events.flatMap((event) => (event.type === 'archived' ? [event.name] : []))).toEqual([
      'acme_transformed_new.csv',
      'acme_hotels_new.csv',
    ]);
  });

  it.each([
    ['mappings', 'the column ChannelIds', mappingColumns.replace('ChannelIds', 'channelids')],
    ['mappings', 'text', 'a\n\0\n'],
  ] as const)(
    'refuses a %s file where the specification expects %s, names it, and keeps it',
    async (kind, words, content) => {
      put('new', { ...smallExport, [kind]: content });
      const failure = await fetch({ waits: 10 }).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ExportFileError);
      expect(String(failure)).toContain(`acme_${kind}_new.csv: expected ${words}`);
      expect(readFileSync(join(root, `archive/exports/new/acme_${kind}_new.csv`), 'utf8')).toBe(content);
      expect(await opened.ledger.exports.latestFetched()).toBeUndefined();
    },
  );

  it('reports columns that the specification does not name, and takes the master id under its configured name', async () => {
    const mappings = `\uFEFF"Priority\u001b",${mappingColumns}\n`.replace('ServiceId', 'Number');
    put('new', { ...smallExport, mappings });
    expect(await fetch({ waits: 10, masterIdNames: ['Number', 'ServiceId'] })).toMatchObject({
      files: [{ extraColumns: ['Priority\uFFFD'] }, { extraColumns: [] }, {}],
    });
  });
});

it('a request is recorded with its time and providers, not with its recipient, and not where it is refused', async () => {
  await request(['Bedlink', 'Room & Co'], 5 * minute);
  const recorded = await opened.ledger.exports.latestRequest();
  const providers = ['Bedlink', 'Room & Co'];
  expect(recorded).toEqual({ requestedAt: start, serviceTime: start + 5 * minute, providers });
  const exportMappingsFile = () => Promise.reject(new Error('refused'));
  const parts = { service: { exportMappingsFile }, log: opened.ledger.exports, clock: outside.clock };
  await expect(requestExport({ emailId: 'a@b.example', providers: [] }, parts, never)).rejects.toThrow();
  expect(await opened.ledger.exports.latestRequest()).toEqual(recorded);
});
