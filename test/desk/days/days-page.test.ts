import { beforeEach, describe, expect, it } from 'vitest';
import { type CaseRequest, performRequest } from '../../../src/cases/case-requests.js';
import type { DaysData } from '../../../src/desk/days-page.js';
import type { DeskParts } from '../../../src/desk/page.js';
import { canaryStep } from '../../../src/rules/canary.js';
import { done, perform, rightOf } from '../../contracts/ledger/days.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { openCases } from '../cases/some-cases.js';
import { addRun } from '../operations/asking.js';
import { fakeOperations } from '../operations/fake-operations.js';
import { collectBookings, someBooking } from '../some-bookings.js';
import { getData, getPage, now, startDesk } from '../some-desk.js';

const hourMs = 3_600_000;

let ledger: DeskParts['ledger'];
beforeEach(async () => {
  ledger = await openTemporaryLedger(() => now);
});

const change = (id: number, request: CaseRequest) =>
  performRequest(ledger.cases, [id], request, { who: 'bea', clock: () => now });

async function read(options: Partial<Parameters<typeof startDesk>[0]> = {}) {
  const { url } = await startDesk({ ledger, role: 'operator', ...options });
  return { data: (await getData(url, '/')).data as DaysData, text: (await getPage(url, '/')).text };
}

it('Each day since the first run is judged, the last good day is before any other, and what was late is known', async () => {
  const startedAt = (day: string) => Date.parse(`${day}T02:00:00Z`) + 24 * hourMs;
  const failure = { class: 'fatal', code: 'http-401', message: 'The service refuses the key' } as const;
  for (const [day, ending] of [
    ['2026-11-16', { state: 'succeeded' }],
    ['2026-11-18', { state: 'failed', failure }],
    ['2026-11-19', { state: 'succeeded' }],
    ['2026-11-20', undefined],
  ] as const)
    await addRun(ledger, { day, startedAt: startedAt(day) }, ending);
  await ledger.notices.noteFirst('deadline', Date.parse('2026-11-18T02:00:00Z'));
  const { data, text } = await read({ parts: { deadline: '02:00' } });
  expect(data.days.slice(-7).map(({ day, judgement, isLate }) => [day.slice(8), judgement, isLate])).toEqual([
    ['15', 'not-due', false],
    ['16', 'sent', false],
    ['17', 'missing', false],
    // At two, the nightly runs had not ended; the deadline did not count before.
    ['18', 'attention', true],
    ['19', 'sent', true],
    ['20', 'unfinished', true],
    ['21', 'not-due', false],
  ]);
  expect([data.days.length, data.days[0]?.day]).toEqual([356, '2025-12-01']);
  expect(data).toMatchObject({
    ...{ firstDay: '2026-11-16', lastGoodDay: '2026-11-16' },
    after: { notGood: 3, due: 4, newestGoodDay: '2026-11-19' },
    ...{ nextRunAt: '2026-11-22T01:30:00.000Z' },
    deadline: { day: '2026-11-21', at: '2026-11-22T01:00:00.000Z' },
  });
  const [, list = ''] = /<ul class="plain not-good">(.*?)<\/ul>/s.exec(text) ?? [];
  expect([...list.matchAll(/href="([^"]*)"/g)].map(([, href]) => href)).toEqual([
    ...['/days/2026-11-20', '/runs/run-of-2026-11-20', '/days/2026-11-18', '/days/2026-11-18/run'],
    ...['/days/2026-11-17', '/days/2026-11-17/run'],
  ]);
});

it('A day says what became of the newest of its canaries', async () => {
  const judgements: unknown[] = [];
  for (const id of ['r1', 'r2']) {
    const run = await collectBookings(ledger, id, [someBooking()], { canary: `CANARY-${id}` });
    await perform(ledger, run, 'batch 0', done);
    // Nothing named the first one in time; the second has not been sent yet.
    if (id === 'r1') await perform(ledger, run, canaryStep.name, done);
    await ledger.runs.settle(rightOf(run), { state: 'succeeded', at: run.startedAt });
    judgements.push((await read()).data.days.find(({ day }) => day === run.day)?.judgement);
  }
  expect(judgements).toEqual(['attention', 'sent']);
});

it('Ten cases are shown, the nearest check-in first, none dismissed, and no note to those who may not see bookings', async () => {
  const many = Array.from({ length: 13 }, (_, at) => ({
    ...{ hotel: `H-${at}`, booked: at + 1, copy: 70 },
    stays: [[`BR-${at}`, `2026-12-${30 - at}`]] as const,
  }));
  await openCases(ledger, many);
  await change(13, { kind: 'dismiss' });
  await change(12, { kind: 'note', note: 'BR-11 is for Ms Díaz' });
  for (const [role, note] of [
    ['viewer', null],
    ['team', 'BR-11 is for Ms Díaz'],
  ] as const) {
    const { openCases: count, urgentCases } = (await read({ role })).data;
    expect([count, urgentCases.map(({ id }) => id)]).toEqual([12, [12, 11, 10, 9, 8, 7, 6, 5, 4, 3]]);
    expect(urgentCases[0]?.note).toBe(note);
  }
});

it('No day counts as good for people before all its bookings are resolved', async () => {
  await addRun(ledger, { day: '2026-11-20' }, { state: 'succeeded' });
  const claim = 'each due day is good';
  expect((await read()).text).toContain(claim);
  await openCases(ledger, [{ hotel: 'H-9', booked: 9, copy: 70, stays: [['BR-9', '2026-11-19']] }]);
  const { text } = await read();
  expect(text).not.toContain(claim);
  expect(text).toContain('1 day still needs somebody, the newest <a class="whole" href="/days/2026-11-20">');
  await change(1, { kind: 'resolve', bookings: [1], as: 'rebooked' });
  expect((await read()).text).toContain(claim);
});

describe('whether the machine is well', () => {
  const readFacts = async (parts: Partial<DeskParts>) => {
    const { text } = await read({ parts, role: 'viewer' });
    const pairs = [...text.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/g)];
    return Object.fromEntries(
      pairs.map(([, name, value = '']) => [name, value.replace(/<[^>]*>/g, '').trim()]),
    );
  };

  it('names the deadline, what is down, and who is told, and leaves out a mailbox that is not configured', async () => {
    const { operations } = fakeOperations({ channels: [] });
    const health = { look: async () => ({ ready: false, parts: { queue: 'away' } }) };
    expect(await readFacts({ deadline: '06:00', operations, health })).toEqual({
      'Next run': '22 Nov 2026, 02:30, in 23 h',
      Deadline: '21 Nov 2026, 06:00, in 2 h 30 min, for 20 Nov 2026',
      'Mapping copy': 'none: it was never synced',
      Channels: 'Nobody is told: no channel is configured.',
      queue: 'away',
    });
  });

  it('says when the mailbox was last read, and that it is not read any more', async () => {
    const mailbox = async () => (await readFacts({ mailboxPollMs: 300_000 })).Mailbox;
    expect(await mailbox()).toBe('not read: it never was. To see why: hotel-review doctor');
    await ledger.mails.noteMailbox(now - hourMs, true);
    expect(await mailbox()).toBe('last read 21 Nov 2026, 02:30');
    await ledger.mails.noteMailbox(now - hourMs + 1, false);
    expect(await mailbox()).toMatch(/^not read: last read 21 Nov 2026, 02:30/);
    await ledger.mails.noteMailbox(now - 2 * hourMs, true);
    expect(await mailbox()).toMatch(/^not read: last read 21 Nov 2026, 01:30/);
  });

  it('counts the channels whose newest message was not accepted', async () => {
    const channels = ['mail', 'chat'].map((name) => ({ name, kind: name }));
    const { operations } = fakeOperations({ channels });
    await ledger.notices.raise([{ event: 'sync-failing', subject: 'mappings', facts: {}, raisedAt: now }]);
    const messages = channels.map(({ name }) => ({ id: name, channel: name, dueAt: now }));
    await ledger.notices.route(() => messages, now);
    await ledger.notices.noteSent(['mail'], now);
    expect((await readFacts({ operations })).Channels).toBe('2 configured, none fails');
    await ledger.notices.noteFailed(['chat'], { code: 'http-500', at: now, retryAt: now + 1 });
    expect((await readFacts({ operations })).Channels).toBe('1 of 2 did not accept the last message');
  });
});
