import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isNightly } from '../support/nightly.js';
import { createPackedProject, type PackedProject } from './packed-project.js';

let project: PackedProject;
beforeAll(async () => {
  project = await createPackedProject();
});
afterAll(() => project?.remove());

const ours = `
import type { Bookings } from 'booked-hotel-review';

export const bookings: Bookings = async function* (day, { signal, log, options }) {
  log.info(\`\${day.zone} \${day.start.toISOString()} \${String(options.hotel)} \${String(signal.aborted)}\`);
  yield { ServiceId: 42n, BookingReferenceId: day.iso };
  yield [{ ServiceId: 43 }];
};
`;
const check = `
import { test } from 'node:test';
import { checkBookingSource, createBusinessDay, createModuleSource } from 'booked-hotel-review/testing';

const source = createModuleSource({ path: new URL('ours.js', import.meta.url).pathname, log: console });
void test('our bookings', () => checkBookingSource({ source, day: createBusinessDay('2026-11-20', 'Europe/Madrid') }));
`;

describe('a bookings module in a project of its own', () => {
  it('compiles strictly, and is tested by the suite that the package exports', async () => {
    await project.write('ours.ts', ours);
    await project.write('check.ts', check);
    expect(await project.compile(['ours.ts', 'check.ts'])).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    const { exitCode, stdout } = await project.run(['check.js']);
    expect({ exitCode, stdout }).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/our bookings/),
    });
  });

  it('passes the suite with more bookings than are requested at a time', async () => {
    const count = isNightly ? 100_000 : 5000;
    await project.write(
      'many.mjs',
      `export async function* bookings() { for (let id = 1; id <= ${count}; id += 1) yield { ServiceId: id }; }`,
    );
    await project.write('many-check.mjs', check.replace('ours.js', 'many.mjs'));
    expect(await project.run(['many-check.mjs'])).toMatchObject({ exitCode: 0 });
  }, 180_000);

  it('fails the suite when it yields something other than a booking', async () => {
    await project.write('wrong.ts', ours.replace('yield [{ ServiceId: 43 }]', "yield 'BR-1042'"));
    const { exitCode, stdout } = await project.compile(['wrong.ts'], { noEmit: true });
    expect(exitCode).not.toBe(0);
    expect(stdout).toContain('wrong.ts(4');
  });
});
