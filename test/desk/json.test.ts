import { beforeAll, expect, it } from 'vitest';
import type { Role } from '../../src/storage/access/roles.js';
import { createTemporaryLedger, openRun } from '../review/temporary-ledger.js';
import { openCases, threeCases } from './cases/some-cases.js';
import { getData, now, startDesk, stopServers } from './some-desk.js';
import { addFileRun, archiveOf, fileRunId } from './some-file-run.js';

/** The whole JSON of the pages that have one: a member more or less, for any role, fails here. */
const desks = new Map<Role, string>();
beforeAll(async () => {
  const { ledger, remove } = await createTemporaryLedger(() => now);
  await openRun(ledger, '2026-11-20');
  const archive = archiveOf(await addFileRun(ledger));
  await openCases(ledger, threeCases);
  for (const role of ['viewer', 'team', 'operator', 'admin'] as const)
    desks.set(role, (await startDesk({ ledger, parts: { archive }, role })).url);
  return async () => {
    await stopServers();
    await remove();
  };
});

const read = async (role: Role, path: string) =>
  (await getData(desks.get(role) ?? '', path)).data as Record<string, unknown>;

const started = '2026-11-21T01:30:00.000Z';

const run = {
  ...{ runId: 'run-of-2026-11-20', day: '2026-11-20', delivery: 'body', trigger: 'manual' },
  state: 'collecting',
  counts: {
    ...{ read: 0, accepted: 0, duplicates: 0, rejected: 0, filtered: 0, delivered: 0, refused: 0 },
    ...{ pending: 0, carried: 0, repeated: 0, posted: 0, affected: null, unanswered: null },
  },
  ...{ file: null, isGood: false, notGood: [{ code: 'collecting' }], volume: null },
  ...{ startedAt: '1970-01-01T00:00:01.000Z', finishedAt: null, durationMs: now - 1_000 },
};

it.each(['viewer', 'admin'] as const)('days, for the role %s', async (role) => {
  const { days, ...facts } = await read(role, '/');
  expect(facts).toEqual({
    ...{ firstDay: '2026-11-19', lastGoodDay: '2026-11-19' },
    after: { notGood: 1, due: 1, newestGoodDay: null },
    ...{ nextRunAt: '2026-11-22T01:30:00.000Z', deadline: null },
    cases: { openBookings: 5, unknownCheckIns: 0, inHouse: 0 },
    openCases: 3,
    urgentCases: [2, 3, 1].map((id) => expect.objectContaining({ id, note: null })),
    ...{ mailbox: null, channels: { configured: 1, failing: 0 } },
    ...{ mappingsCompleteUntil: '2026-11-20T04:00:00.000Z', parts: { ledger: 'ok' }, problems: [] },
  });
  expect((days as unknown[]).slice(-2)).toEqual([
    {
      ...{ day: '2026-11-20', judgement: 'unfinished', headline: 'The run is collecting.' },
      ...{ ran: 'unfinished', openBookings: 5 },
      ...{ isDue: true, isGood: false, isLate: false },
      ...{ runId: run.runId, state: 'collecting', accepted: 0 },
      firstAction: { name: 'Resume', path: 'run' },
    },
    {
      ...{ day: '2026-11-21', judgement: 'not-due', headline: 'Its run is still to come.' },
      ...{ ran: 'not-due', openBookings: 0 },
      ...{ isDue: false, isGood: false, isLate: false },
      ...{ runId: null, state: null, accepted: null, firstAction: null },
    },
  ]);
});

it.each(['viewer', 'admin'] as const)('a day, for the role %s', async (role) => {
  const open = {
    ...{ state: 'open', inHouse: 0, inHouseUntil: null, leftBookings: 0 },
    ...{ bookedHotel: null, copyHotel: null, distanceKm: null },
  };
  expect(await read(role, '/days/2026-11-20')).toEqual({
    ...{ day: '2026-11-20', judgement: 'unfinished', headline: 'The run is collecting.' },
    ...{ previous: '2026-11-19', next: '2026-11-21', count: 1, page: 1, pages: 1 },
    runs: [{ ...run, judgement: 'unfinished' }],
    cases: {
      count: 3,
      first: [
        {
          ...{ id: 2, ...open, providerName: 'expedia', providerHotelId: 'E-2', serviceId: 8 },
          ...{ copyServiceId: null, copy: 'unmapped', openBookings: 1, firstCheckIn: '2026-11-25' },
        },
        {
          ...{ id: 3, ...open, providerName: 'hotelbeds', providerHotelId: 'H-3', serviceId: 9 },
          ...{ copyServiceId: 70, copy: 'mapped', openBookings: 1, firstCheckIn: '2026-12-01' },
        },
        {
          ...{ id: 1, ...open, providerName: 'hotelbeds', providerHotelId: 'H-1', serviceId: 7 },
          ...{ copyServiceId: 70, copy: 'mapped', openBookings: 3, firstCheckIn: '2026-12-05' },
        },
      ],
    },
    ...{ problems: [], notices: [], reports: [`${fileRunId}-succeeded.html`] },
    ran: { judgement: 'unfinished', headline: 'The run is collecting.' },
    needs: {
      ...{ mark: 'open', words: 'bookings open' },
      text: 'Of its bookings in cases: 5 open in 3 cases.',
    },
    actions:
      role === 'viewer'
        ? []
        : [
            { name: 'Resume', path: 'run' },
            { name: 'Cancel', path: 'cancel' },
          ],
  });
});

it.each(['viewer', 'admin'] as const)('a run, for the role %s', async (role) => {
  const { file, fileDetails, actions, findings, ...data } = await read(role, `/runs/${fileRunId}`);
  expect(actions).toEqual([]);
  expect(findings).toMatchObject([{ code: 'affected' }, { code: 'unanswered' }, { code: 'posted' }]);
  const sha256 = expect.stringMatching(/^[0-9a-f]{64}$/);
  const kinds = ['archive', 'await-result', 'batch', 'trigger', 'upload', 'write'];
  const steps = { write: 0, upload: 0, trigger: 6, 'await-result': 0, archive: 0, batch: 3 };
  expect(data).toEqual({
    ...{ runId: fileRunId, day: '2026-11-19', delivery: 'file', trigger: 'manual', state: 'succeeded' },
    counts: {
      ...{ read: 9, accepted: 9, duplicates: 0, rejected: 0, filtered: 0, delivered: 9, refused: 0 },
      ...{ pending: 0, carried: 0, repeated: 0, posted: 3, affected: 1, unanswered: 1 },
    },
    ...{ startedAt: started, finishedAt: '2026-11-21T01:31:00.000Z', durationMs: 60_000 },
    ...{ pending: null, open: null, idleMs: 0, troubles: [], rejects: [], warnings: [] },
    ...{ isGood: true, notGood: [], volume: null },
    judgement: 'attention',
    headline: '1 booking on an incorrect mapping; 1 booking without a verdict.',
    collect: { startedAt: started, endedAt: started },
    steps: Object.entries(steps).map(([kind, bookings]) => ({ kind, state: 'done', steps: 1, bookings })),
    times: kinds.map((kind) => ({ kind, steps: 1, attempts: 1, startedAt: started, endedAt: started })),
  });
  expect(file).toEqual({
    ...{ remotePath: 'acme/112026/19112026.csv', sha256, rows: 6, resultName: '19112026-result.csv' },
    archivedTo: `archive/2026-11-19/${fileRunId}`,
    resultRowsIgnored: 0,
  });
  expect(fileDetails).toEqual({
    ...{ bytes: 600, triggeredAt: started, laterResults: [], removed: [], namesAreGone: false, erased: null },
    result: { name: '19112026-result.csv', bytes: 65, sha256, rows: 5, isWhole: true },
  });
});

const opened = '2026-11-20T04:00:00.000Z';
const noHotels = { bookedHotel: null, copyHotel: null, distanceKm: null, hoursToCheckIn: null };
const untouched = {
  ...{ state: 'open', origins: ['affected'], hasUnknownCheckIn: false, openedAt: opened, stateSince: opened },
  ...{ inHouse: 0, inHouseUntil: null, leftBookings: 0 },
  ...{ move: null, assignee: null, note: null, ...noHotels },
};
const hotelbeds = {
  ...{
    id: 1,
    providerName: 'hotelbeds',
    providerHotelId: 'H-1',
    serviceId: 7,
    copyServiceId: 70,
    copy: 'mapped',
  },
  ...{ bookings: 3, openBookings: 3, firstCheckIn: '2026-12-05', ...untouched },
};

it.each(['viewer', 'admin'] as const)('cases, for the role %s', async (role) => {
  const one = { bookings: 1, openBookings: 1, firstCheckOut: '2027-03-01', ...untouched };
  expect(await read(role, '/cases')).toEqual({
    cases: [
      {
        ...{
          id: 2,
          providerName: 'expedia',
          providerHotelId: 'E-2',
          serviceId: 8,
          copyServiceId: null,
          copy: 'unmapped',
        },
        ...{ firstCheckIn: '2026-11-25', ...one },
      },
      {
        ...{
          id: 3,
          providerName: 'hotelbeds',
          providerHotelId: 'H-3',
          serviceId: 9,
          copyServiceId: 70,
          copy: 'mapped',
        },
        ...{ firstCheckIn: '2026-12-01', ...one },
      },
      { ...hotelbeds, firstCheckOut: '2027-03-01' },
    ],
    ...{ total: 3, openBookings: 5, page: 1, pages: 1 },
    filter: {
      ...{ state: null, provider: null, country: null, checkInBefore: null, day: null },
      ...{ assignee: null, text: null },
    },
    choices: { providers: ['expedia', 'hotelbeds'], countries: [], assignees: [] },
  });
});

it.each([
  ['viewer', [null, null, null]],
  ['operator', ['BR-1', 'BR-2', null]],
  ['admin', ['BR-1', 'BR-2', null]],
] as const)('a case, with references only for those who may see bookings: %s', async (role, references) => {
  const checkIns = ['2026-12-05', '2026-12-09', '2026-12-11'];
  expect(await read(role, '/cases/1')).toEqual({
    ...hotelbeds,
    bookingList: references.map((reference, index) => ({
      ...{ reference, checkIn: checkIns[index], checkOut: '2027-03-01', state: 'open', isNamed: false },
      place: index + 1,
    })),
    history: [{ at: opened, who: 'hotel-review', action: 'case-opened' }],
    ...{ page: 1, pages: 1, entries: 1, hasHotels: false },
    mapping: {
      ...{ providerName: 'hotelbeds', providerHotelId: 'H-1', serviceId: 70, locationCode: 'PMI' },
      ...{ channelIds: ['B2C,BAR'], firstSeenAt: '2026-11-20T03:59:59.999Z', movedAt: opened },
      history: [{ from: 7, to: 70, seenAt: opened }],
    },
  });
});

it.each([
  ['team', { state: 'shown', name: 'Ana Gil' }],
  ['operator', { state: 'masked', name: null }],
  ['admin', { state: 'shown', name: 'Ana Gil' }],
] as const)("a booking, with the guest's name only for those who may see names: %s", async (role, guest) => {
  expect(await read(role, '/bookings?reference=F-1')).toEqual({
    ...{ reference: 'F-1', answers: false, isErased: false, page: 1 },
    bookings: [
      {
        ...{ runId: fileRunId, day: '2026-11-19', runState: 'succeeded', state: 'delivered' },
        booking: {
          ...{ ServiceId: 7, BookingReferenceId: 'F-1', BookingClientName: '***' },
          ...{ ProviderName: 'hotelbeds', ProviderHotelId: '007' },
          ...{ CheckInDate: '2026-11-20', CheckOutDate: '2026-11-23' },
        },
        ...{ verdict: 'incorrect', step: 'trigger', copyServiceId: null, copy: 'unmapped', ...noHotels },
        attempts: [
          {
            ...{ step: 'trigger', attempt: 1, outcome: 'done', code: 'ok', httpStatus: 200 },
            ...{ statusCode: 2000, sha256: 'ab12', startedAt: started, endedAt: started },
          },
        ],
        ...{ delivery: 'file', trigger: 'manual', fileRow: 2, deliveredAt: started, guest },
      },
    ],
    mappings: [{ providerName: 'hotelbeds', providerHotelId: '007', copied: null }],
  });
});

it('a booking is closed to viewers', async () => {
  expect(await read('viewer', '/bookings?reference=F-1')).toEqual({
    error: { class: 'forbidden', message: 'the role viewer may not do this' },
  });
});

it.each(['viewer', 'admin'] as const)('providers, for the role %s', async (role) => {
  const suspects = { flagged: 0, known: 0, incorrect: null };
  const unknown = {
    ...{ known: 0, affected: null, affectedShare: null, affectedShareLow: null, affectedShareHigh: null },
    ...{ namedByEmail: 0, suspects, corrected: 0, medianHoursToCorrection: null, repeatOffenders: [] },
  };
  expect(await read(role, '/providers?from=2026-11-18&to=2026-11-20')).toEqual({
    ...{ from: '2026-11-18', to: '2026-11-20', total: 3, page: 1, pages: 1 },
    providers: [
      {
        ...unknown,
        ...{ providerName: 'hotelbeds', sent: 6, known: 5, affected: 1, byEmail: 0, cases: 2 },
        ...{ affectedShare: 0.2, affectedShareLow: 0.036224, affectedShareHigh: 0.624465 },
      },
      { ...unknown, providerName: null, sent: 3, byEmail: 3, cases: 0 },
      { ...unknown, providerName: 'expedia', sent: 0, byEmail: 0, cases: 1 },
    ],
  });
});
