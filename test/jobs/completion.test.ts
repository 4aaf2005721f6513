import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { prepareDay } from '../support/day-folder.js';
import { expectError } from '../support/expectations.js';
import { startProgram } from '../support/program.js';
import { expectCompleted, typed } from './completion-words.js';

it('bash completes commands, options, their choices and files', async () => {
  const { folder } = await prepareDay({});
  const { exitCode, stdout: script } = await folder.run(['completion', 'bash']);
  expect(exitCode).toBe(0);
  const file = join(folder.path, 'completion.bash');
  await writeFile(file, script);
  const bash = async (...args: string[]) => {
    const options = { cwd: folder.path, env: { PATH: `${process.env.PATH}` } };
    const { exitCode: code, stdout, stderr } = await startProgram('bash', args, options).ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return stdout;
  };
  await bash('-n', file);
  const complete = `source "$0"
    COMP_WORDS=(hotel-review "$@"); COMP_CWORD=$#; _hotel_review; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const list = async (...words: string[]) => (await bash('-c', complete, file, ...words)).split('\n');
  expect(await bash('-c', 'source "$0"; complete -p hotel-review', file)).toBe(
    'complete -F _hotel_review hotel-review\n',
  );
  for (const [words, completed] of typed) expectCompleted(words, completed, await list(...words));
  await writeFile(join(folder.path, 'wrong ones.csv'), '');
  expect(await list('affected', '--csv', 'wro')).toContain('wrong ones.csv');
});

it('another shell is refused, and the known ones are named', async () => {
  const { folder } = await prepareDay({});
  const message = /expected bash, zsh, fish, got: tcsh/;
  expectError(await folder.run(['completion', 'tcsh', '--json']), { exitCode: 2, class: 'usage', message });
});
