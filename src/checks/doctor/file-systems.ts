import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { env, execPath } from 'node:process';
import { answerWithin, TooLateError } from '../../base/abort.js';
import { type CheckedApp, type Finding, findingsOf } from '../check.js';
import { listClosed } from './file-modes.js';
import { listWritten } from './folders.js';

/** Names each path once its file system has answered. Servers of files are always asked for their free space. */
const script = `
const { statfs } = require('node:fs/promises');
const say = (path) => console.log(JSON.stringify(path));
say('');
for (const path of process.argv.slice(1)) statfs(path).then(() => say(path), () => say(path));`;

/**
 * Finds what lies on a file system that hangs, such as that of a network that is down. A child process looks: nobody can abandon a call
 * that hangs, and a process with one can neither end nor report its exit code.
 */
export async function findHanging(app: CheckedApp, answerMs = 5_000): Promise<readonly Finding[]> {
  const { maildir } = app.config.verdicts;
  const listed = [...listClosed(app), ...listWritten(app.config)].map(({ path }) => path);
  const paths = [...new Set([...listed, ...(maildir === undefined ? [] : [maildir])])];
  const child = spawn(execPath, ['-e', script, ...paths], {
    // One thread for each, or those that hang would keep others from being asked.
    env: { ...env, UV_THREADPOOL_SIZE: `${paths.length}` },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let answered = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    answered += text;
  });
  try {
    const ended = once(child, 'close');
    // A busy machine takes long to start it, which says nothing about the file systems.
    await Promise.race([once(child.stdout, 'data'), ended]);
    await answerWithin(answerMs, ended);
  } catch (error) {
    if (!(error instanceof TooLateError)) throw error;
  } finally {
    // It may not end even then.
    child.kill('SIGKILL');
    child.unref();
    child.stdout.destroy();
  }
  const known = new Set(answered.split('\n'));
  const { wrong, warning } = findingsOf('disk');
  const hanging = paths.filter((path) => !known.has(JSON.stringify(path)));
  if (hanging.length === 0) return [];
  return [
    ...hanging.map((path) =>
      wrong(`${path}: its file system does not answer`, 'Is it mounted, and its server up?'),
    ),
    warning('the other parts are checked once it answers'),
  ];
}
