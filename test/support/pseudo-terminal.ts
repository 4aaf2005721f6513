import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';

/** Waits until this text appears on the screen, after the previous match, and types. */
export interface Typing {
  readonly after: string;
  readonly type: string;
}

export interface TerminalSession {
  /** Everything that was written to the screen, including control sequences. */
  readonly screen: string;
  /** What was written to standard output, where that is not a terminal. */
  readonly piped: string;
  readonly exitCode: number | null;
}

/** Opening a terminal of 80 columns takes more than Node itself offers. */
export const needs = 'python3';
export const isAvailable = (() => {
  try {
    execFileSync('python3', ['-c', 'import pty'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

/**
 * Reads steps as JSON from descriptor 3; writes the screen to standard output, and the child's own output to descriptor
 * 4.
 */
const driver = `
import fcntl, json, os, pty, select, struct, sys, termios, time
steps, argv, pipes = json.load(os.fdopen(3)), sys.argv[2:], sys.argv[1] == 'pipe'
process, terminal = pty.fork()
if process == 0:
    fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))
    if pipes: os.dup2(4, 1)
    os.execv(argv[0], argv)
os.close(4)
screen, seen, ends = b'', 0, time.time() + 50
while time.time() < ends:
    if steps:
        at = screen.find(steps[0]['after'].encode(), seen)
        if at >= 0:
            seen = len(screen)
            os.write(terminal, steps.pop(0)['type'].encode())
    ready, _, _ = select.select([terminal], [], [], 0.5)
    if not ready: continue
    try: read = os.read(terminal, 65536)
    except OSError: read = b''
    if not read: break
    screen += read
else:
    os.kill(process, 9)
_, status = os.waitpid(process, 0)
sys.stdout.buffer.write(screen)
sys.exit(os.waitstatus_to_exitcode(status) % 256)
`;

/** Starts a Node program at a terminal, as a person does, and types the given input. */
export async function runAtTerminal(
  args: readonly string[],
  typing: readonly Typing[],
  {
    cwd,
    env,
    pipesOutput = false,
  }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly pipesOutput?: boolean },
): Promise<TerminalSession> {
  const child = spawn('python3', ['-c', driver, pipesOutput ? 'pipe' : 'screen', process.execPath, ...args], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit', 'pipe', 'pipe'],
  });
  const [, screen, , steps, output] = child.stdio;
  const read = { screen: '', piped: '' };
  screen?.setEncoding('utf8').on('data', (text: string) => {
    read.screen += text;
  });
  if (output && 'setEncoding' in output) {
    output.setEncoding('utf8').on('data', (text: string) => {
      read.piped += text;
    });
  }
  if (steps && 'end' in steps) steps.end(JSON.stringify(typing));
  const [exitCode] = await once(child, 'close');
  return { ...read, exitCode };
}
