import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { allPairs } from './history.js';
import { liveHistories, liveHistory } from './live-history.js';
import { shrink } from './shrink.js';
import { tellHistory, tellJournal } from './tell.js';

/** Lives so many histories of a seed: `npm run nights -- --seed 7 --nights 100`, or one of them: `--only 12`. */
const { values } = parseArgs({
  options: { seed: { type: 'string' }, nights: { type: 'string' }, only: { type: 'string' } },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const only = values.only === undefined ? undefined : Number(values.only);
const numbers = only === undefined ? { last: Number(values.nights ?? 100) } : { first: only, last: only };
const commit = execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim();
console.log(`seed ${seed}, commit ${commit}`);

const began = process.cpuUsage();
let [histories, days, what] = [0, 0, ''];
for await (const { number, history, faults, seen, met } of liveHistories(seed, numbers)) {
  histories += 1;
  days += new Set(history.map(({ day }) => day)).size;
  what = `${seen.kinds.size} kinds, ${seen.pairs.size} pairs of them, ${met.pairs.size} of ${allPairs.length} pairs of events`;
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
  `${histories} histories of ${days} days in ${Math.round(seconds)} s of processor time, ${Math.round((60 * days) / seconds)} days a minute; ${what}`,
);
