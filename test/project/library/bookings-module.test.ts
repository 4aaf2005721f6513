import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPackedProject, type PackedProject } from './packed-project.js';

let project: PackedProject;
beforeAll(async () => {
  project = await createPackedProject();
});
afterAll(() => project?.remove());

const ours = `
import type { Bookings } from 'hotel-review';

export const bookings: Bookings = async function* (day, { signal, log, options }) {
  log.info(\`\${day.zone} \${day.start.toISOString()} \${String(options.hotel)} \${String(signal.aborted)}\`);
  yield { ServiceId: 42n, BookingReferenceId: day.iso };
  yield [{ ServiceId: 43 }];
};
`;
const configuration = `
timezone: Europe/Madrid
service: { baseUrl: "http://127.0.0.1:9/api/3.0", apiKey: k, accountId: a }
source:
  kind: module
  path: ./ours.js
  columns: { BookingClientName: false, ProviderName: false, ProviderHotelId: false, CheckInDate: false, CheckOutDate: false }
  options: { hotel: ritz }
`;

const dryRun = ['run', '--day', '2026-11-20', '--dry-run', '--json'];

/** None of what the package exports is `any`. */
const everyType = `
import type { BookingRecord, Bookings, BookingsModule, ModuleContext, ModuleDay, ModuleLog } from 'hotel-review';

type IsAny<T> = 0 extends 1 & T ? true : false;
type AnyIn<T> = IsAny<T> extends true ? 'all' : { [K in keyof T]-?: IsAny<T[K]> extends true ? K : never }[keyof T];
export const nothing: readonly [
  AnyIn<BookingRecord>, AnyIn<Bookings>, AnyIn<BookingsModule>, AnyIn<ModuleContext>, AnyIn<ModuleDay>, AnyIn<ModuleLog>,
] extends readonly never[] ? true : false = true;
`;

it('what init writes in a project names files of the installed package', async () => {
  const command = join(project.packageFolder, 'dist/jobs/hotel-review.js');
  const { exitCode, stdout } = await project.run([
    command,
    'init',
    '--kind',
    'module',
    '--config',
    'made.yaml',
  ]);
  expect({ exitCode, stdout }).toMatchObject({ exitCode: 0 });
  const made = await project.read('made.yaml');
  const named = [...made.matchAll(/\.\/node_modules\/hotel-review\/[\w./-]+\w/g)].map(([path]) => path);
  expect(named).toHaveLength(3);
  for (const path of named) expect(await project.read(path)).not.toBe('');
});

describe('a bookings module in a project of its own', () => {
  it('compiles strictly, and is tried by `run --dry-run`', async () => {
    await project.write('ours.ts', ours);
    await project.write('hotel-review.yaml', configuration);
    await project.write('every-type.ts', everyType);
    expect(await project.compile(['ours.ts', 'every-type.ts'])).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: '',
    });
    const command = join(project.packageFolder, 'dist/jobs/hotel-review.js');
    const { exitCode, stdout, stderr } = await project.run([command, ...dryRun]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: expect.stringContaining('Europe/Madrid 2026-11-19T23:00:00.000Z ritz false'),
    });
    expect(JSON.parse(stdout)).toMatchObject({ counts: { read: 2, accepted: 2, rejected: 0 } });
  });

  it('does not compile when it yields something other than a booking, and needs no Node types', async () => {
    await project.write('wrong.ts', ours.replace('yield [{ ServiceId: 43 }]', "yield 'BR-1042'"));
    const text = "import type { Bookings } from 'hotel-review';\nexport type Mine = Bookings;\n";
    await project.write('types-alone.ts', text);
    const options = { lib: ['ES2023', 'DOM'], types: [], noEmit: true };
    const { exitCode, stdout } = await project.compile(['wrong.ts', 'types-alone.ts'], options);
    expect(exitCode).not.toBe(0);
    expect(stdout.match(/^\S+: error/gm)).toEqual([expect.stringMatching(/^wrong\.ts\(4/)]);
  });

  it('imports nothing else of the package', async () => {
    await project.write('deep.js', "await import('hotel-review/dist/src/transports/http/transport.js');");
    expect((await project.run(['deep.js'])).stderr).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED');
    await project.write('package-file.js', "import.meta.resolve('hotel-review/package.json');");
    expect((await project.run(['package-file.js'])).exitCode).toBe(0);
  });
});
