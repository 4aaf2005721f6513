import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  csv,
  env,
  expectGone,
  guests,
  lookAtEverything,
  metricsFile,
  readPlaces,
  references,
  runTraced,
  search,
  secrets,
  serveAndLook,
  settings,
  type Texts,
  traced,
  variable,
} from '../support/canary-night.js';
import { startReceivers } from '../support/canary-receivers.js';
import { prepareDay } from '../support/day-folder.js';
import { useFastClock } from '../support/fast-clock.js';
import { prepareFileDay, resultPath } from '../support/file-day.js';
import { createHostileService, fatalAnswers } from '../support/hostile-service.js';
import { type HostileSftp, startHostileSftp } from '../support/hostile-sftp.js';
import type { StandInHandler } from '../support/http-stand-in.js';

/** The digest about the day is due between these. */
const beforeDigest = '2026-11-21T02:00:00Z';
const afterDigest = '2026-11-21T09:00:00Z';

describe('guests and secrets of a night are only where privacy says, and nowhere once they are erased or due:', () => {
  it('by body, at a service that quotes every request', async () => {
    let answer: StandInHandler = createHostileService(guests.poison);
    const { notify, read } = await startReceivers();
    const { folder, standIn } = await prepareDay(
      { bookings: csv, settings: { ...settings, notify } },
      (request, number) => answer(request, number),
    );
    const texts: Texts = new Map();
    const clock = useFastClock();
    clock.set(beforeDigest);
    for (const fatal of fatalAnswers) {
      answer = fatal;
      const { exitCode, stdout, stderr } = await folder.run(runTraced, { env });
      expect(exitCode).toBe(1);
      texts.set(`run ${texts.size}`, stdout + stderr);
    }
    answer = createHostileService(guests.poison);
    clock.set(afterDigest);
    const { report, stdout, stderr } = await folder.run(runTraced, { env });
    texts.set('run', stdout + stderr);
    const received = await read(() => folder.run(runTraced, { env }));
    for (const [where, text] of received) texts.set(where, text);
    clock.reset();
    expect(report.counts).toMatchObject({ delivered: 29, refused: 1 });
    expect(JSON.stringify(standIn.accepted())).toContain(guests.erased);
    expect(readFileSync(join(folder.path, metricsFile), 'utf8')).toContain('hotel_review_ledger_up 1');
    const mayHold = await readPlaces(folder);
    await serveAndLook(folder, texts, () =>
      expect(search(folder, new Map(), { ...guests, ...secrets }, mayHold)).toEqual([]),
    );
    await lookAtEverything(folder, texts);
    expect(search(folder, texts, { ...guests, ...secrets }, mayHold)).toEqual([]);
    const answers = await folder.run(['show', references.erased, '--answers', ...traced], { env });
    const others = { poison: guests.poison, other: guests.other, ...secrets };
    expect(
      search(folder, new Map([['show --answers', answers.stdout + answers.stderr]]), others, mayHold),
    ).toEqual([]);
    await expectGone(folder);
  });

  describe('by file,', () => {
    let server: HostileSftp;
    beforeAll(async () => {
      server = await startHostileSftp({ username: 'acme', password: variable('SFTP_PASSWORD') }, () =>
        Object.values(guests).join(' '),
      );
    });
    afterAll(() => server.stop());

    it('at a service and an SFTP server that quote everything', async () => {
      const hostile = createHostileService(guests.poison);
      const { notify, read } = await startReceivers();
      const clock = useFastClock();
      clock.set(beforeDigest);
      const { folder } = await prepareFileDay(server, {
        bookings: csv.replace('Hotelbeds,004A', ',004A'),
        settings: { ...settings, notify },
        onPost: hostile,
        async onCall(call) {
          // Whoever runs the service may run the SFTP server, too.
          const quote = `${secrets.sftpPassword} ${call.file}`;
          if (call.number === 1) return { kind: 'text', status: 500, body: quote };
          const name = `20112026\u001b[2J${guests.other}_Result.csv`;
          writeFileSync(join(server.disk('VerifyMappings/112026'), name), quote);
          await call.writeResult({ affected: ['BR-3'] });
          return { kind: 'json', body: { Status: true, StatusCode: 2000, Message: quote } };
        },
      });
      const texts: Texts = new Map();
      for (const number of [1, 2, 3]) {
        const { stdout, stderr, exitCode } = await folder.run(runTraced, { env });
        texts.set(`run ${number}`, stdout + stderr);
        if (exitCode === 0) break;
      }
      expect([...texts.values()].at(-1)).toContain('"state":"succeeded"');
      clock.set(afterDigest);
      const { stdout, stderr } = await folder.run(runTraced, { env });
      texts.set('run in the morning', stdout + stderr);
      const received = await read(() => folder.run(runTraced, { env }));
      for (const [where, text] of received) texts.set(where, text);
      clock.reset();
      expect(server.quoted()).toBeGreaterThan(5);
      expect(readFileSync(server.disk(resultPath), 'utf8')).toContain(guests.erased);
      const mayHold = await readPlaces(folder);
      await serveAndLook(folder, texts, () => {});
      await lookAtEverything(folder, texts);
      expect(search(folder, texts, { ...guests, ...secrets }, mayHold)).toEqual([]);
      await expectGone(folder);
    });
  });
});
