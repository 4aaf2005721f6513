import { describe, expect, it } from 'vitest';
import { isoOf } from './calendar.js';
import type { Restore } from './events/restore.js';
import type { Review } from './events/review.js';
import { crowd, type Guest } from './guests.js';
import type { Event, History } from './history.js';
import { identify, nameOf } from './journal.js';
import { liveHistory } from './live-history.js';
import type { Change } from './mappings.js';
import { expectDay } from './model.js';
import { type ResultFile, results } from './results.js';

function review(
  how: Review['how'],
  source: readonly Guest[],
  found: readonly ResultFile[] = results.none,
  more: Partial<Review> = {},
): Event {
  return { kind: 'review', day: 0, how, by: 'file', source, results: found, isFollowed: false, ...more };
}

const run = (...given: [source: readonly Guest[], ResultFile[]?, Partial<Review>?]) =>
  review('run', ...given);
const topUp = (...given: [source: readonly Guest[], ResultFile[]?]) => review('top-up', ...given);
const replay = (...given: [source: readonly Guest[], ResultFile[]?, Partial<Review>?]) =>
  review('replay', ...given);
const look = (found: readonly ResultFile[]): Event => ({ kind: 'look', day: 0, results: found });
const mail = (...names: Guest[]): Event => ({ kind: 'mail', day: 0, form: 'named', names });

const sync = (...changes: Change[]): Event => ({
  ...{ kind: 'sync', day: 0, by: 'command', changes, isLeft: false },
  telling: { pageSize: 3, isLog: true, leaving: 'untold', isUnnamed: false, isOpenEnded: false },
});

/** A day's end: the bookings that are affected, as often as they count, and those that are named in cases. */
interface Named {
  readonly history: History;
  readonly affected: readonly Guest[];
  readonly named: readonly Guest[];
}

const three: readonly Guest[] = ['ana', 'eva', 'tom'];

function restore(
  to: Restore['to'],
  found: readonly ResultFile[] = results.none,
  more: Partial<Restore> = {},
): Event {
  return {
    ...{ kind: 'restore', day: 0, to, how: 'run', source: three, before: results.none, results: found },
    ...{ isFoundAgain: false, isThorough: false, ...more },
  };
}

const byBody = { by: 'body' } as const;
const isFollowed = { isFollowed: true };

const named: Readonly<Record<string, Named>> = {
  'a whole result': {
    history: [run(three, results.whole('eva'))],
    affected: ['eva'],
    named: ['eva'],
  },
  'a result that grows while another process follows up': {
    history: [run(three, results.growing(['ana'], ['ana', 'eva', 'tom']), isFollowed)],
    affected: ['ana', 'eva', 'tom'],
    named: ['ana', 'eva', 'tom'],
  },
  'a result that is incomplete when its run fails, and complete when somebody looks again': {
    history: [run(three, results.partial(['ana'], ['ana'])), look(results.whole('ana', 'eva', 'tom'))],
    affected: ['ana', 'eva', 'tom'],
    named: ['ana', 'eva', 'tom'],
  },
  'a late result': {
    history: [run(three), look(results.whole('tom'))],
    affected: ['tom'],
    named: ['tom'],
  },
  'a result of others, set aside before ours comes, while another process follows up': {
    history: [run(three, results.setAside('ana', 'tom'), isFollowed)],
    affected: ['ana', 'tom'],
    named: ['ana', 'tom'],
  },
  'a result whose file is taken for one of others, set aside, and then written again': {
    history: [
      run(
        three,
        [
          { afterMs: 1_000, names: ['ana'], wrong: ['ana'] },
          { afterMs: 7_200_000, wrong: [], isForeign: true },
          { afterMs: 14_400_000, names: ['eva', 'tom'], wrong: ['tom'] },
        ],
        isFollowed,
      ),
    ],
    affected: ['ana', 'tom'],
    named: ['ana', 'tom'],
  },
  'a result in two files': {
    history: [run(three, results.split(['ana'], ['ana', 'tom']))],
    affected: ['ana', 'tom'],
    named: ['ana', 'tom'],
  },
  'two files, of which the second comes while somebody follows up': {
    history: [
      run(
        three,
        [
          { afterMs: 1_000, part: '_1', names: ['ana'], wrong: ['ana'] },
          { afterMs: 10_800_000, part: '_2', names: ['eva', 'tom'], wrong: ['tom'] },
        ],
        isFollowed,
      ),
    ],
    affected: ['ana', 'tom'],
    named: ['ana', 'tom'],
  },
  'two files of the same second that disagree': {
    history: [
      run(three, [
        { afterMs: 1_000, part: '_1', wrong: [] },
        { afterMs: 1_000, part: '_2', names: ['ana'], wrong: ['ana'] },
      ]),
    ],
    affected: ['ana'],
    named: ['ana'],
  },
  'an incorrect booking that a later file calls correct': {
    history: [run(three, results.rewritten(['ana'], ['ana'], ['eva']), isFollowed)],
    affected: ['eva'],
    named: ['ana', 'eva'],
  },
  'an incorrect booking that the result does not name any more': {
    history: [
      run(three, [
        { afterMs: 1_000, names: ['ana'], wrong: ['ana'] },
        { afterMs: 10_800_000, names: ['eva'], wrong: [] },
      ]),
    ],
    affected: ['ana'],
    named: ['ana'],
  },
  'an incorrect booking that the result of a replay does not name': {
    history: [run(three, results.whole('ana')), replay(three, results.partial(['eva', 'tom']))],
    affected: ['ana'],
    named: ['ana'],
  },
  'an incorrect booking that a replay finds correct': {
    history: [run(three, results.whole('ana')), replay(three, results.whole())],
    affected: [],
    named: ['ana'],
  },
  'an incorrect booking that a replay no longer has': {
    history: [run(three, results.whole('ana')), replay(['eva', 'tom'], results.whole('tom'))],
    affected: ['ana', 'tom'],
    named: ['ana', 'tom'],
  },
  'a replay whose result is awaited': {
    history: [run(three, results.whole('ana')), replay(three)],
    affected: ['ana'],
    named: ['ana'],
  },
  'a replay by body of a day by file': {
    history: [run(three, results.whole('ana')), replay([...three, 'zoe'], [], byBody)],
    affected: ['ana'],
    named: ['ana'],
  },
  'late bookings by file': {
    history: [
      run(three, results.whole('ana', 'eva')),
      topUp([...three, 'zoe'], results.whole('ana', 'eva', 'zoe')),
    ],
    affected: ['ana', 'eva', 'zoe'],
    named: ['ana', 'eva', 'zoe'],
  },
  'late bookings by file, whose result is awaited': {
    history: [run(three, results.whole('ana')), topUp([...three, 'zoe'])],
    affected: ['ana'],
    named: ['ana'],
  },
  'late bookings by body': {
    history: [run(three, [], byBody), topUp([...three, 'nobody', 'nameless'])],
    affected: [],
    named: [],
  },
  'two rooms that are equal but for the name': {
    history: [
      run(['ana', 'bob', 'eva'], results.whole('ana')),
      topUp(['ana', 'bob', 'eva', 'tom'], results.whole('ana')),
    ],
    affected: ['ana', 'ana'],
    named: ['ana'],
  },
  'two rooms, one of which a replay no longer has': {
    history: [run(['ana', 'bob', 'eva'], results.whole('ana')), replay(['ana', 'eva'], results.whole('ana'))],
    affected: ['ana', 'ana'],
    named: ['ana'],
  },
  'a booking that changed its hotel before late bookings were sent': {
    history: [run(three, results.whole('tom')), topUp(['ana', 'eva', 'tomMoved'], results.whole('tom'))],
    affected: [],
    named: ['tom'],
  },
  'a booking that changed its hotel, and whose reference is gone when late bookings are sent once more': {
    history: [
      run(['ana', 'tom'], results.whole()),
      topUp(['ana', 'tomMoved'], results.whole()),
      topUp(['ana', 'eva'], results.whole('tom')),
    ],
    affected: [],
    named: [],
  },
  'a booking that changed its stay before late bookings were sent by body': {
    history: [run(['ana', 'zoe'], [], byBody), topUp(['ana', 'zoeLater'])],
    affected: [],
    named: [],
  },
  'a booking that changed its hotel, and changed it back': {
    history: [
      run(three, results.whole('tom')),
      replay(['ana', 'eva', 'tomMoved'], results.whole()),
      replay(three, results.partial(['ana', 'eva'])),
    ],
    affected: ['tom'],
    named: ['tom'],
  },
  'a reference of two legs, one of which is booked no more': {
    history: [run(['ana', 'leg', 'eva'], results.whole('leg')), replay(['ana', 'eva'], results.whole())],
    affected: [],
    named: ['leg'],
  },
  'bookings that cannot stand in the file': {
    history: [
      run(['ana', 'nobody', 'nameless'], results.whole('ana')),
      topUp(['ana', 'nobody', 'nameless', 'eva'], results.whole('eva')),
    ],
    affected: ['eva'],
    named: ['ana', 'eva'],
  },
  'an incorrect booking that is called correct before anybody follows up': {
    history: [run(three, results.rewritten(['ana'], ['ana'], []))],
    affected: [],
    named: ['ana'],
  },
  'the other leg of a reference, late and by body': {
    history: [run(['leg'], [], byBody), mail('leg'), topUp(['ana', 'leg'])],
    affected: [],
    named: ['leg'],
  },
  'a late leg on a mapping whose other guest is affected': {
    history: [run(['leg'], [], byBody), topUp(['ana', 'leg', 'tom']), mail('tom')],
    affected: [],
    named: ['tom'],
  },
  'a booking that is late at its first hotel again': {
    history: [
      run(['ana', 'tom'], [], byBody),
      mail('tom'),
      replay(['ana', 'tomMoved'], [], byBody),
      topUp(['ana', 'tom']),
    ],
    affected: [],
    named: ['tom'],
  },
  'an e-mail about a booking that has changed its hotel since': {
    history: [run(three), topUp(['ana', 'eva', 'tomMoved']), mail('tom')],
    affected: [],
    named: ['tom'],
  },
  'a mapping that moves once more and is removed before the next sync': {
    history: [
      sync(),
      run(['tom']),
      sync({ hotel: 'Hotelbeds 22B', to: 55 }),
      sync({ hotel: 'Hotelbeds 22B', to: 44 }, { hotel: 'Hotelbeds 22B' }),
    ],
    affected: [],
    named: [],
  },
  'a booking that only the copy of the mappings doubts': {
    history: [sync({ hotel: 'Hotelbeds 22B', to: 55 }), run(three, results.whole())],
    affected: [],
    named: [],
  },
  'a stay that is over': {
    history: [run(['ana', 'gone'], results.whole('gone'))],
    affected: ['gone'],
    named: [],
  },
  'an e-mail after the result, and late bookings': {
    history: [run(three, results.whole('ana')), mail('tom'), topUp([...three, 'zoe'], results.whole('ana'))],
    affected: ['ana'],
    named: ['ana', 'tom'],
  },
  'an e-mail that names a mapping, whose bookings are sent once more': {
    history: [
      run(['tom'], results.whole()),
      { kind: 'mail', day: 0, form: 'pairs', names: ['tom'] },
      replay(['tom', 'zoe'], [], byBody),
    ],
    affected: [],
    named: [],
  },
};

/** What came to light in a ledger that was restored, or gone. */
const lost: Readonly<Record<string, History>> = {
  'before a file was sent whose result is awaited': [run(three), restore(1)],
  'and found as it was, once a copy has gone its own way': [
    run(three, results.whole()),
    restore(1, results.whole(), { isFoundAgain: true }),
  ],
  'twice, and is then the one that was in use between the two': [
    run(three, results.whole()),
    restore(2, results.whole()),
    restore(3, results.whole(), { isFoundAgain: true }),
  ],
  'on another day than the one whose file is in the spool': [{ ...run(three), day: 1 }, restore('gone')],
  'before its result came, which the service then writes once more': [
    run(three),
    restore(0, results.whole('ana'), { before: results.whole('tom') }),
  ],
};

describe.each(Object.entries(lost))('A ledger that is restored %s', (_, history) => {
  it('sends nothing unasked, and then ends each day', async () => {
    expect((await liveHistory(history, { isThorough: true })).faults).toEqual([]);
  });
});

describe('Every surface says what was sent and what came back:', () => {
  it.each(Object.entries(named))('%s', async (_, { history, affected, named: inCases }) => {
    const { journal, faults } = await liveHistory(history, { isThorough: true });
    const { bookings } = expectDay(journal, 0);
    const known = [...bookings].map(([booking, found]) => ({ guest: nameOf(booking, 0), ...found }));
    const counting = known.filter(({ verdict, isSuperseded }) => verdict === 'incorrect' && !isSuperseded);
    expect(counting.flatMap(({ guest, times }) => Array(times).fill(guest)).sort()).toEqual(affected);
    const stays = known.filter(({ namedBy, guest }) => namedBy.length > 0 && guest !== 'gone');
    expect(stays.map(({ guest }) => guest).sort()).toEqual(inCases);
    expect(faults).toEqual([]);
  });

  it('implausibly many affected bookings, accepted until there are more of them', async () => {
    const source = [...three, ...crowd];
    const most = crowd.slice(0, 20);
    const history: History = [
      run(source, results.whole(...most)),
      { kind: 'accept', day: 0 },
      topUp([...source, 'zoe'], results.whole(...most)),
      topUp([...source, 'zoe', 'leg'], results.whole(...crowd)),
      replay(three, [], byBody),
      { kind: 'accept', day: 0 },
      replay(source, results.whole()),
    ];
    const good: boolean[] = [];
    const { faults } = await liveHistory(history, {
      isThorough: true,
      async look(world) {
        good.push((await world.ask('status', isoOf(0))).json.runs[0].isGood);
      },
    });
    expect(faults).toEqual([]);
    expect(good).toEqual([false, true, true, false, false, true, true]);
  });

  it('the export of the day before, once more, after runs of today', async () => {
    const history: History = [
      run(crowd, results.whole()),
      { ...review('today', three), day: 1 },
      { kind: 'bad-export', day: 1, form: 'repeated', how: 'run', source: [] },
      { ...run([...three, 'zoe'], results.whole('zoe')), day: 1 },
    ];
    const { journal, faults } = await liveHistory(history, { isThorough: true });
    expect(faults).toEqual([]);
    const sent = journal.flatMap((one) => (one.kind === 'sent' && one.day === 1 ? one.bookings : []));
    expect(sent.map(identify).filter((booking) => booking.includes('Bedlink'))).toEqual([]);
  });

  it('a channel that is busy while days go wrong, for longer than a message waits', async () => {
    const days = Array.from({ length: 9 }, (_, day): Event => ({ ...run(three), day }));
    const { faults } = await liveHistory([{ kind: 'channel', day: 0, mode: 'busy' }, ...days]);
    expect(faults).toEqual([]);
  });
});
