import { readCommandLine } from '../../jobs/program.js';

/** Command lines that are understood, in all the forms that options, days and names may take. */
export const understood: readonly string[] = [
  'run',
  'run --day 2026-11-20 --delivery file',
  'run today --day today --dry-run --out bodies',
  'run 2026-11-20 --accept-volume --accept-affected --accept-repeated --unknown-archive --quiet --detach',
  'replay 2026-11-20 --late',
  'replay --day yesterday --reason again --delivery body --dry-run --out bodies',
  'replay 2026-11-01 --to 2026-11-20 --missing --dry-run',
  'replay 2026-11-01 --failed --to yesterday --reason again',
  'replay 2026-11-01 --all --reason again',
  "cancel --day yesterday --reason '  a new export came '",
  'status',
  'status --from 2026-11-01 --to today --limit 7',
  'show BR-1042 --answers',
  'show --name Ana',
  'show sandbox',
  'rejected 2026-11-20 --csv r.csv --delimiter ;',
  'refused',
  'posted --day today',
  'suspects today --day today',
  'affected',
  'affected --from 2026-11-01 --to yesterday --check-in-before today',
  'report --day 2026-11-20',
  'verify yesterday',
  'audit --from 2026-11-01 --to today',
  'guest erase BR-1042 --all --dry-run --reason ticket',
  'guest purge',
  'user add ana --role team',
  'user add a@b --role admin --without-password',
  'hotels load h.csv.gz',
  'init day.ndjson --timezone Europe/Madrid --delivery file --encoding utf-8',
  'export request --email ops@example.com --providers Bedlink,Roomex,Bedlink',
  'export fetch --since 2026-11-20T12:00:00Z --wait 0.5',
  'notify test ops',
  'doctor --day 2026-11-20',
  'verdicts import a.eml b.eml',
  'verdicts import -',
  'verdicts list --unknown',
  'cases --state open --check-in-before 2026-12-01 --provider hotelbeds --csv f',
  'case 17 --note called',
  'case 17 dismiss --note renamed',
  'case 17 assign Bea',
  'case 17 resolve BR-1 BR-2 --as rebooked --note called',
  'sandbox bookings --day 2026-11-20 --count 5 --seed 7 --hotels 30 --wrong-share 0.5 --format ndjson --out f',
];

const refused: readonly string[] = [
  '',
  '--json',
  'runn',
  'mappings',
  'run --dryrun',
  'run --config',
  'run --delivery pigeon',
  'run --log-level loud',
  'run --day 2026-02-30',
  'run --out bodies',
  'run --dry-run --quiet',
  'run --dry-run --metrics-file x.prom',
  'run --dry-run --unknown-archive',
  'run today --day 2026-11-20',
  'replay',
  'replay 20.11.2026',
  'replay 2026-11-01 --to 2026-11-20 --reason again',
  'replay 2026-11-01 --to 2026-11-20 --failed',
  'replay 2026-11-20 --late --failed --missing',
  'replay 2026-11-20 --late --dry-run --out bodies',
  'replay 2026-11-20 --all',
  'cancel --reason x',
  "cancel 2026-11-20 --reason ' '",
  'status tomorrow',
  'status yesterday --from 2026-11-01',
  'affected --to today',
  'show',
  'show BR-1042 --name Ana',
  'guest erase BR-1042',
  "guest erase ' ' --reason x",
  'case 0',
  'case 17 dismiss',
  'case 17 report now',
  'case 17 assign',
  'case 17 resolve --as rebooked',
  'case 17 resolve BR-1',
  'case 17 report --as rebooked',
  'case 17 close',
  'sandbox --count 5',
  'sandbox --port 70000',
  'sandbox booking --count 5',
  'sandbox bookings --cout 5',
  'sandbox bookings --json',
  'sandbox bookings --port 8080',
  'sandbox bookings --wrong-share 20%',
];

/** What each command line is read as, or why it is refused. */
export async function listTyped(): Promise<string> {
  const texts = [];
  for (const line of [...understood, ...refused]) {
    const read = await readTyped(line);
    texts.push(`$ hotel-review ${line}\n${typeof read === 'string' ? read : JSON.stringify(read.input)}\n`);
  }
  return texts.join('\n');
}

/** As it is read; the message of one that is refused. */
export async function readTyped(line: string) {
  const write = () => {};
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word = '']) => quoted ?? word);
  try {
    const typed = await readCommandLine(words, '1.2.3', { writeOut: write, writeErr: write });
    return typed ?? 'nothing to do';
  } catch (error) {
    return String(error);
  }
}
