import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { createSightings } from './kinds.js';
import { liveHistory } from './live-history.js';
import { makeHistories } from './make-histories.js';
import { shrink } from './shrink.js';
import { tellHistory, tellJournal } from './tell.js';

/** Lives so many histories of a seed: `npm run nights -- --seed 7 --nights 100`, or one of them: `--only 12`. */
const { values } = parseArgs({
  options: { seed: { type: 'string' }, nights: { type: 'string' }, only: { type: 'string' } },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const only = values.only === undefined ? undefined : Number(values.only);
const nights = only ?? Number(values.nights ?? 100);
const commit = execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim();
console.log(`seed ${seed}, commit ${commit}`);

const seen = createSightings();
const began = process.cpuUsage();
let [number, days] = [0, 0];
for (const history of makeHistories(seed)) {
  number += 1;
  if (number > nights) break;
  if (only !== undefined && number !== only) continue;
  days += new Set(history.map(({ day }) => day)).size;
  const { faults, kinds } = await liveHistory(history);
  for (const [index, one] of kinds.entries()) seen.note(kinds[index - 1] ?? [], one);
  if (faults.length === 0) continue;
  console.log(`history ${number} (--seed ${seed} --only ${number}):`);
  const { history: short, faults: left } = await shrink(history, faults);
  const { journal } = await liveHistory(short);
  console.log(
    [...tellHistory(short), ...tellJournal(journal), ...left].map((line) => `  ${line}`).join('\n'),
  );
  process.exitCode = 1;
}
const { user, system } = process.cpuUsage(began);
const seconds = (user + system) / 1e6;
console.log(
  `${Math.min(number, nights)} histories of ${days} days in ${Math.round(seconds)} s of processor time, ${Math.round((60 * days) / seconds)} days a minute; ` +
    `${seen.kinds.size} kinds, ${seen.pairs.size} pairs`,
);
