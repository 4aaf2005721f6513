import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { day, prepareDay } from '../support/day-folder.js';
import { prepareFileDay } from '../support/file-day.js';
import { success } from '../support/http-stand-in.js';
import { csvOf, makeBookings, stayToCome, toCsv } from '../support/made-bookings.js';
import { openSsh } from '../support/sftp-programs.js';
import { useSftpServer } from '../support/use-servers.js';

const server = useSftpServer(openSsh);

describe('report', () => {
  it('reports a day by file as text, JSON and as a page, and is recorded', async () => {
    const { folder } = await prepareFileDay(server(), {
      bookings: toCsv(makeBookings(30, stayToCome())),
      async onCall(call) {
        await call.writeResult({ affected: ['BR-1', 'BR-2'] });
        return success;
      },
    });
    await folder.runDay();
    const { exitCode, json } = await folder.run(['report', day, '--html', 'day.html', '--json']);
    expect(exitCode).toBe(0);
    expect(json).toMatchObject({
      ...{ day, judgement: 'attention', headline: '2 bookings on an incorrect mapping.' },
      runs: [{ delivery: 'file', state: 'succeeded', counts: { accepted: 30, affected: 2 } }],
      verdicts: { knowledge: 'judged', affected: 2, unanswered: 0, posted: 0 },
      affected: { count: 2, first: [{ reference: 'BR-1' }, { reference: 'BR-2' }] },
      cases: { count: 2 },
      steps: ['write', 'upload', 'trigger', 'await-result', 'archive'].map((kind) => ({ kind })),
    });
    const page = await readFile(join(folder.path, 'day.html'), 'utf8');
    expect(page).toContain('BR-2');
    const text = await folder.run(['report', day]);
    expect(text.stdout).toContain(`${day}: attention`);
    for (const written of [page, text.stdout, JSON.stringify(json)]) expect(written).not.toContain('Guest');

    const again = await folder.run(['report', day, '--html', 'day.html']);
    expect(again).toMatchObject({ exitCode: 2 });
    expect(again.stderr).toContain('exists already');
    await writeFile(join(folder.path, 'day.html'), 'of an earlier time');
    const replaced = await folder.run(['report', day, '--html', 'day.html', '--force']);
    expect(replaced).toMatchObject({ exitCode: 0 });
    expect(await readFile(join(folder.path, 'day.html'), 'utf8')).toContain('BR-2');
    const audit = await folder.run(['audit', '--json']);
    const { entries } = audit.json as { entries: { action: string; subject: string }[] };
    expect(entries.filter(({ action }) => action === 'report').map(({ subject }) => subject)).toEqual(
      Array.from({ length: 4 }, () => day),
    );
  });

  it('never calls a day by body good, and says so if a day has no run', async () => {
    const { folder } = await prepareDay({ bookings: csvOf(5) }, async () => success);
    const none = await folder.run(['report', day, '--json']);
    expect(none.exitCode).toBe(1);
    await folder.runDay();
    const { exitCode, json } = await folder.run(['report', day, '--json']);
    expect(exitCode).toBe(0);
    expect(json).toMatchObject({ judgement: 'sent', verdicts: { knowledge: 'by-email', affected: null } });
    const other = await folder.run(['report', '2026-11-18', '--json']);
    expect(other).toMatchObject({ exitCode: 1, json: { judgement: 'attention', runs: [] } });
  });
});
