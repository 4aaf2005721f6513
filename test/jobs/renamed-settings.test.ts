import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { writeSettings } from '../config/writing.js';
import { callCommand } from '../support/command.js';

it('a command prints a notice for a setting with its old name, and works', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'hotel-review-renamed-'));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  const source = {
    kind: 'http',
    url: 'https://pms.test/bookings?day={day}',
    pagination: { kind: 'page', parameter: 'p', behindLast: 'not-found' },
  };
  await writeFile(join(cwd, 'hotel-review.yaml'), writeSettings({ source }));
  const { exitCode, stderr } = await callCommand(['status'], { cwd, env: {} }).ended;
  expect(exitCode).toBe(0);
  expect(stderr).toContain(
    'hotel-review.yaml: source.pagination.behindLast is now called afterLastPage; the next version refuses the old name\n',
  );
});
