import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { prepareDay } from '../support/day-folder.js';
import { startProgram } from '../support/program.js';
import { expectCompleted, typed } from './completion-words.js';

const has = (shell: string) => spawnSync(shell, ['--version']).error === undefined;

/** What each shell is told, with the file of the script and the typed words. */
const shells = [
  {
    shell: 'fish',
    complete: 'source $argv[1]; complete -C "hotel-review $argv[2..]" | string split -f1 \\t',
  },
  {
    shell: 'zsh',
    // Its own functions work within its line editor only.
    complete: `autoload -U compinit && compinit -u -D; source $1; shift
      [ "$_comps[hotel-review]" = _hotel_review ] || exit 3
      compadd() { shift; offer "$@" }
      _describe() { offer \${\${(P)\${@[-1]}}%%:*} }
      offer() { for one in "$@"; [[ $one == $last* ]] && print -r -- $one; true }
      last="\${@[-1]}" words=(hotel-review "$@") CURRENT=$(($# + 1)); _hotel_review`,
  },
];

it.for(shells)(
  '$shell completes commands, options and their choices',
  async ({ shell, complete }, { skip }) => {
    skip(!has(shell), `needs ${shell}`);
    const { folder } = await prepareDay({});
    const { stdout: script } = await folder.run(['completion', shell]);
    const file = join(folder.path, `completion.${shell}`);
    await writeFile(file, script);
    for (const [words, completed] of typed) {
      const args =
        shell === 'zsh'
          ? ['-fc', complete, 'zsh', file, ...words]
          : ['--no-config', '-c', complete, file, ...words];
      const options = { cwd: folder.path, env: { PATH: `${process.env.PATH}`, HOME: folder.path } };
      const { exitCode, stdout, stderr } = await startProgram(shell, args, options).ended;
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      expectCompleted(words, completed, stdout.split('\n'));
    }
  },
);
