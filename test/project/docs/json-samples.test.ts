import { expect, it } from 'vitest';
import { fillJsonSamples } from '../../../docs/json-samples.js';
import { projectFile } from '../../support/compose-file.js';

const page = projectFile('docs/service.md');

it('The answers in JSON are those that the commands gave; `npm run docs` writes them', () => {
  expect(page).toBe(fillJsonSamples(page));
});

it('Each is JSON below the command that gave it', () => {
  const samples = /```text\n([\s\S]*?)```/.exec(page)?.[1]?.split('\n\n') ?? [];
  expect(samples.length).toBeGreaterThan(20);
  for (const sample of samples) {
    const [command, ...answer] = sample.split('\n');
    expect(JSON.parse(answer.join('')), command).toBeTypeOf('object');
  }
});
