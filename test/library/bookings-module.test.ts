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

describe('a bookings module in a project of its own', () => {
  it('compiles strictly, and is tried by `run --dry-run`', async () => {
    await project.write('ours.ts', ours);
    await project.write('hotel-review.yaml', configuration);
    expect(await project.compile(['ours.ts'])).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    const command = join(project.packageFolder, 'dist/jobs/hotel-review.js');
    const { exitCode, stdout, stderr } = await project.run([command, ...dryRun]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: expect.stringContaining('Europe/Madrid 2026-11-19T23:00:00.000Z ritz false'),
    });
    expect(JSON.parse(stdout)).toMatchObject({ counts: { read: 2, accepted: 2, rejected: 0 } });
  });

  it('does not compile when it yields something other than a booking', async () => {
    await project.write('wrong.ts', ours.replace('yield [{ ServiceId: 43 }]', "yield 'BR-1042'"));
    const { exitCode, stdout } = await project.compile(['wrong.ts'], { noEmit: true });
    expect(exitCode).not.toBe(0);
    expect(stdout).toContain('wrong.ts(4');
  });
});
