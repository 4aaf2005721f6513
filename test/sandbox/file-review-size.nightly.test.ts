import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { createWorld } from '../../src/sandbox/world/world.js';
import { compiled } from '../support/compiled.js';
import { filePath, resultPath, templateColumns } from './reviewed-files.js';

const rows = 200_000;
/** A quarter of what the records would take as objects. */
const heapMegabytes = 64;
const built = `${compiled}src/sandbox/`;

const program = `
  import { createFileReview } from '${built}file-review/file-review.js';
  import { createOutbox } from '${built}outbox/outbox.js';
  import { createWorld } from '${built}world/world.js';
  const [folder] = process.argv.slice(1);
  const world = createWorld({ seed: 4 });
  const outbox = createOutbox({
    folder: folder + '/outbox', from: 'service@example.com', to: 'account@example.com', world, clock: Date.now,
  });
  const review = createFileReview({
    root: folder + '/sftp', drafts: folder + '/drafts', world, resultDelayMs: 0,
    faults: { nextResult: () => undefined }, outbox,
    tell: (line) => {
      console.log(line);
      review.close();
    },
  });
  await review.accept('${filePath}');
`;

it('reviews 200,000 records, all of them incorrect, in a small heap', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'review-size-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const input = join(folder, 'sftp', filePath);
  await mkdir(dirname(input), { recursive: true });
  await pipeline(Readable.from(blocks()), createWriteStream(input));

  const { stdout } = await promisify(execFile)(process.execPath, [
    `--max-old-space-size=${heapMegabytes}`,
    '--input-type=module',
    '--eval',
    program,
    folder,
  ]);

  const [told = '', email = ''] = stdout.trim().split('; e-mail: ');
  expect(told).toContain(`: ${rows} rows, ${rows} wrongly mapped`);
  const result = await readFile(join(folder, 'sftp', resultPath), 'utf8');
  expect(result.split('\n')).toHaveLength(rows + 2);
  expect(result.match(/,False\n/g)).toHaveLength(rows);
  expect(await readFile(email, 'utf8')).toContain(`${rows} bookings are affected`);
});

/** Bookings of one hotel under the id of another, a thousand at a time. */
function* blocks(): Generator<string> {
  const [booked, other] = createWorld({ seed: 4 }).hotels;
  const mapping = createWorld({ seed: 4 }).mappings.find(({ serviceId }) => serviceId === other?.serviceId);
  yield `${templateColumns.join(',')}\n`;
  for (let first = 0; first < rows; first += 1_000) {
    yield Array.from({ length: 1_000 }, (_, place) => {
      const { providerName, providerHotelId } = mapping ?? {};
      return `${booked?.serviceId},BR-${first + place},"Núñez, Ana",${providerName},${providerHotelId},20112026,22112026\n`;
    }).join('');
  }
}
