import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAffectedFile } from '../../src/cli/affected-file.js';
import { UsageError } from '../../src/review/refusals.js';

const header = 'ServiceId,BookingReferenceId,ProviderName,ProviderHotelId,CheckInDate,CheckOutDate\n';
const booking = {
  ServiceId: 7,
  BookingReferenceId: 'BR-1, "two"',
  BookingClientName: 'Ana Lovelace',
  ProviderName: 'hotelbeds',
  ProviderHotelId: '00123',
  CheckInDate: '2026-11-20',
  CheckOutDate: '2026-11-23',
};

describe('the CSV of affected bookings', () => {
  it('holds all that was added, in its order, without guests’ names, for its owner alone', async () => {
    const path = join(await createFolder(), 'wrong.csv');
    const file = await createAffectedFile(path);
    await file.add([booking, { ...booking, BookingReferenceId: 'BR-2' }]);
    await file.add([{ ServiceId: 8 }]);
    await file.finish();
    expect(await readFile(path, 'utf8')).toBe(
      `${header}7,"BR-1, ""two""",hotelbeds,00123,2026-11-20,2026-11-23\n` +
        '7,BR-2,hotelbeds,00123,2026-11-20,2026-11-23\n8,,,,,\n',
    );
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('is a header alone where no booking is affected', async () => {
    const path = join(await createFolder(), 'wrong.csv');
    await (await createAffectedFile(path)).finish();
    expect(await readFile(path, 'utf8')).toBe(header);
  });

  it('never takes the place of a file', async () => {
    const path = join(await createFolder(), 'wrong.csv');
    await writeFile(path, 'of an earlier time');
    const error = await createAffectedFile(path).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UsageError);
    expect(String(error)).toContain(`--csv: ${path} exists already; name a new file`);
    expect(await readFile(path, 'utf8')).toBe('of an earlier time');
  });

  it('is refused where none can be made', async () => {
    const path = join(await createFolder(), 'nowhere', 'wrong.csv');
    const error = await createAffectedFile(path).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UsageError);
    expect(String(error)).toContain(`--csv: ${path} can't be written (ENOENT)`);
  });
});

async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hotel-review-test-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}
