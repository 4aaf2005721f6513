import { formatCount, formatCountOf } from '../../base/format.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { isActive, type Run } from '../../rules/run.js';
import { type Check, type Finding, findingsOf } from '../check.js';

const { ok, warning } = findingsOf('ledger');

/** How many runs are looked at, newest first. */
const runsRead = 1_000;
/** How many unfinished days are named. */
const daysNamed = 5;

export const ledger: Check = {
  part: 'ledger',
  seconds: 20,
  async look({ config, findLedger, locateLedger }) {
    const location = await locateLedger();
    const ledger = await findLedger();
    if (!ledger) return [ok(`it does not exist yet and will be created at ${location}`)];
    await ledger.ping();
    const runs = await ledger.runs.list({ limit: runsRead });
    const [last] = runs;
    const room = await checkConnections(ledger, config.workers.connections);
    if (last === undefined) return [ok(`${location} holds no run yet`), ...room];
    const count = `${formatCountOf(runs.length, 'run')}${runs.length === runsRead ? ' or more' : ''}`;
    return [
      ok(`${location} holds ${count}; the last day is ${last.day}: ${last.state}`),
      ...warnOfUnfinished(runs),
      ...room,
    ];
  },
};

/** A command that somebody types, such as `status`, has a connection or two. */
const ofCommands = 2;

/** Whether the server has room for the processes that work, each with all its connections. */
async function checkConnections(
  { workers, countConnections }: ReadOnlyLedger,
  each: number,
): Promise<readonly Finding[]> {
  if (!countConnections) return [];
  const { max, otherClients } = await countConnections();
  const { length: processes } = await workers.listSeen();
  const fit = Math.max(0, Math.floor((max - otherClients - ofCommands) / each));
  const found =
    `the server takes ${formatCountOf(max, 'connection')}, of which other programs have ${formatCount(otherClients)}: ` +
    `${formatCountOf(fit, 'worker')} with ${formatCount(each)} each ${fit === 1 ? 'fits' : 'fit'}`;
  if (processes <= fit && fit > 0) return [ok(`${found}; there are ${formatCount(processes)}`)];
  return [
    warning(
      `${found}, but there are ${formatCount(processes)}`,
      'Raise max_connections of the server, lower workers.connections, or start fewer processes.',
    ),
  ];
}

/** @param runs newest day first, and within a day newest run first, which decides */
function warnOfUnfinished(runs: readonly Run[]): Finding[] {
  const unfinished = runs.filter(
    (run, index) => run.day !== runs[index - 1]?.day && (isActive(run) || run.state === 'failed'),
  );
  if (unfinished.length === 0) return [];
  const named = unfinished.slice(0, daysNamed).map(({ day, state }) => `${day} (${state})`);
  const more = unfinished.length > daysNamed ? ` and ${formatCount(unfinished.length - daysNamed)} more` : '';
  return [
    warning(
      `unfinished, or in progress: ${named.join(', ')}${more}`,
      'To resume one: hotel-review run YYYY-MM-DD. To see what stopped it: hotel-review status YYYY-MM-DD.',
    ),
  ];
}
