import { expect, it } from 'vitest';
import { type Lived, liveDay } from './live.js';
import { byFile } from './scenarios.js';
import { sqlite } from './sqlite-engine.js';

/** After the judged result has arrived, the service writes another one in its place. */
const scenario = { ...byFile, troubles: { ...byFile.troubles, incorrectLater: 'BR-8' } };

it('the result in the archive is the one that was judged, whenever the process dies and the service writes it again', async () => {
  const undisturbed = await liveDay(sqlite, scenario);
  expect(judge(undisturbed)).toEqual({ state: 'succeeded', archived: ['BR-4'], recorded: ['BR-4'] });
  const found = new Set<string>();
  const called = undisturbed.points.indexOf('service.reviewBookedHotelsByFile');
  for (let at = called + 1; at <= undisturbed.points.length; at += 1) {
    const lived = await liveDay(sqlite, scenario, [{ at, mode: 'after', awayMs: 120_000, aheadMs: 0 }]);
    const { state, archived, recorded } = judge(lived);
    expect({ at, state, archived }).toEqual({ at, state: 'succeeded', archived: recorded });
    found.add(archived.join());
  }
  // It was written again before it was judged, and after.
  expect([...found].sort()).toEqual(['BR-4', 'BR-4,BR-8']);
});

/** The bookings that are incorrect by the archived result, and by the ledger. */
function judge({ outcome }: Lived) {
  const [run] = outcome.runs as readonly { readonly state: string }[];
  const rows = (outcome.archive['20112026_Result.csv'] ?? '').split('\n');
  const bookings = outcome.bookings.flat() as readonly {
    readonly reference: string;
    readonly judged?: unknown;
  }[];
  return {
    state: run?.state,
    archived: rows.filter((row) => row.endsWith(',False')).map((row) => row.split(',')[1] ?? ''),
    recorded: bookings.flatMap(({ reference, judged }) => (judged === 'incorrect' ? [reference] : [])),
  };
}
