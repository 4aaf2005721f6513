import { describe, expect, it } from 'vitest';
import { exactImage, projectFile } from '../../support/compose-file.js';
import { readInstructions } from './docker-build.js';

const instructions = readInstructions();
const stages = instructions.filter(({ word }) => word === 'FROM').map(({ rest }) => rest.split(' AS '));
const allImages = stages
  .map(([image = '']) => image)
  .filter((image) => !stages.some(([, name]) => name === image));

describe('The Dockerfile', () => {
  it.each(allImages)('pins %s to an exact version', (image) => {
    expect(image).toMatch(exactImage);
  });

  it('starts from a Node version with long-term support that has the whole suite each night', () => {
    const [, major = ''] = /^node:(\d+)\./.exec(allImages[0] ?? '') ?? [];
    const [, needed = ''] = /(\d+)/.exec(JSON.parse(projectFile('package.json')).engines.node) ?? [];
    expect(Number(major)).toBeGreaterThanOrEqual(Number(needed));
    expect(Number(major) % 2).toBe(0);
    for (const command of ['test', 'run test:servers'])
      expect(projectFile('.ci/nightly')).toMatch(new RegExp(`with_node ${major} .*npm ${command}$`, 'm'));
  });

  it('takes nothing of the image that has npm but Node and the users', () => {
    const final = instructions.slice(instructions.findIndex(({ rest }) => rest.endsWith(' AS runtime')));
    const taken = final
      .filter(
        ({ word, rest }) => word === 'COPY' && rest.startsWith('--from=build /') && !rest.includes('/build/'),
      )
      .map(({ rest }) => rest.replace('--from=build ', ''));
    expect(taken).toEqual(['/usr/local/bin/node /usr/local/bin/', '/etc/passwd /etc/group /etc/']);
    expect(final[0]?.rest).toMatch(/^debian:/);
    expect(final.at(-1)).toEqual({ word: 'USER', rest: '1000:1000' });
  });

  it('copies by name what .dockerignore lets through, so that no secret gets into a layer', () => {
    const [first, ...allowed] = projectFile('.dockerignore')
      .split('\n')
      .filter((line) => !/^(?:#|$)/.test(line));
    expect(first).toBe('*');
    const copied = instructions
      .filter(({ word, rest }) => word === 'COPY' && !rest.startsWith('--from='))
      .flatMap(({ rest }) => rest.split(' ').slice(0, -1));
    expect([...new Set(copied)].sort()).toEqual(allowed.map((line) => line.slice(1)).sort());
  });
});
