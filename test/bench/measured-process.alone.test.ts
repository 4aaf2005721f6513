import { describe, expect, it } from 'vitest';
import { findTimeObstacle, measureProcess } from '../../bench/harness/measured-process.js';

const obstacle = findTimeObstacle();

describe.skipIf(obstacle !== undefined)(`a measured process${obstacle ? `: ${obstacle}` : ''}`, () => {
  const node = (script: string) => [process.execPath, '-e', script];

  it('returns its output and accepts its input', async () => {
    const { stdout, stderr } = await measureProcess(['sh', '-c', 'cat; echo words >&2'], { input: 'given' });

    expect([stdout, stderr]).toEqual(['given', 'words\n']);
  });

  it('counts the CPU seconds and the memory of its children', async () => {
    const burn =
      'const kept = Buffer.alloc(200e6, 1); while (process.cpuUsage().user < 400e3) kept.fill(1, 0, 1e6)';

    const { cpuSeconds, peakMb, wallSeconds } = await measureProcess([
      'sh',
      '-c',
      '"$@"; true',
      'sh',
      ...node(burn),
    ]);

    expect(cpuSeconds).toBeGreaterThanOrEqual(0.4);
    expect(peakMb).toBeGreaterThan(190);
    expect(wallSeconds).toBeGreaterThan(0);
  });

  it('with an unexpected exit code is an error with the end of its output', async () => {
    const failing = node('console.error("x".repeat(5000) + " disk full"); process.exitCode = 3');

    const failure = await measureProcess(failing).catch((error: Error) => error.message);
    expect(failure).toMatch(/ended with exit code 3, expected 0: x+ disk full\n$/);
    await expect(measureProcess(failing, { expectedExitCode: 3 })).resolves.toBeDefined();
  });
});
