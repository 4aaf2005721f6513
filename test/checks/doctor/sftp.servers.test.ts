import { chmodSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sftp } from '../../../src/checks/doctor/sftp.js';
import { createSftpServer, type SftpServerOptions } from '../../../src/transports/sftp/server.js';
import type { SftpSession } from '../../../src/transports/sftp/sftp.js';
import { sftp as account } from '../../config/writing.js';
import { openSsh } from '../../support/sftp-programs.js';
import { findFreePort, type RunningSftpServer } from '../../support/sftp-server.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';
import { makeRemoteFolder, useSftpServer } from '../../support/use-servers.js';
import { look, makeApp } from './checked.js';

const folder = 'VerifyMappings/112026';
const stranger = `SHA256:${'A'.repeat(43)}`;

interface Wanted {
  readonly options?: Partial<SftpServerOptions>;
  readonly signal?: AbortSignal;
  /** Overrides operations of the session. */
  readonly change?: (session: SftpSession) => Partial<SftpSession>;
}

async function check({ port, root, fingerprints, login }: RunningSftpServer, wanted: Wanted = {}) {
  const { options = {}, signal, change = () => ({}) } = wanted;
  const temporaryFolder = makeTemporaryFolder();
  const at = { host: '127.0.0.1', port, root, hostKeys: fingerprints };
  const server = createSftpServer({ ...at, ...login, ...options });
  const parts = {
    temporaryFolder,
    sftp: () => ({
      async connect(how: { readonly signal: AbortSignal }) {
        const session = await server.connect(how);
        return { ...session, ...change(session) };
      },
    }),
  };
  try {
    return await look(sftp, makeApp({ file: { sftp: account } }, parts), signal);
  } finally {
    expect(readdirSync(temporaryFolder)).toEqual([]);
  }
}

function expectNothingLeft(server: RunningSftpServer, names: readonly string[] = []): void {
  expect(readdirSync(server.disk(folder)).sort()).toEqual([...names].sort());
}

describe('the SFTP server', () => {
  const server = useSftpServer(openSsh);

  it('reports what is there: how many files, and the input and the result of the day', async () => {
    makeRemoteFolder(server(), folder);
    for (const name of ['20112026.csv', '20112026_1_Result.csv', '19112026.csv', '19112026_Result.csv']) {
      const path = server().disk(`${folder}/${name}`);
      writeFileSync(path, name);
      utimesSync(path, 1_795_000_000, 1_795_000_000);
    }
    expect((await check(server())).at(-1)?.message).toBe(
      `${folder} holds 4 files: 20112026.csv (12 bytes, 2026-11-18 11:06:40Z); ` +
        '20112026_1_Result.csv (21 bytes, 2026-11-18 11:06:40Z)',
    );
  });

  it('is wrong if the server presents another host key, which is shown', async () => {
    const findings = await check(server(), { options: { hostKeys: [stranger] } });
    expect(findings).toEqual([
      expect.objectContaining({ verdict: 'wrong', message: expect.stringMatching(/Ask its operator/) }),
    ]);
    expect(server().fingerprints.some((one) => findings[0]?.message.includes(one))).toBe(true);
    expect(readdirSync(server().disk(''))).toEqual([]);
  });

  it('warns if the removal is denied, and names what is left', async () => {
    const findings = await check(server(), {
      change: ({ download }) => ({
        async download(...args) {
          const file = await download(...args);
          chmodSync(server().disk(folder), 0o555);
          return file;
        },
      }),
    });
    const [name = ''] = readdirSync(server().disk(folder));
    expect(name).toMatch(/^\.hotel-review-doctor-.*\.tmp$/);
    expect(findings[1]).toMatchObject({
      verdict: 'warning',
      message: expect.stringContaining(`its removal was denied: ${name} was left behind`),
      advice: expect.stringContaining('permission to remove'),
    });
    // What is left is hidden, and no reason to ask the operator about names.
    expect(findings.map(({ verdict }) => verdict)).toEqual(['ok', 'warning', 'ok']);
  });

  it.each([
    ['cannot be read back', (file: string) => chmodSync(file, 0), 'check the permissions of the account'],
    [
      'comes back damaged',
      (file: string) => writeFileSync(file, readFileSync(file).reverse()),
      'other bytes came back than were sent',
    ],
  ])('is wrong if a file that was renamed %s, and leaves none behind', async (_, spoil, said) => {
    const findings = await check(server(), {
      change: ({ download }) => ({
        download(path, ...rest) {
          spoil(server().disk(path));
          return download(path, ...rest);
        },
      }),
    });
    expect(findings).toMatchObject([{ verdict: 'wrong', message: expect.stringContaining(said) }]);
    expectNothingLeft(server());
  });

  it('is wrong if the folder cannot be created', async () => {
    chmodSync(server().disk(''), 0o555);
    const findings = await check(server());
    expect(findings).toMatchObject([
      { verdict: 'wrong', message: expect.stringContaining('check the permissions of the account') },
    ]);
  });

  it.each(['upload', 'download'] as const)(
    'removes its file when it is stopped during the %s',
    async (operation) => {
      const controller = new AbortController();
      const stopped = new Error('stopped');
      const stopping = check(server(), {
        signal: controller.signal,
        change: (session) => ({
          [operation]: async (...args: never[]) => {
            controller.abort(stopped);
            return (session[operation] as (...all: never[]) => Promise<unknown>)(...args);
          },
        }),
      });
      await expect(stopping).rejects.toBe(stopped);
      expectNothingLeft(server());
    },
  );
});

it('without a server, it is wrong', async () => {
  const nowhere = { root: '/', fingerprints: [stranger], login: { username: 'acme', password: 's3cret' } };
  const there = { ...nowhere, port: await findFreePort() } as unknown as RunningSftpServer;
  expect(await check(there)).toMatchObject([
    { verdict: 'wrong', message: expect.stringContaining('nothing listens there') },
  ]);
  expect(await check(there, { options: { privateKeyFile: '/nowhere/id_ed25519' } })).toMatchObject([
    { verdict: 'wrong', message: expect.stringContaining('/nowhere/id_ed25519') },
  ]);
});
