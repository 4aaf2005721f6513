import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const rules = {
  layers: [['booking'], ['review'], ['queue', 'ledger'], ['sources'], ['jobs']],
  islands: { sandbox: ['booking'] },
  narrow: { ledger: ['booking'] },
  withoutLibraries: ['review'],
  adapters: ['review/reading-thread'],
  allowedLibraries: ['node:crypto'],
};

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'layers-'));
});
afterEach(() => rmSync(root, { recursive: true }));

/** Runs the check on a made-up project and returns its complaints. */
async function check(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  await cp('.ci/check-layers.js', join(root, '.ci/check-layers.js'));
  for (const [file, text] of Object.entries({
    ...files,
    'src/layers.json': JSON.stringify(rules),
    'jobs/start.ts': files['jobs/start.ts'] ?? '',
  })) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  const command = `node .ci/check-layers.js 2>&1 >/dev/null || true`;
  return execFileSync('sh', ['-c', command], { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);
}

describe('the check of the layers', () => {
  it('accepts imports from lower layers', async () => {
    const files = {
      'src/booking/booking.ts': '',
      'src/review/run.ts': `import { hash } from 'node:crypto';\nimport { booking } from '../booking/booking.js';\n`,
      'src/sandbox/sandbox.ts': `import { booking } from '../booking/booking.js';\n`,
      'src/index.ts': `export * from './review/run.js';\n`,
      'src/queue/queue.ts': `import { worker } from './redis/worker.js';\n`,
      'src/queue/redis/worker.ts': `import type { Job } from '../queue.js';\n`,
      'jobs/start.ts': `import { run } from '../src/review/run.js';\nawait import('../src/sandbox/sandbox.js');\n`,
    };
    expect(await check(files)).toEqual([]);
  });

  it.each([
    ['a higher layer', 'review', `import type { Job } from '../queue/queue.js';`],
    ['a folder of the same layer', 'ledger', `import type { Job } from '../queue/queue.js';`],
    ['a higher layer at run time', 'review', `const { queue } = await import('../queue/queue.js');`],
    ['an island', 'review', `import { sandbox } from '../sandbox/sandbox.js';`],
    ['more than an island may', 'sandbox', `import { run } from '../review/run.js';`],
    ['more than a narrow room may', 'ledger', `import { run } from '../review/run.js';`],
    ['a library', 'review', `import pino from 'pino';`],
    ['a folder that imports it', 'queue/other', `import '../redis/worker.js';`],
    ['from a folder that is not in the list', 'mystery', `import '../booking/booking.js';`],
  ])('reports a file that imports %s', async (_, folder, code) => {
    const violations = await check({
      [`src/${folder}/file.ts`]: `\n${code}\n`,
      'src/queue/redis/worker.ts': `import '../other/file.js';`,
    });
    expect(violations).toHaveLength(1);
    expect(violations[0]).toContain(`src/${folder}/file.ts`);
  });
});
